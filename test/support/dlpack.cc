// SPDX-License-Identifier: Apache-2.0
#include "dlpack.h"

#include <cstdio>
#include <cstdlib>

#include "reference/dtypes.h"
#include "support/reference.h"

namespace strew_test {
DlType DlTypeOf(strew_dtype dtype) {
  const Dtype line = Find(dtype);
  if (line.dlpack == kNoDlpack) return {};
  return {static_cast<uint8_t>(line.dlpack), static_cast<uint8_t>(8 * line.width), 1};
}

Tensor MakeReadOnlyTensor(strew_dtype dtype, Layout layout, void* data) {
  DlManagedTensorVersioned managed;
  managed.flags = kDlReadOnly;
  managed.tensor.data = data;
  managed.tensor.ndim = static_cast<int32_t>(layout.shape.size());
  managed.tensor.dtype = DlTypeOf(dtype);
  managed.tensor.shape = layout.shape.data();
  managed.tensor.strides = layout.strides.data();
  strew_tensor* tensor = nullptr;
  const strew_status status = strew_tensor_from_dlpack_versioned(&managed, &tensor);
  if (status == STREW_OK) return Tensor(tensor);
  std::fprintf(stderr, "strew_tensor_from_dlpack_versioned: %s\n", strew_status_name(status));
  std::abort();
}

}  // namespace strew_test
