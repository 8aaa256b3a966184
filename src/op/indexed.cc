// SPDX-License-Identifier: Apache-2.0
#include "op/indexed.h"

#include <atomic>

#include "accumulate/accumulate.h"
#include "base/index_value.h"
#include "base/reduction.h"
#include "base/scratch.h"
#include "op/last_entries.h"
#include "plan/explain.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "share/share.h"
#include "walk/few.h"
#include "walk/index_reader.h"
#include "walk/kernels.h"
#include "walk/scatter.h"

namespace strew {
namespace {

// True if rows of so few elements have a sum for each, of which there are not too many. The sums of
// one column fit scratch: with more, a search must first find so many touched elements, which takes
// long where entries repeat.
bool HasShortRows(const plan::Tuning& tuning, int64_t elements, int64_t rows, int64_t entries,
                  int64_t slot_bytes) {
  if (elements > tuning.longest_summed_row) return false;
  if (rows > tuning.most_sums_of_short_rows / elements) return false;
  if (rows > plan::MostScratch(1) / slot_bytes) return false;
  if (rows <= tuning.near_sums_of_short_rows / elements) return true;
  return static_cast<double>(rows * elements) <=
         static_cast<double>(tuning.sums_of_short_entry) * static_cast<double>(entries);
}

// True if the inner turns of accumulated entries are few, and lie apart in the output or are a
// short row. Each is then a batch of its own, because single elements have faster kernels.
bool HasFewTurns(const Call& call, const TensorView& output, const plan::IndexSpace& space) {
  if (space.components != 1 || space.inner.rank == 0) return false;
  const plan::Tuning& tuning = plan::TuningOf(call);
  const int64_t turns = space.inner.Turns();
  if (turns >= tuning.least_strided_group) return false;
  const int64_t axis_size = space.component[0].axis_size;
  const int64_t entries = space.entries.Turns();
  if (axis_size / tuning.destinations_of_entry > entries) return false;
  const int64_t slot_bytes = accumulate::SumBytes(call, output) + accumulate::kCountBytes;
  return HasShortRows(tuning, turns, axis_size, entries, slot_bytes) || !HasRuns(space.inner);
}

// True if there is one entry, whose updates are a box.
bool IsBox(const plan::IndexSpace& space, const plan::Findings& findings,
           strew_reduction reduction) {
  return space.entries.rank == 0 && space.batch.rank == 0 &&
         findings.out_of_range != plan::OutOfRange::kDrop &&
         (IsOneStep(reduction) || reduction == STREW_MEAN);
}

// Writes the updates of the only entry. Not inline, because other calls need no stack space for a
// nest of boxes.
[[gnu::noinline]] Status RunEntry(const Call& call, const walk::Operands& operands,
                                  strew_reduction reduction, const plan::IndexSpace& space) {
  const TensorView& output = operands.output;
  const plan::Units units = plan::UnitsOf(output.element_size);
  const plan::Units indexed = plan::IndexedUnitsOf(output.element_size);
  if (call.explains()) call.Explain("There is one entry, so that its updates are a box.");
  const bool replaces_all =
      reduction == STREW_NONE && space.inner.Turns() == output.size * indexed.count;
  if (!replaces_all) {
    STREW_TRY(share::Copy(call, operands.data, output, {/*lines=*/space.inner.Turns()}));
  }
  const int64_t parts = units.count / indexed.count;  // of an indexed unit
  walk::BoxNest nest;
  for (int i = 0; i < space.inner.rank; ++i) {
    const plan::InnerLoop& loop = space.inner.loop[i];
    nest.Append(loop.count, loop.stride[plan::kOutput] * parts,
                loop.stride[plan::kUpdates] * parts);
  }
  int64_t first[] = {space.inner.base[plan::kOutput] + space.batch.base[plan::kOutput],
                     space.inner.base[plan::kUpdates] + space.batch.base[plan::kUpdates]};
  // An index that changed after its check adds nothing, so that the box stays within the output.
  (void)walk::IndexReader(call, operands.indices)
      .AddOffset(space.component, space.components, space.batch.base[plan::kIndices],
                 &first[plan::kOutput]);
  STREW_TRY(share::RunBox(call, walk::RunKernelsFor(call, output, reduction, units),
                          {units.width, parts}, output.data + first[plan::kOutput] * indexed.width,
                          operands.updates.data + first[plan::kUpdates] * indexed.width, &nest));
  return call.Succeed(operands.updates.size);
}

Status RunSpace(const Call& call, const walk::Operands& operands, strew_reduction reduction,
                const plan::Findings& findings, plan::IndexSpace* space) {
  const TensorView& output = operands.output;
  // No index into an output without elements is valid, so all updates were dropped.
  if (operands.updates.size == 0 || output.size == 0) {
    STREW_TRY(share::Copy(call, operands.data, output, {/*lines=*/0}));
    return call.Succeed(0);
  }
  if (IsBox(*space, findings, reduction)) return RunEntry(call, operands, reduction, *space);
  const bool accumulates = Accumulates(reduction);
  if (accumulates && HasFewTurns(call, output, *space)) space->TurnInnerIntoBatch();
  const plan::EntryLoops loops(*space, findings,
                               accumulates ? plan::BatchOrder::kOfData : plan::BatchOrder::kAny);
  const bool drops = findings.out_of_range == plan::OutOfRange::kDrop;
  std::atomic<int64_t> applied_units{0};
  const walk::Scatter scatter(call, operands, loops, reduction, drops ? &applied_units : nullptr);
  if (accumulates) {
    STREW_TRY(accumulate::ApplyWide(scatter));
  } else if (ExcludesSelf(reduction)) {
    const walk::Scatter of_updates(scatter, ReductionKind(reduction));
    STREW_TRY(accumulate::ApplyWithoutSelf(of_updates));
  } else {
    STREW_TRY(share::Execute(scatter));
  }
  const int64_t units = plan::IndexedUnitsOf(output.element_size).count;
  return call.Succeed(drops ? applied_units / units : operands.updates.size);
}

using walk::Operands;

// Applies few updates without a schedule. Not inline, because other calls need no stack space for
// FewEntries.
[[gnu::noinline]] Status RunFew(const Call& call, const Operands& operands,
                                strew_reduction reduction, plan::IndexSpace* space) {
  walk::FewEntries few;
  if (!walk::LocateFew(call, operands.indices, *space, &few)) {
    plan::Findings findings;
    return share::CheckIndices(call, operands.indices, *space, &findings);
  }
  if (call.explains()) plan::ExplainFew(call, operands.updates.size);
  STREW_TRY(share::Copy(call, operands.data, operands.output,
                        {share::LinesOfElements(operands.updates)}));
  walk::WriteFew(walk::IndexedKernelsFor(call, operands.output, reduction), operands, few,
                 &space->inner);
  return call.Succeed(operands.updates.size / few.entries * few.count);
}

// True if rows of entries are long enough to gain from a single index for all entries.
bool HasLongRows(const plan::Tuning& tuning, bool moves, const plan::IndexedNest& entries) {
  const int64_t least = moves ? tuning.least_equal_moves : tuning.least_equal_row;
  return entries.rank == 0 || entries.loop[entries.rank - 1].count >= least;
}

// True if neighbouring batches are so near each other in updates that entries are applied one by
// one, each to all batches.
bool HasNearBatches(const plan::Tuning& tuning, const plan::IndexedNest& batch,
                    int64_t update_size) {
  if (batch.rank == 0) return false;
  const uint64_t step = Magnitude(batch.loop[batch.rank - 1].stride[plan::kUpdates]);
  return step <= static_cast<uint64_t>(tuning.longest_equal_step / update_size);
}

// True if the batches of an entry lie together in updates, so that they are better applied as one
// run: minima of [861272, 7] float64 took 0.67 x the time of going through each column (Zen 4).
// Both nests have loops.
bool LieWithinEntries(const plan::IndexedNest& batch, const plan::IndexedNest& entries) {
  return Magnitude(batch.loop[batch.rank - 1].stride[plan::kUpdates]) <
         Magnitude(entries.loop[entries.rank - 1].stride[plan::kUpdates]);
}

// Runs a call whose indices are all equal. Not inline, because other calls need no stack space for
// an index.
[[gnu::noinline]] Status RunOnOneElement(const Call& call, const Operands& operands,
                                         strew_reduction reduction, plan::IndexSpace* space,
                                         const plan::Findings& findings) {
  const plan::Tuning& tuning = plan::TuningOf(call);
  const bool moves = reduction == STREW_NONE;
  const bool is_short = !HasLongRows(tuning, moves, space->entries);
  const bool are_near =
      IsOneStep(reduction) && HasNearBatches(tuning, space->batch, operands.updates.element_size);
  if (is_short && !are_near) return RunSpace(call, operands, reduction, findings, space);
  if (call.explains()) call.Explain("All indices are equal, so that one is read.");
  const plan::Component& axis = space->component[0];
  const TensorView& indices = operands.indices;
  const int64_t first = axis.indices_base + space->batch.base[plan::kIndices];
  const int64_t index = ReadIndexAt(indices, first).value;
  space->KeepElement(WrappedIndex(index, axis.axis_size, call.settings().wrap_negative_indices));
  if (moves) space->KeepLastEntry();
  // Batches that read the same index are inner turns of their entries.
  if (is_short || space->entries.rank == 0 ||
      (are_near && LieWithinEntries(space->batch, space->entries))) {
    space->TurnBatchIntoInner();
  }
  alignas(int64_t) unsigned char zero[sizeof(int64_t)] = {};
  TensorView one = indices;
  one.data = zero;
  return RunSpace(call, {operands.data, one, operands.updates, operands.output}, reduction,
                  findings, space);
}

// Writes the last entry of each destination. Not inline, because other calls need no stack space
// for scratch.
[[gnu::noinline]] Status RunLastEntries(const Call& call, const Operands& operands,
                                        plan::IndexSpace* space) {
  const Scratch scratch(call, LastEntriesBytes(*space));
  if (scratch.memory() == nullptr) {
    return RunSpace(call, operands, STREW_NONE, plan::Findings(), space);
  }
  if (call.explains()) call.Explain("Entries that later ones replace are left out.");
  const TensorView indices = KeepLastEntries(call, operands.indices, scratch.memory(), space);
  plan::Findings findings;
  findings.out_of_range = plan::OutOfRange::kDrop;
  STREW_TRY(RunSpace(call, {operands.data, indices, operands.updates, operands.output}, STREW_NONE,
                     findings, space));
  return call.Succeed(operands.updates.size);
}

}  // namespace

Status RunChecked(const Call& call, const Operands& operands, strew_reduction reduction,
                  const plan::Findings& findings, plan::IndexSpace* space) {
  if (findings.all_equal) return RunOnOneElement(call, operands, reduction, space, findings);
  const bool moves_all = reduction == STREW_NONE &&
                         operands.updates.size > plan::kMostWithoutScratch &&
                         findings.out_of_range == plan::OutOfRange::kNothing;
  if (moves_all && HasReplacedEntries(plan::TuningOf(call), *space,
                                      plan::IndexedUnitsOf(operands.output.element_size).width)) {
    return RunLastEntries(call, operands, space);
  }
  return RunSpace(call, operands, reduction, findings, space);
}

// Checks in the order of the list in strew.h; scratch of means is asked for after duplicates.
Status RunIndexed(const Call& call, const plan::IndexedArguments& arguments,
                  plan::IndexSpace* space) {
  const Operands operands = {*arguments.data, *arguments.indices, *arguments.updates,
                             *arguments.output};
  const strew_reduction asked = arguments.reduction;
  const TensorView& updates = operands.updates;
  const bool compares = call.settings().duplicate_policy == STREW_DUPLICATE_ERROR;
  // An element has one update if the indices differ, or if there is one for each turn of the batch.
  const bool are_single = compares || space->entries.rank == 0;
  const strew_dtype dtype = operands.output.dtype;
  const strew_reduction reduction =
      are_single ? OfSingleUpdates(asked, dtype) : WithNeededFlags(asked, dtype);
  if (IsWide(asked) && !IsWide(reduction) && call.explains()) {
    call.Explain("Wide: makes no difference to this call.");
  }
  if (!compares && IsOneStep(reduction) &&
      plan::IsFew(plan::TuningOf(call), operands.indices.size, updates.size,
                  updates.element_size)) {
    return RunFew(call, operands, reduction, space);
  }
  const bool is_empty =
      operands.indices.size == 0 || updates.size == 0 || operands.output.size == 0;
  if (!is_empty && !compares && IsOneStep(reduction) &&
      share::RunDraft(call, operands, reduction, space)) {
    return call.Succeed(updates.size);
  }
  plan::Findings findings;
  if (operands.indices.size != 0) {
    STREW_TRY(share::CheckIndices(call, operands.indices, *space, &findings));
  }
  if (compares && updates.size != 0 && operands.output.size != 0) {
    STREW_TRY(accumulate::CheckIndicesDiffer(call, operands.indices, *space));
  }
  return RunChecked(call, operands, reduction, findings, space);
}

}  // namespace strew
