// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_API_TENSOR_H_
#define STREW_API_TENSOR_H_

#include "base/status.h"
#include "base/tensor_view.h"
#include "strew/strew.h"

struct strew_tensor {
  strew::TensorView view;
};

namespace strew {

// Checks what strew_tensor_create() checks and fills the view, of which a failure leaves nothing to
// rely on.
Status DescribeTensor(strew_dtype dtype, int32_t rank, const int64_t* shape, const int64_t* strides,
                      void* data, TensorView* view);

// Stores a descriptor of what the view describes.
Status NewTensor(const TensorView& view, strew_tensor** out);

// NULL for NULL.
inline const TensorView* ViewOf(const strew_tensor* tensor) {
  return tensor == nullptr ? nullptr : &tensor->view;
}

}  // namespace strew

#endif  // STREW_API_TENSOR_H_
