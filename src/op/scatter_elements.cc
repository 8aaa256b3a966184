// SPDX-License-Identifier: Apache-2.0
// output[i0, ..., indices[i], ..., i(r-1)] (+)= updates[i]
#include "api/context.h"
#include "api/tensor.h"
#include "plan/check.h"
#include "plan/index_space.h"
#include "plan/lower.h"
#include "plan/text.h"
#include "op/indexed.h"

namespace strew {
namespace {

using plan::IndexedArguments;

Status CheckIndicesWithinData(const Call& call, const TensorView& data, const TensorView& indices,
                              int axis) {
  for (int i = 0; i < data.rank; ++i) {
    if (i == axis || indices.shape[i] <= data.shape[i]) continue;
    return call.Fail(STREW_INVALID_SHAPE,
                     "indices has shape %s, of which dim %d is larger than that of data, %s",
                     plan::ShapeText(indices).c_str(), i, plan::ShapeText(data).c_str());
  }
  return STREW_OK;
}

Status Validate(const Call& call, const IndexedArguments& at, int64_t given_axis, int* axis) {
  STREW_TRY(plan::CheckIndexedOperands(call, at));
  const TensorView& data = *at.data;
  STREW_TRY(plan::CheckDataRank(call, data, *at.output));
  STREW_TRY(plan::CheckRank(call, {"indices", at.indices}, data.rank));
  STREW_TRY(plan::CheckRank(call, {"updates", at.updates}, data.rank));
  STREW_TRY(plan::CheckAxis(call, {given_axis, 0}, -1, data.rank, axis));
  STREW_TRY(plan::CheckSameShape(call, {"output", at.output}, {"data", at.data}));
  STREW_TRY(plan::CheckSameShape(call, {"updates", at.updates}, {"indices", at.indices}));
  STREW_TRY(CheckIndicesWithinData(call, data, *at.indices, *axis));
  return plan::CheckIndexedMemory(call, at);
}

Status ScatterElements(const Call& call, const IndexedArguments& at, int64_t given_axis) {
  int axis;
  STREW_TRY(Validate(call, at, given_axis, &axis));
  plan::IndexSpace space;
  plan::LowerElements(*at.data, *at.indices, *at.updates, *at.output, axis, &space);
  return RunIndexed(call, at, &space);
}

}  // namespace
}  // namespace strew

extern "C" strew_status strew_scatter_elements(strew_context* context, const strew_tensor* data,
                                               const strew_tensor* indices,
                                               const strew_tensor* updates, int64_t axis,
                                               strew_reduction reduction, strew_tensor* output) {
  using strew::ViewOf;
  return strew::ScatterElements(
             strew::CallWith(context),
             {ViewOf(data), ViewOf(indices), ViewOf(updates), reduction, ViewOf(output)}, axis)
      .code();
}
