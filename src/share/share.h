// SPDX-License-Identifier: Apache-2.0
// The interface of the room: work of several threads for operators.
#ifndef STREW_SHARE_SHARE_H_
#define STREW_SHARE_SHARE_H_

#include "base/call.h"
#include "base/scratch.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "kernel/kernel.h"
#include "plan/entry_loops.h"
#include "plan/overlay.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "walk/box.h"
#include "walk/kernels.h"
#include "walk/scatter.h"

namespace strew::share {

// ---- The check of the indices, before anything is written ----

// Returns INDEX_OUT_OF_RANGE for the first bad value in row-major order, if the call fails because
// of one. Requires that `indices` has elements.
Status CheckIndices(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
                    plan::Findings* findings);

// True if all are in range; otherwise reports nothing. Requires a call without a runner. `indices` may be part of a tensor that `space`
// describes, with a shape that does not tell its dims.
bool AreInRange(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
                plan::Findings* findings);

// ---- Drafts ----

// Carries out a call with many indices and a small output whose reduction takes one step: applies
// updates to a draft of the output, each part after the check of its indices. Returns false, with
// nothing written, if the call has to run in another way or fails.
bool RunDraft(const Call& call, const walk::Operands& operands, strew_reduction reduction,
              plan::IndexSpace* space);

// ---- Entries: schedules and their execution ----

// The inputs of a schedule.
plan::Circumstances CircumstancesOf(const walk::Scatter& scatter, bool in_place, bool has_scratch);

// The schedule of a scatter with checked indices, and its scratch. The constructor allocates all
// scratch, before anything is written.
class Execution {
 public:
  Execution(const walk::Scatter& scatter, bool in_place, bool may_have_scratch = true);

  // Copies data unless `in_place`, and applies the updates. The reduction and the updates may
  // differ from those of the constructor, and `in_place` may have become true.
  Status Run(const walk::Scatter& scatter, bool in_place) const;

 private:
  plan::Circumstances about_;
  plan::Schedule schedule_;
  Scratch scratch_;
};

// Makes a schedule and carries it out.
Status Execute(const walk::Scatter& scatter, bool in_place);

// ---- Boxes: copies, slices and overlays ----

// Turns must not meet in the output. Arranges `nest`; its counts are > 0.
Status RunBox(const Call& call, const walk::RunKernels& kernels, const plan::Units& units,
              unsigned char* output, const unsigned char* updates, walk::BoxNest* nest);

// Requires an arranged plan. `run` is the kernel of the reduction, `move` has those that copy.
Status RunOverlay(const Call& call, const plan::OverlayPlan& plan, kernel::RunKernel run,
                  const kernel::MoveKernels& move, const walk::OverlayOperands& operands);

// output = data, for tensors of the same shape.
Status Copy(const Call& call, const TensorView& data, const TensorView& output);

// ---- Cache writes: new positions for each batch entry, from a start of its own ----

// Everything is checked but the values of the write indices.
struct CacheWrite {
  const TensorView& past;
  const TensorView& update;
  const TensorView* write_indices;  // NULL: zeros
  const TensorView& present;
  int axis;  // of the positions; axis 0 is the batch
  bool circular;
};

// Checks the write indices, copies past unless present is past itself, and writes the updates.
Status RunCacheWrite(const Call& call, const CacheWrite& write);

}  // namespace strew::share

#endif  // STREW_SHARE_SHARE_H_
