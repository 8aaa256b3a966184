// SPDX-License-Identifier: Apache-2.0
#include "dlpack.h"

#include <cstdio>
#include <cstdlib>

#include "reference/dtypes.h"
#include "support/reference.h"

namespace strew_test {
namespace {

// Types of 8 bits that are not named by their kind.
constexpr uint8_t kFloat8E4m3fn = 10, kFloat8E5m2 = 12;

uint8_t CodeOf(const Dtype& dtype) {
  switch (dtype.kind) {
    case Kind::kSigned:
      return 0;
    case Kind::kUnsigned:
      return 1;
    case Kind::kFloat:
      return dtype.code == STREW_BFLOAT16 ? 4 : 2;
    case Kind::kComplex:
      return 5;
    default:
      return 6;  // bool
  }
}

}  // namespace

DlType DlTypeOf(strew_dtype dtype) {
  if (dtype == STREW_FLOAT8_E4M3FN) return {kFloat8E4m3fn, 8, 1};
  if (dtype == STREW_FLOAT8_E5M2) return {kFloat8E5m2, 8, 1};
  const Dtype described = Find(dtype);
  if (described.kind == Kind::kMoved) return {};
  return {CodeOf(described), static_cast<uint8_t>(8 * described.width), 1};
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
