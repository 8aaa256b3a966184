// SPDX-License-Identifier: Apache-2.0
// Creation, destruction and properties of plans.
#include <cinttypes>
#include <cstdlib>
#include <new>

#include "api/context.h"
#include "api/tensor.h"
#include "base/checked.h"
#include "plan/check.h"
#include "plan/lower.h"
#include "prepared/order.h"
#include "prepared/plan.h"

namespace strew::prepared {
namespace {

struct Request {
  Kind kind;
  const TensorView* indices;
  int64_t axis;            // of kElements and kUpdate
  const int64_t* extents;  // of the axes that are indexed
};

Status CheckArguments(const Call& call, const Request& request) {
  STREW_TRY(plan::CheckHandle(call, {"indices", request.indices}));
  // A wrong rank is refused later.
  const int64_t components =
      request.kind == Kind::kTuples ? plan::TupleLength(*request.indices) : 1;
  if (request.extents == nullptr && components > 0) {
    return call.Fail(STREW_INVALID_ARGUMENT, "extents is NULL");
  }
  // More than kMaxRank axes are refused later.
  for (int64_t c = 0; c < components && c < kMaxRank; ++c) {
    if (request.extents[c] >= 0) continue;
    if (request.kind != Kind::kTuples) {
      return call.Fail(STREW_INVALID_ARGUMENT, "extent = %" PRId64 ", but must be 0 or more",
                       request.extents[c]);
    }
    return call.Fail(STREW_INVALID_ARGUMENT,
                     "extents[%" PRId64 "] = %" PRId64 ", but must be 0 or more", c,
                     request.extents[c]);
  }
  return STREW_OK;
}

Status CheckIndexTensor(const Call& call, const Request& request) {
  const TensorView& indices = *request.indices;
  STREW_TRY(plan::CheckIndexDtype(call, {"indices", &indices}));
  if (request.kind == Kind::kUpdate) return STREW_OK;
  STREW_TRY(plan::CheckHasDims(call, {"indices", &indices}));
  if (request.kind == Kind::kElements || plan::TupleLength(indices) <= kMaxRank) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE,
                   "indices has tuples of %" PRId64 " numbers, but no data has a rank above %d",
                   plan::TupleLength(indices), kMaxRank);
}

// Stores the number of entries. Fails if that or the number of destinations is too large.
Status CountEntries(const Call& call, Plan* plan) {
  const int dims = plan->entry_dims();
  bool fits = true;
  plan->all_entries = 1;
  for (int i = 0; i < dims; ++i) {
    fits = CheckedMultiply(plan->all_entries, plan->shape[i], &plan->all_entries) && fits;
  }
  for (int i = 0; i < dims; ++i) {
    if (plan->shape[i] == 0) {
      fits = true;
      plan->all_entries = 0;
    }
  }
  if (fits && DestinationsOf(*plan) >= 0) return STREW_OK;
  return call.Fail(STREW_SIZE_OVERFLOW, "a tensor with these extents has too many elements");
}

// Checks all but sizes and index values, before memory is asked for. Stores the axis of kElements.
Status Check(const Call& call, const Request& request, int* axis) {
  STREW_TRY(CheckArguments(call, request));
  STREW_TRY(CheckIndexTensor(call, request));
  if (request.kind != Kind::kElements) return STREW_OK;
  return plan::CheckAxis(call, {request.axis, 0}, -1, request.indices->rank, axis);
}

Status Describe(const Call& call, const Request& request, int axis, Plan* plan) {
  const TensorView& indices = *request.indices;
  plan->kind = request.kind;
  plan->rank = indices.rank;
  for (int i = 0; i < indices.rank; ++i) plan->shape[i] = indices.shape[i];
  plan->given_axis = request.axis;
  plan->axis = axis;
  plan->components =
      request.kind == Kind::kTuples ? static_cast<int32_t>(plan::TupleLength(indices)) : 1;
  for (int c = 0; c < plan->components; ++c) plan->extents[c] = request.extents[c];
  STREW_TRY(CountEntries(call, plan));
  return Prepare(call, indices, plan);
}

strew_status Create(strew_context* context, const Request& request, strew_plan** out) {
  const Call call = CallWith(context);
  if (out == nullptr) return call.Fail(STREW_INVALID_ARGUMENT, "out is NULL").code();
  *out = nullptr;
  int axis = 0;
  const Status checked = Check(call, request, &axis);
  if (!checked.ok()) return checked.code();
  void* const memory = std::malloc(sizeof(strew_plan));
  if (memory == nullptr) {
    return call.Fail(STREW_OUT_OF_MEMORY, "memory of the plan was refused").code();
  }
  strew_plan* const plan = new (memory) strew_plan();
  plan->plan.token = Token::New();
  const Status status = plan->plan.token == nullptr
                            ? call.Fail(STREW_OUT_OF_MEMORY, "memory of the plan was refused")
                            : Describe(call, request, axis, &plan->plan);
  if (!status.ok()) {
    strew_plan_destroy(plan);
    return status.code();
  }
  *out = plan;
  return call.Succeed(0).code();
}

}  // namespace
}  // namespace strew::prepared

using strew::ViewOf;
using strew::prepared::Kind;

extern "C" {

strew_status strew_plan_scatter_elements(strew_context* context, const strew_tensor* indices,
                                         int64_t axis, int64_t extent, strew_plan** out) {
  return strew::prepared::Create(context, {Kind::kElements, ViewOf(indices), axis, &extent}, out);
}

strew_status strew_plan_scatter_nd(strew_context* context, const strew_tensor* indices,
                                   const int64_t* extents, strew_plan** out) {
  return strew::prepared::Create(context, {Kind::kTuples, ViewOf(indices), 0, extents}, out);
}

strew_status strew_plan_scatter_update(strew_context* context, const strew_tensor* indices,
                                       int64_t axis, int64_t extent, strew_plan** out) {
  return strew::prepared::Create(context, {Kind::kUpdate, ViewOf(indices), axis, &extent}, out);
}

void strew_plan_destroy(strew_plan* plan) {
  if (plan == nullptr) return;
  plan->~strew_plan();
  std::free(plan);
}

int64_t strew_plan_entries(const strew_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.all_entries;
}

int64_t strew_plan_dropped(const strew_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.dropped_entries;
}

size_t strew_plan_memory(const strew_plan* plan) {
  return plan == nullptr ? 0 : static_cast<size_t>(plan->plan.bytes());
}

}  // extern "C"
