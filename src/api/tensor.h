// SPDX-License-Identifier: Apache-2.0
// The contents of a strew_tensor, and functions that make one.
#ifndef STREW_API_TENSOR_H_
#define STREW_API_TENSOR_H_

#include "base/status.h"
#include "base/tensor_view.h"
#include "strew/strew.h"

struct strew_tensor {
  strew::TensorView view;
};

namespace strew {

// Makes the checks of strew_tensor_create() and fills the view, which is unspecified on failure.
Status DescribeTensor(strew_dtype dtype, int32_t rank, const int64_t* shape, const int64_t* strides,
                      void* data, TensorView* view);

// Allocates a descriptor with a copy of the view.
Status NewTensor(const TensorView& view, strew_tensor** out);

// Returns NULL for NULL.
inline const TensorView* ViewOf(const strew_tensor* tensor) {
  return tensor == nullptr ? nullptr : &tensor->view;
}

}  // namespace strew

#endif  // STREW_API_TENSOR_H_
