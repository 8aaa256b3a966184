// SPDX-License-Identifier: Apache-2.0
#include "api/dlpack.h"

#include <cstddef>
#include <cstdint>

#include "api/tensor.h"
#include "base/dtype.h"

namespace strew {
namespace {

// Returns 0 if strew has no such dtype.
strew_dtype DtypeOf(const DlpackTensor& tensor) {
  if (tensor.lanes != 1 || tensor.code == DlpackCode::kNone) return 0;
  for (strew_dtype dtype = 1; dtype < kDtypesEnd; ++dtype) {
    const DtypeInfo& row = kDtypes[dtype];
    if (row.dlpack == tensor.code && 8 * row.size == tensor.bits) return dtype;
  }
  return 0;
}

// Stores the address of the first element. Returns false if there is none, which is valid only for
// an empty tensor.
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
