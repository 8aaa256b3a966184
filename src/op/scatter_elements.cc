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

Status Validate(const Call& call, const TensorView* data, const TensorView* indices,
                const TensorView* updates, int64_t axis, strew_reduction reduction,
                const TensorView* output, int* normalised_axis) {
  STREW_TRY(plan::CheckIndexedOperands(call, data, indices, updates, reduction, output));
  STREW_TRY(plan::CheckDataRank(call, *data, *output));
  STREW_TRY(plan::CheckRank(call, {"indices", indices}, data->rank));
  STREW_TRY(plan::CheckRank(call, {"updates", updates}, data->rank));
  STREW_TRY(plan::CheckAxis(call, {axis, 0}, -1, data->rank, normalised_axis));
  STREW_TRY(plan::CheckSameShape(call, {"output", output}, {"data", data}));
  STREW_TRY(plan::CheckSameShape(call, {"updates", updates}, {"indices", indices}));
  STREW_TRY(CheckIndicesWithinData(call, *data, *indices, *normalised_axis));
  return plan::CheckMemory(call, {"data", data}, {{"indices", indices}, {"updates", updates}},
                           {"output", output});
}

Status ScatterElements(const Call& call, const TensorView* data, const TensorView* indices,
                       const TensorView* updates, int64_t axis, strew_reduction reduction,
                       const TensorView* output) {
  int normalised_axis;
  STREW_TRY(Validate(call, data, indices, updates, axis, reduction, output, &normalised_axis));
  plan::IndexSpace space;
  plan::LowerElements(*data, *indices, *updates, *output, normalised_axis, &space);
  return RunIndexed(call, {*data, *indices, *updates, *output}, reduction, &space);
}

}  // namespace
}  // namespace strew

extern "C" strew_status strew_scatter_elements(strew_context* context, const strew_tensor* data,
                                               const strew_tensor* indices,
                                               const strew_tensor* updates, int64_t axis,
                                               strew_reduction reduction, strew_tensor* output) {
  using strew::ViewOf;
  return strew::ScatterElements(strew::CallWith(context), ViewOf(data), ViewOf(indices),
                                ViewOf(updates), axis, reduction, ViewOf(output))
      .code();
}
