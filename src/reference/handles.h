// SPDX-License-Identifier: Apache-2.0
//
// Smart pointers to the library's handles.
#ifndef STREW_REFERENCE_HANDLES_H_
#define STREW_REFERENCE_HANDLES_H_

#include <memory>

#include <strew/strew.h>

#include "reference/view.h"

namespace strew::reference {

struct Destroy {
  void operator()(strew_tensor* tensor) const { strew_tensor_destroy(tensor); }
  void operator()(strew_context* context) const { strew_context_destroy(context); }
  void operator()(strew_plan* plan) const { strew_plan_destroy(plan); }
};
using Tensor = std::unique_ptr<strew_tensor, Destroy>;
using Context = std::unique_ptr<strew_context, Destroy>;
using Plan = std::unique_ptr<strew_plan, Destroy>;

// Create handles. Both functions abort the program if the library refuses.
Tensor MakeTensor(strew_dtype dtype, const Layout& layout, void* data);
Context MakeContext();

}  // namespace strew::reference

#endif  // STREW_REFERENCE_HANDLES_H_
