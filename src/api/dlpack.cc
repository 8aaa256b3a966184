// SPDX-License-Identifier: Apache-2.0
#include "api/dlpack.h"

#include <cstddef>
#include <cstdint>

#include "api/tensor.h"

namespace strew {
namespace {

struct Counterpart {
  DlpackCode code;
  uint8_t bits;
  strew_dtype dtype;
};

constexpr Counterpart kCounterparts[] = {
    {DlpackCode::kBool, 8, STREW_BOOL},
    {DlpackCode::kInt, 8, STREW_INT8},
    {DlpackCode::kInt, 16, STREW_INT16},
    {DlpackCode::kInt, 32, STREW_INT32},
    {DlpackCode::kInt, 64, STREW_INT64},
    {DlpackCode::kUint, 8, STREW_UINT8},
    {DlpackCode::kUint, 16, STREW_UINT16},
    {DlpackCode::kUint, 32, STREW_UINT32},
    {DlpackCode::kUint, 64, STREW_UINT64},
    {DlpackCode::kFloat, 16, STREW_FLOAT16},
    {DlpackCode::kBfloat, 16, STREW_BFLOAT16},
    {DlpackCode::kFloat, 32, STREW_FLOAT32},
    {DlpackCode::kFloat, 64, STREW_FLOAT64},
    {DlpackCode::kComplex, 64, STREW_COMPLEX64},
    {DlpackCode::kComplex, 128, STREW_COMPLEX128},
    {DlpackCode::kFloat8E4m3fn, 8, STREW_FLOAT8_E4M3FN},
    {DlpackCode::kFloat8E5m2, 8, STREW_FLOAT8_E5M2},
};

// 0 where there is none.
strew_dtype DtypeOf(const DlpackTensor& tensor) {
  if (tensor.lanes != 1) return 0;
  for (const Counterpart& counterpart : kCounterparts) {
    if (counterpart.code == tensor.code && counterpart.bits == tensor.bits) {
      return counterpart.dtype;
    }
  }
  return 0;
}

// Whether the first element lies at an address. One that does not is of an empty tensor or an error.
bool FirstElement(const DlpackTensor& tensor, void** first) {
  *first = nullptr;
  if (tensor.data == nullptr) return true;
  uintptr_t address = reinterpret_cast<uintptr_t>(tensor.data);
  if (tensor.byte_offset > static_cast<uint64_t>(PTRDIFF_MAX)) return false;
  const uintptr_t offset = static_cast<uintptr_t>(tensor.byte_offset);
  if (__builtin_add_overflow(address, offset, &address)) return false;
  *first = static_cast<unsigned char*>(tensor.data) + offset;
  return true;
}

Status DescribeDlpack(const DlpackTensor& tensor, TensorView* view) {
  const strew_dtype dtype = DtypeOf(tensor);
  if (dtype == 0 || tensor.device_type != kDlpackCpu) return STREW_UNSUPPORTED;
  void* first;
  const bool has_address = FirstElement(tensor, &first);
  STREW_TRY(DescribeTensor(dtype, tensor.rank, tensor.shape, tensor.strides, first, view));
  return has_address || view->size == 0 ? STREW_OK : STREW_SIZE_OVERFLOW;
}

Status Borrow(const DlpackTensor& tensor, bool read_only, strew_tensor** out) {
  TensorView view;
  STREW_TRY(DescribeDlpack(tensor, &view));
  view.read_only = read_only;
  return NewTensor(view, out);
}

}  // namespace
}  // namespace strew

extern "C" {

strew_status strew_tensor_from_dlpack(const void* dl_tensor, strew_tensor** out) {
  if (out == nullptr) return STREW_INVALID_ARGUMENT;
  *out = nullptr;
  if (dl_tensor == nullptr) return STREW_INVALID_ARGUMENT;
  return strew::Borrow(*static_cast<const strew::DlpackTensor*>(dl_tensor), false, out).code();
}

strew_status strew_tensor_from_dlpack_versioned(const void* dl_managed_tensor_versioned,
                                                strew_tensor** out) {
  if (out == nullptr) return STREW_INVALID_ARGUMENT;
  *out = nullptr;
  if (dl_managed_tensor_versioned == nullptr) return STREW_INVALID_ARGUMENT;
  const auto* const managed =
      static_cast<const strew::DlpackVersionedTensor*>(dl_managed_tensor_versioned);
  if (managed->major != strew::kDlpackMajor) return STREW_UNSUPPORTED;
  const bool read_only = (managed->flags & strew::kDlpackReadOnly) != 0;
  return strew::Borrow(managed->tensor, read_only, out).code();
}

}  // extern "C"
