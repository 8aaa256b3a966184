// SPDX-License-Identifier: Apache-2.0
// The loops of a gather with a plan.
#ifndef STREW_PREPARED_GATHER_LOOPS_H_
#define STREW_PREPARED_GATHER_LOOPS_H_

#include <cstdint>

#include "base/tensor_view.h"
#include "plan/cut.h"
#include "plan/loop_nest.h"
#include "plan/unit.h"
#include "prepared/operands.h"
#include "prepared/plan.h"

namespace strew::prepared {

// Operands of loops over entries: their numbers, and their offsets in the output and in the source,
// to which those of their places are added.
enum { kGatheredEntry, kGatheredOutput, kGatheredSource, kGatherOperands };
enum { kInnerOutput, kInnerSource, kInnerOperands };

struct GatherLoops {
  GatherLoops(const Plan& plan, const TensorView& source, int axis, const TensorView& output);

  // Units of an entry.
  int64_t EntryUnits() const { return inner.Turns() * run.count; }
  // Boxes move vectors, so the width of a unit must be a power of two.
  bool MayBeBoxes() const { return (units.width & (units.width - 1)) == 0; }
  // Cuts the loops over entries, the outermost inner loop and the run, or only some of them.
  enum class Cuts { kAll, kNoRuns, kNoColumns };  // the last cuts no runs either
  plan::Cut CutInto(int64_t parts, Cuts cuts) const;

  plan::Units units;
  Layout layout;  // of the source
  // The loops over entries, of which `column` is the innermost, and the inner loops, of which `run`
  // is. The run has one unit if the innermost inner loop has turns farther apart than entries, of
  // which there are more than a few.
  plan::LoopNest<kGatherOperands> entries;
  plan::Loop<kGatherOperands> column;
  plan::LoopNest<kInnerOperands> inner;
  plan::Loop<kInnerOperands> run = {1, {1, 1}};
  int64_t source_bytes;
  int64_t output_bytes;

 private:
  bool HasRun() const;
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_GATHER_LOOPS_H_
