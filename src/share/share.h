// SPDX-License-Identifier: Apache-2.0
// The door of the room: what several threads do for operators.
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

// INDEX_OUT_OF_RANGE with the first bad value in row-major order, if the call fails because of one.
// `indices` has elements.
Status CheckIndices(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
                    plan::Findings* findings);

// ---- Entries: a schedule is carried out ----

// What a schedule depends on.
plan::Circumstances CircumstancesOf(const walk::Scatter& scatter, bool in_place, bool has_scratch);

// The schedule of a scatter of which the indices are checked, and the scratch that it asks for: all
// is obtained when it is made, before anything is written.
class Execution {
 public:
  Execution(const walk::Scatter& scatter, bool in_place, bool may_have_scratch = true);

  // Copies data unless `in_place`, and applies the updates. The scatter may have another reduction
  // and other updates than the one that it was made for, and `in_place` may have become true.
  Status Run(const walk::Scatter& scatter, bool in_place) const;

 private:
  plan::Circumstances about_;
  plan::Schedule schedule_;
  Scratch scratch_;
};

// Makes a schedule and carries it out.
Status Execute(const walk::Scatter& scatter, bool in_place);

// ---- Boxes: copies, slices, and slices laid over a copy of data ----

// Turns must not meet in the output; `nest` is left arranged. The counts of the nest are > 0.
Status RunBox(const Call& call, const walk::RunKernels& kernels, const plan::Units& units,
              unsigned char* output, const unsigned char* updates, walk::BoxNest* nest);

// `plan` is arranged; `run` is that of the reduction, `move` are the kernels that copy.
Status RunOverlay(const Call& call, const plan::OverlayPlan& plan, kernel::RunKernel run,
                  const kernel::MoveKernels& move, const walk::OverlayOperands& operands);

// output = data, for tensors of one shape.
Status Copy(const Call& call, const TensorView& data, const TensorView& output);

// ---- New positions of a cache, for each batch entry from a position of its own on ----

// All arguments are checked but for the values of the write indices.
struct CacheWrite {
  const TensorView& past;
  const TensorView& update;
  const TensorView* write_indices;  // NULL for zeros
  const TensorView& present;
  int axis;  // of the positions; axis 0 is the batch
  bool circular;
};

// Checks the write indices, copies past where present is not past itself, and writes the updates.
Status RunCacheWrite(const Call& call, const CacheWrite& write);

}  // namespace strew::share

#endif  // STREW_SHARE_SHARE_H_
