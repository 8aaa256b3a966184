// SPDX-License-Identifier: Apache-2.0
// Drafts: an output that is small beside the indices is copied into scratch, and each part of the
// updates is applied to this copy right after the check of its indices, which are then read once.
// The draft becomes the output when all indices are found valid.
#ifndef STREW_PLAN_DRAFT_H_
#define STREW_PLAN_DRAFT_H_

#include <cstdint>

#include "base/call.h"
#include "base/tensor_view.h"
#include "plan/index_space.h"
#include "plan/schedule.h"

namespace strew::plan {

struct DraftSchedule {
  IndexedLoop* loop;  // of the index space, whose turns are shared out; NULL: no draft
  int64_t turns;      // in a part
  int64_t parts;
  int64_t scratch_bytes;
  LaterReads next_part;
};

// For calls that have indices, updates and an output.
DraftSchedule MakeDraftSchedule(const Machine& machine, const TensorView& indices,
                                const TensorView& output, IndexSpace* space);

}  // namespace strew::plan

#endif  // STREW_PLAN_DRAFT_H_
