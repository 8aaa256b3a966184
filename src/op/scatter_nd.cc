// SPDX-License-Identifier: Apache-2.0
// output[indices[t, 0], ..., indices[t, k-1], ...] (+)= updates[t, ...]
#include <cinttypes>

#include "api/context.h"
#include "api/tensor.h"
#include "base/reduction.h"
#include "plan/check.h"
#include "plan/index_space.h"
#include "plan/lower.h"
#include "plan/text.h"
#include "plan/unit.h"
#include "op/indexed.h"

namespace strew {
namespace {

Status CheckRanks(const Call& call, const TensorView& data, const TensorView& indices,
                  const TensorView& updates, const TensorView& output) {
  STREW_TRY(plan::CheckDataRank(call, data, output));
  STREW_TRY(plan::CheckHasDims(call, {"indices", &indices}));
  const int64_t k = plan::TupleLength(indices);
  if (k > data.rank) {
    return call.Fail(STREW_INVALID_SHAPE,
                     "indices has tuples of %" PRId64 " numbers, but data has rank %d", k,
                     data.rank);
  }
  const int64_t expected = indices.rank - 1 + data.rank - k;
  // An update of rank 0 may have any shape with one element.
  if (expected == 0) return STREW_OK;
  return plan::CheckRank(call, {"updates", &updates}, expected);
}

[[gnu::noinline]] Status CheckUpdatesShape(const Call& call, const TensorView& data,
                                           const TensorView& indices, const TensorView& updates) {
  const int tuples = indices.rank - 1;
  const int k = static_cast<int>(plan::TupleLength(indices));
  const int expected_rank = tuples + data.rank - k;
  int64_t expected[2 * kMaxRank];
  for (int i = 0; i < tuples; ++i) expected[i] = indices.shape[i];
  for (int i = tuples; i < expected_rank; ++i) expected[i] = data.shape[i - tuples + k];
  bool same = expected_rank > 0 || updates.size == 1;
  for (int i = 0; i < expected_rank; ++i) same = same && updates.shape[i] == expected[i];
  if (same) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE,
                   "updates has shape %s, but indices of shape %s into data of shape %s need %s",
                   plan::ShapeText(updates).c_str(), plan::ShapeText(indices).c_str(),
                   plan::ShapeText(data).c_str(), plan::ListText(expected, expected_rank).c_str());
}

Status Validate(const Call& call, const TensorView* data, const TensorView* indices,
                const TensorView* updates, strew_reduction reduction, const TensorView* output) {
  STREW_TRY(plan::CheckIndexedOperands(call, data, indices, updates, reduction, output));
  STREW_TRY(CheckRanks(call, *data, *indices, *updates, *output));
  STREW_TRY(plan::CheckSameShape(call, {"output", output}, {"data", data}));
  STREW_TRY(CheckUpdatesShape(call, *data, *indices, *updates));
  return plan::CheckMemory(call, {"data", data}, {{"indices", indices}, {"updates", updates}},
                           {"output", output});
}

void Lower(const TensorView& data, const TensorView& indices, const TensorView& updates,
           strew_reduction reduction, const TensorView& output, plan::IndexSpace* space) {
  const int64_t units = plan::IndexedUnitsOf(output.element_size).count;
  const int tuples = indices.rank - 1;
  const int k = static_cast<int>(plan::TupleLength(indices));
  space->has_tuples = true;
  for (int c = 0; c < k; ++c) {
    space->AppendComponent(c, data, output, units, c * StrideOf(indices, tuples));
  }
  plan::LowerSlices(indices, tuples, updates, output, 0, k, space);
  // If every tuple replaces the whole tensor, only the last one counts.
  if (k == 0 && ReductionKind(reduction) == STREW_NONE) space->KeepLastEntry();
}

Status ScatterNd(const Call& call, const TensorView* data, const TensorView* indices,
                 const TensorView* updates, strew_reduction reduction, const TensorView* output) {
  STREW_TRY(Validate(call, data, indices, updates, reduction, output));
  plan::IndexSpace space;
  Lower(*data, *indices, *updates, reduction, *output, &space);
  return RunIndexed(call, {*data, *indices, *updates, *output}, reduction, &space);
}

}  // namespace
}  // namespace strew

extern "C" strew_status strew_scatter_nd(strew_context* context, const strew_tensor* data,
                                         const strew_tensor* indices, const strew_tensor* updates,
                                         strew_reduction reduction, strew_tensor* output) {
  using strew::ViewOf;
  return strew::ScatterNd(strew::CallWith(context), ViewOf(data), ViewOf(indices), ViewOf(updates),
                          reduction, ViewOf(output))
      .code();
}
