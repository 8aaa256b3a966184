// SPDX-License-Identifier: Apache-2.0
// The interface of the room: runs the work of operators, on several threads if that pays.
#ifndef STREW_SHARE_SHARE_H_
#define STREW_SHARE_SHARE_H_

#include <cstdint>

#include "base/cache_size.h"
#include "base/call.h"
#include "base/scratch.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "kernel/kernel.h"
#include "plan/entry_loops.h"
#include "plan/overlay.h"
#include "plan/pass.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "walk/box.h"
#include "walk/kernels.h"
#include "walk/scatter.h"

namespace strew::share {

// ---- The check of the indices, before anything is written ----

// Returns INDEX_OUT_OF_RANGE for the first index in row-major order that is out of range, unless
// the call drops or clamps it. Requires that `indices` has elements.
Status CheckIndices(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
                    plan::Findings* findings);

// True if all indices are in range; otherwise reports nothing. Requires a call without a runner.
// `indices` may be a part of the tensor that `space` describes: its size is that of the part, its
// shape that of the whole.
bool AreInRange(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
                plan::Findings* findings);

// ---- Drafts ----

// Carries out a call that has many indices, a small output and a reduction of one step: applies
// updates to a draft of the output, part by part, after checking the indices of each part. Returns
// false, with nothing written, if a draft does not pay, scratch is refused or an index is out of
// range.
bool RunDraft(const Call& call, const walk::Operands& operands, strew_reduction reduction,
              plan::IndexSpace* space);

// ---- Entries: schedules and their execution ----

// How entries that are walked without a schedule read and write memory.
plan::MemoryHints HintsFor(const walk::Scatter& scatter);

// The schedule of a scatter with checked indices, and its scratch, which the constructor allocates
// before anything is written.
class Execution {
 public:
  explicit Execution(const walk::Scatter& scatter);

  // Copies data, unless output is data itself or data `is_copied` already, and applies the updates.
  // The reduction and the updates may differ from those of the constructor.
  Status Run(const walk::Scatter& scatter, bool is_copied = false) const;

  // True if updates that replace are written past the caches.
  bool streams() const { return schedule_.hints.streams; }

 private:
  plan::Circumstances about_;
  plan::Schedule schedule_;
  Scratch scratch_;
};

// Makes a schedule and carries it out.
Status Execute(const walk::Scatter& scatter);

// ---- Boxes: copies, slices and overlays ----

// Runs a box. Turns must have different destinations, and counts must be > 0. Rearranges `nest`.
Status RunBox(const Call& call, const walk::RunKernels& kernels, const plan::Units& units,
              unsigned char* output, const unsigned char* updates, walk::BoxNest* nest,
              const plan::UpdatesOfCopy& updates_of_copy = {});

// Requires an arranged plan. `run` is the kernel of the reduction; `move` has the kernels that
// copy.
Status RunOverlay(const Call& call, const plan::OverlayPlan& plan, kernel::RunKernel run,
                  const kernel::MoveKernels& move, const walk::OverlayOperands& operands);

// About the most cache lines that elements touch if they are written anywhere.
inline int64_t LinesOfElements(const TensorView& elements) {
  return elements.size * ((elements.element_size - 1) / kCacheLine + 1);
}

// output = data, for tensors of the same shape. Does nothing if they are the same elements.
Status Copy(const Call& call, const TensorView& data, const TensorView& output,
            const plan::UpdatesOfCopy& updates = {});

// ---- Cache writes: each batch entry has new positions, with a start of its own ----

// Operands that are checked, except for the values of the write indices.
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
