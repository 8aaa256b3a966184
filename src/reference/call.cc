// SPDX-License-Identifier: Apache-2.0
#include "reference/call.h"

namespace strew::reference {

strew_status Arguments::Call(Operator op, strew_context* context) const {
  switch (op) {
#define STREW_ROW(NAME, FUNCTION, NAMES, SUMMARY, ...) \
  case Operator::k##NAME:                              \
    return strew_##FUNCTION(context, __VA_ARGS__);
    STREW_FOR_EACH_OPERATOR(STREW_ROW)
#undef STREW_ROW
  }
  return STREW_INVALID_ARGUMENT;
}

strew_status Arguments::MakePlan(Operator op, strew_context* context, strew_plan** out) const {
  const int64_t* const shape = strew_tensor_shape(data);
  if (op == Operator::kScatterNd) return strew_plan_scatter_nd(context, indices, shape, out);
  // A plan's messages about indices of scatter_update name the axis as it was given, so it is
  // resolved here.
  const int64_t resolved = axis < 0 ? axis + strew_tensor_rank(data) : axis;
  return op == Operator::kScatterElements
             ? strew_plan_scatter_elements(context, indices, axis, shape[resolved], out)
             : strew_plan_scatter_update(context, indices, resolved, shape[resolved], out);
}

strew_status Arguments::CallBy(const strew_plan* plan, strew_context* context) const {
  return strew_plan_scatter(context, plan, data, updates, reduction, output);
}

}  // namespace strew::reference
