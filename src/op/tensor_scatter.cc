// SPDX-License-Identifier: Apache-2.0
// present_cache[b, ..., write_indices[b] + j, ...] = update[b, ..., j, ...]
#include <cinttypes>

#include "api/context.h"
#include "api/tensor.h"
#include "plan/check.h"
#include "plan/text.h"
#include "share/share.h"

namespace strew {
namespace {

struct Operands {
  const TensorView* past;
  const TensorView* update;
  const TensorView* write_indices;  // may be NULL
  const TensorView* present;
};

// Returns the operand that stands for `write_indices` in lists of operands: `other` if there are
// none.
plan::Operand WriteIndicesOr(const Operands& at, plan::Operand other) {
  return at.write_indices == nullptr ? other : plan::Operand{"write_indices", at.write_indices};
}

Status CheckHandles(const Call& call, const Operands& at, strew_cache_mode mode) {
  const plan::Operand update = {"update", at.update};
  STREW_TRY(plan::CheckBound(call, {{"past_cache", at.past}, update, WriteIndicesOr(at, update)},
                             {"present_cache", at.present}));
  if (mode == STREW_CACHE_LINEAR || mode == STREW_CACHE_CIRCULAR) return STREW_OK;
  return call.Fail(STREW_INVALID_ARGUMENT, "mode %" PRId32 " is unknown: it must be 0 or 1", mode);
}

Status CheckDtypes(const Call& call, const Operands& at) {
  const plan::Operand past = {"past_cache", at.past};
  const plan::Operand update = {"update", at.update};
  const plan::Operand present = {"present_cache", at.present};
  if (at.write_indices == nullptr) {
    return plan::CheckDtypes(call, {past, update, present}, {}, STREW_NONE);
  }
  return plan::CheckDtypes(call, {past, update, present}, {{"write_indices", at.write_indices}},
                           STREW_NONE);
}

Status CheckRanks(const Call& call, const Operands& at) {
  const int rank = at.past->rank;
  if (rank < 2) {
    return call.Fail(STREW_INVALID_SHAPE, "past_cache has rank %d, but the rank must be 2 or more",
                     rank);
  }
  STREW_TRY(plan::CheckRank(call, {"update", at.update}, rank));
  if (at.write_indices != nullptr) {
    STREW_TRY(plan::CheckRank(call, {"write_indices", at.write_indices}, 1));
  }
  return plan::CheckRank(call, {"present_cache", at.present}, rank);
}

Status CheckAxis(const Call& call, int64_t axis, int rank, int* normalised) {
  STREW_TRY(plan::CheckAxis(call, {axis, 0}, -1, rank, normalised));
  if (*normalised != 0) return STREW_OK;
  return call.Fail(STREW_INVALID_AXIS,
                   "axis = %" PRId64 " is the batch axis, which has no positions", axis);
}

Status CheckExtents(const Call& call, const Operands& at, int axis) {
  STREW_TRY(plan::CheckSameShape(call, {"present_cache", at.present}, {"past_cache", at.past}));
  const TensorView& past = *at.past;
  const TensorView& update = *at.update;
  for (int i = 0; i < past.rank; ++i) {
    if (update.shape[i] == past.shape[i]) continue;
    if (i == axis && update.shape[i] < past.shape[i]) continue;
    return call.Fail(STREW_INVALID_SHAPE,
                     "update has shape %s, of which dim %d does not fit past_cache, %s",
                     plan::ShapeText(update).c_str(), i, plan::ShapeText(past).c_str());
  }
  if (at.write_indices == nullptr || at.write_indices->shape[0] == past.shape[0]) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE,
                   "write_indices has %" PRId64 " entries for a batch of %" PRId64,
                   at.write_indices->shape[0], past.shape[0]);
}

Status Validate(const Call& call, const Operands& at, int64_t axis, strew_cache_mode mode,
                int* normalised_axis) {
  STREW_TRY(CheckHandles(call, at, mode));
  STREW_TRY(CheckDtypes(call, at));
  STREW_TRY(CheckRanks(call, at));
  STREW_TRY(CheckAxis(call, axis, at.past->rank, normalised_axis));
  STREW_TRY(CheckExtents(call, at, *normalised_axis));
  const plan::Operand update = {"update", at.update};
  return plan::CheckMemory(call, {"past_cache", at.past}, {update, WriteIndicesOr(at, update)},
                           {"present_cache", at.present});
}

Status TensorScatter(const Call& call, const Operands& at, int64_t axis, strew_cache_mode mode) {
  int normalised_axis;
  STREW_TRY(Validate(call, at, axis, mode, &normalised_axis));
  return share::RunCacheWrite(call, {*at.past, *at.update, at.write_indices, *at.present,
                                     normalised_axis, mode == STREW_CACHE_CIRCULAR});
}

}  // namespace
}  // namespace strew

extern "C" strew_status strew_tensor_scatter(strew_context* context, const strew_tensor* past_cache,
                                             const strew_tensor* update,
                                             const strew_tensor* write_indices, int64_t axis,
                                             strew_cache_mode mode, strew_tensor* present_cache) {
  using strew::ViewOf;
  return strew::TensorScatter(
             strew::CallWith(context),
             {ViewOf(past_cache), ViewOf(update), ViewOf(write_indices), ViewOf(present_cache)},
             axis, mode)
      .code();
}
