// SPDX-License-Identifier: Apache-2.0
#include "api/dlpack.h"

#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include "api/tensor.h"
#include "base/compiler.h"
#include "base/dtype.h"
#include "base/last_error.h"

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

// Stores the address of the first element. Returns false if it lies beyond the address space, which
// is allowed only for an empty tensor.
bool FirstElement(const DlpackTensor& tensor, void** first) {
  *first = nullptr;
  if (tensor.data == nullptr) return true;
  uintptr_t address = reinterpret_cast<uintptr_t>(tensor.data);
  if (tensor.byte_offset > static_cast<uint64_t>(PTRDIFF_MAX)) return false;
  const uintptr_t offset = static_cast<uintptr_t>(tensor.byte_offset);
  if (!CheckedAdd(address, offset, &address)) return false;
  *first = static_cast<unsigned char*>(tensor.data) + offset;
  return true;
}

Status DescribeDlpack(const DlpackTensor& tensor, TensorView* view) {
  const strew_dtype dtype = DtypeOf(tensor);
  if (dtype == 0) {
    return Refuse(STREW_UNSUPPORTED, "no dtype has the DLPack code %d, %d bits and %d lanes",
                  static_cast<int>(tensor.code), tensor.bits, tensor.lanes);
  }
  if (tensor.device_type != kDlpackCpu) {
    return Refuse(STREW_UNSUPPORTED, "device type %d is not that of the CPU, %d",
                  tensor.device_type, kDlpackCpu);
  }
  void* first;
  const bool has_address = FirstElement(tensor, &first);
  STREW_TRY(DescribeTensor(dtype, tensor.rank, tensor.shape, tensor.strides, first, view));
  if (has_address || view->size == 0) return STREW_OK;
  return Refuse(STREW_SIZE_OVERFLOW, "byte_offset leads beyond the address space");
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
  if (out == nullptr) return strew::Refuse(STREW_INVALID_ARGUMENT, "out is NULL");
  *out = nullptr;
  if (dl_tensor == nullptr) {
    return strew::Refuse(STREW_INVALID_ARGUMENT, "dl_tensor is NULL");
  }
  return strew::Borrow(*static_cast<const strew::DlpackTensor*>(dl_tensor), false, out).code();
}

strew_status strew_tensor_from_dlpack_versioned(const void* dl_managed_tensor_versioned,
                                                strew_tensor** out) {
  if (out == nullptr) return strew::Refuse(STREW_INVALID_ARGUMENT, "out is NULL");
  *out = nullptr;
  if (dl_managed_tensor_versioned == nullptr) {
    return strew::Refuse(STREW_INVALID_ARGUMENT, "dl_managed_tensor_versioned is NULL");
  }
  const auto* const managed =
      static_cast<const strew::DlpackVersionedTensor*>(dl_managed_tensor_versioned);
  if (managed->major != strew::kDlpackMajor) {
    return strew::Refuse(STREW_UNSUPPORTED, "DLPack has major version %" PRIu32 ", not %" PRIu32,
                         managed->major, strew::kDlpackMajor);
  }
  const bool read_only = (managed->flags & strew::kDlpackReadOnly) != 0;
  return strew::Borrow(managed->tensor, read_only, out).code();
}

}  // extern "C"
