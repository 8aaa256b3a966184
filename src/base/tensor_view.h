// SPDX-License-Identifier: Apache-2.0
// A tensor inside the library, with precomputed properties that every call needs.
#ifndef STREW_BASE_TENSOR_VIEW_H_
#define STREW_BASE_TENSOR_VIEW_H_

#include <cstdint>

#include "strew/strew.h"

namespace strew {

inline constexpr int kMaxRank = 32;

struct TensorView {
  strew_dtype dtype;
  int32_t rank;
  int64_t size;          // number of elements
  int64_t element_size;  // bytes
  // Bytes from `data` to the lowest byte of any element (<= 0) and past the highest one. Both are 0
  // for an empty tensor.
  int64_t lowest;
  int64_t highest;
  bool injective;   // distinct elements have distinct addresses, as required of an output
  bool contiguous;  // row-major without gaps
  bool read_only;   // may not be an output
  unsigned char* data;
  int64_t shape[kMaxRank];
  int64_t strides[kMaxRank];  // in elements
};

// The stride of a dim in elements; 0 if the stride is never used, because the dim has at most one
// element or the tensor is empty.
inline int64_t StrideOf(const TensorView& tensor, int dim) {
  return tensor.size != 0 && tensor.shape[dim] > 1 ? tensor.strides[dim] : 0;
}

// True if both have the same dims. Requires equal ranks.
inline bool SameShape(const TensorView& a, const TensorView& b) {
  for (int i = 0; i < a.rank; ++i) {
    if (a.shape[i] != b.shape[i]) return false;
  }
  return true;
}

// True if the elements of both lie alike in memory. Requires equal shapes.
inline bool SameStrides(const TensorView& a, const TensorView& b) {
  for (int i = 0; i < a.rank; ++i) {
    if (StrideOf(a, i) != StrideOf(b, i)) return false;
  }
  return true;
}

// True if both have the same elements at the same addresses. Requires equal shapes.
inline bool SameElements(const TensorView& a, const TensorView& b) {
  return a.data == b.data && SameStrides(a, b);
}

}  // namespace strew

#endif  // STREW_BASE_TENSOR_VIEW_H_
