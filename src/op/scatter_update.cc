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

Status CheckUpdatesRank(const Call& call, const TensorView& data, const TensorView& indices,
                        const TensorView& updates) {
  return plan::CheckRank(call, {"updates", &updates}, data.rank - 1 + indices.rank);
}

[[gnu::noinline]] Status CheckUpdatesShape(const Call& call, const TensorView& data,
                                           const TensorView& indices, const TensorView& updates,
                                           int axis) {
  int64_t expected[2 * kMaxRank];
  int rank = 0;
  for (int i = 0; i < axis; ++i) expected[rank++] = data.shape[i];
  for (int i = 0; i < indices.rank; ++i) expected[rank++] = indices.shape[i];
  for (int i = axis + 1; i < data.rank; ++i) expected[rank++] = data.shape[i];
  bool same = true;
  for (int i = 0; i < rank; ++i) same = same && updates.shape[i] == expected[i];
  if (same) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE,
                   "updates has shape %s, but indices of shape %s on axis %d of data of shape %s "
                   "need %s",
                   plan::ShapeText(updates).c_str(), plan::ShapeText(indices).c_str(), axis,
                   plan::ShapeText(data).c_str(), plan::ListText(expected, rank).c_str());
}

Status Validate(const Call& call, const TensorView* data, const TensorView* indices,
                const TensorView* updates, int64_t axis, strew_reduction reduction,
                const TensorView* output, int* normalised_axis) {
  STREW_TRY(plan::CheckIndexedOperands(call, data, indices, updates, reduction, output));
  STREW_TRY(plan::CheckDataRank(call, *data, *output));
  STREW_TRY(CheckUpdatesRank(call, *data, *indices, *updates));
  STREW_TRY(plan::CheckAxis(call, {axis, 0}, -1, data->rank, normalised_axis));
  STREW_TRY(plan::CheckSameShape(call, {"output", output}, {"data", data}));
  STREW_TRY(CheckUpdatesShape(call, *data, *indices, *updates, *normalised_axis));
  return plan::CheckMemory(call, {"data", data}, {{"indices", indices}, {"updates", updates}},
                           {"output", output});
}

Status ScatterUpdate(const Call& call, const TensorView* data, const TensorView* indices,
                     const TensorView* updates, int64_t axis, strew_reduction reduction,
                     const TensorView* output) {
  int normalised_axis;
  STREW_TRY(Validate(call, data, indices, updates, axis, reduction, output, &normalised_axis));
  plan::IndexSpace space;
  const int64_t units = plan::IndexedUnitsOf(output->element_size).count;
  space.AppendComponent(normalised_axis, *data, *output, units, 0);
  plan::LowerSlices(*indices, indices->rank, *updates, *output, normalised_axis, 1, &space);
  return RunIndexed(call, {*data, *indices, *updates, *output}, reduction, &space);
}

}  // namespace
}  // namespace strew

extern "C" strew_status strew_scatter_update(strew_context* context, const strew_tensor* data,
                                             const strew_tensor* indices,
                                             const strew_tensor* updates, int64_t axis,
                                             strew_reduction reduction, strew_tensor* output) {
  using strew::ViewOf;
  return strew::ScatterUpdate(strew::CallWith(context), ViewOf(data), ViewOf(indices),
                              ViewOf(updates), axis, reduction, ViewOf(output))
      .code();
}
