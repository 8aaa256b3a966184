// SPDX-License-Identifier: Apache-2.0
// output[a..., indices[i...], b...] (+)= updates[a..., i..., b...], with the axis between a and b
#include "api/context.h"
#include "api/tensor.h"
#include "plan/check.h"
#include "plan/index_space.h"
#include "plan/lower.h"
#include "plan/text.h"
#include "plan/unit.h"
#include "op/indexed.h"

namespace strew {
namespace {

using plan::IndexedArguments;

[[gnu::noinline]] Status CheckUpdatesShape(const Call& call, const TensorView& data,
                                           const TensorView& indices, const TensorView& updates,
                                           int axis) {
  const plan::UpdatesShape expected(data, indices.shape, indices.rank, axis, 1);
  if (expected.Fits(updates)) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE,
                   "updates has shape %s, but indices of shape %s on axis %d of data of shape %s "
                   "need %s",
                   plan::ShapeText(updates).c_str(), plan::ShapeText(indices).c_str(), axis,
                   plan::ShapeText(data).c_str(),
                   plan::ListText(expected.dims, expected.rank).c_str());
}

Status Validate(const Call& call, const IndexedArguments& at, int64_t given_axis, int* axis) {
  STREW_TRY(plan::CheckIndexedOperands(call, at));
  const TensorView& data = *at.data;
  STREW_TRY(plan::CheckDataRank(call, data, *at.output));
  STREW_TRY(plan::CheckRank(call, {"updates", at.updates}, data.rank - 1 + at.indices->rank));
  STREW_TRY(plan::CheckAxis(call, {given_axis, 0}, -1, data.rank, axis));
  STREW_TRY(plan::CheckSameShape(call, {"output", at.output}, {"data", at.data}));
  STREW_TRY(CheckUpdatesShape(call, data, *at.indices, *at.updates, *axis));
  return plan::CheckIndexedMemory(call, at);
}

Status ScatterUpdate(const Call& call, const IndexedArguments& at, int64_t given_axis) {
  int axis;
  STREW_TRY(Validate(call, at, given_axis, &axis));
  plan::IndexSpace space;
  const int64_t units = plan::IndexedUnitsOf(at.output->element_size).count;
  space.AppendComponent(axis, *at.data, *at.output, units, 0);
  plan::LowerSlices(*at.indices, at.indices->rank, *at.updates, *at.output, axis, 1, &space);
  return RunIndexed(call, at, &space);
}

}  // namespace
}  // namespace strew

extern "C" strew_status strew_scatter_update(strew_context* context, const strew_tensor* data,
                                             const strew_tensor* indices,
                                             const strew_tensor* updates, int64_t axis,
                                             strew_reduction reduction, strew_tensor* output) {
  using strew::ViewOf;
  return strew::ScatterUpdate(
             strew::CallWith(context),
             {ViewOf(data), ViewOf(indices), ViewOf(updates), reduction, ViewOf(output)}, axis)
      .code();
}
