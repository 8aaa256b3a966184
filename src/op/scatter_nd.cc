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

using plan::IndexedArguments;

Status CheckRanks(const Call& call, const IndexedArguments& at) {
  const TensorView& data = *at.data;
  const TensorView& indices = *at.indices;
  STREW_TRY(plan::CheckDataRank(call, data, *at.output));
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
  return plan::CheckRank(call, {"updates", at.updates}, expected);
}

[[gnu::noinline]] Status CheckUpdatesShape(const Call& call, const TensorView& data,
                                           const TensorView& indices, const TensorView& updates) {
  const int k = static_cast<int>(plan::TupleLength(indices));
  const plan::UpdatesShape expected(data, indices.shape, indices.rank - 1, 0, k);
  if (expected.Fits(updates)) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE,
                   "updates has shape %s, but indices of shape %s into data of shape %s need %s",
                   plan::ShapeText(updates).c_str(), plan::ShapeText(indices).c_str(),
                   plan::ShapeText(data).c_str(),
                   plan::ListText(expected.dims, expected.rank).c_str());
}

Status Validate(const Call& call, const IndexedArguments& at) {
  STREW_TRY(plan::CheckIndexedOperands(call, at));
  STREW_TRY(CheckRanks(call, at));
  STREW_TRY(plan::CheckSameShape(call, {"output", at.output}, {"data", at.data}));
  STREW_TRY(CheckUpdatesShape(call, *at.data, *at.indices, *at.updates));
  return plan::CheckIndexedMemory(call, at);
}

void Lower(const IndexedArguments& at, plan::IndexSpace* space) {
  const TensorView& indices = *at.indices;
  const int64_t units = plan::IndexedUnitsOf(at.output->element_size).count;
  const int tuples = indices.rank - 1;
  const int k = static_cast<int>(plan::TupleLength(indices));
  space->has_tuples = true;
  for (int c = 0; c < k; ++c) {
    space->AppendComponent(c, *at.data, *at.output, units, c * StrideOf(indices, tuples));
  }
  plan::LowerSlices(indices, tuples, *at.updates, *at.output, 0, k, space);
  // If every tuple replaces the whole tensor, only the last one counts.
  if (k == 0 && ReductionKind(at.reduction) == STREW_NONE) space->KeepLastEntry();
}

Status ScatterNd(const Call& call, const IndexedArguments& at) {
  STREW_TRY(Validate(call, at));
  plan::IndexSpace space;
  Lower(at, &space);
  return RunIndexed(call, at, &space);
}

}  // namespace
}  // namespace strew

extern "C" strew_status strew_scatter_nd(strew_context* context, const strew_tensor* data,
                                         const strew_tensor* indices, const strew_tensor* updates,
                                         strew_reduction reduction, strew_tensor* output) {
  using strew::ViewOf;
  return strew::ScatterNd(strew::CallWith(context), {ViewOf(data), ViewOf(indices), ViewOf(updates),
                                                     reduction, ViewOf(output)})
      .code();
}
