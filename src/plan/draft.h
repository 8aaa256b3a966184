// SPDX-License-Identifier: Apache-2.0
// Schedules of drafts. If the output is small compared to the indices, it is copied into scratch,
// and each part of the updates is applied to this draft right after its indices are checked. So
// indices are read from memory once. The draft is copied into the output if all indices are valid.
#ifndef STREW_PLAN_DRAFT_H_
#define STREW_PLAN_DRAFT_H_

#include <cstdint>

#include "base/tensor_view.h"
#include "plan/index_space.h"
#include "plan/schedule.h"

namespace strew::plan {

struct DraftSchedule {
  IndexedLoop* loop;  // the loop of the index space that is cut into parts; NULL: no draft
  int64_t turns;      // of the loop in a part
  int64_t parts;
  int64_t scratch_bytes;
  LaterReads next_part;
};

// Requires at least one index, one update and one element of output.
DraftSchedule MakeDraftSchedule(const Machine& machine, const TensorView& indices,
                                const TensorView& updates, const TensorView& output,
                                IndexSpace* space);

}  // namespace strew::plan

#endif  // STREW_PLAN_DRAFT_H_
