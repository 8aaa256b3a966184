// SPDX-License-Identifier: Apache-2.0
// Reductions of one step that exclude old values: they start from the identity, or from the first
// update of each element.
#include "accumulate/accumulate.h"

#include "base/identity.h"
#include "accumulate/destination_set.h"
#include "accumulate/entry_rows.h"
#include "walk/entries.h"
#include "share/share.h"
#include "share/filter.h"

namespace strew::accumulate {
namespace {

// Moves the first update of each destination, and applies all others. A filter keeps the first
// updates and another filter the others; first updates are always written before others.
class FirstAndOthers {
 public:
  FirstAndOthers(const walk::Scatter& moves, const walk::Scatter& scatter,
                 const plan::DestinationNumbers& numbers, DestinationSet* set)
      : first_(moves, share::HintsFor(moves), plan::kEverywhere),
        others_(scatter, share::HintsFor(scatter), plan::kEverywhere),
        numbers_(numbers),
        set_(set) {}

  walk::EntrySink sink() {
    const walk::EntrySink like = others_.sink();
    return walk::SinkOf(this, like.offset_width, like.origin);
  }

  void Add(const walk::EntryRow& row) {
    if (others_.sink().offset_width == kernel::kOffset32) {
      Part<int32_t>(row);
    } else {
      Part<int64_t>(row);
    }
  }

  void Finish() {
    first_.Finish();
    others_.Finish();
  }

 private:
  // Passes each entry of a row to one of the filters, and marks it as dropped for the other. There
  // is no branch on the answer of the set, because the CPU could not predict it.
  template <class Offset>
  void Part(walk::EntryRow row) {
    constexpr Offset kDropped = kernel::kDropped<Offset>;
    const Offset* const offsets = static_cast<const Offset*>(row.offsets);
    Offset taken[walk::EntrySink::kMostColumns];
    Offset refused;
    for (int64_t c = 0; c < row.columns; ++c) {
      taken[c] = kDropped;
      if (offsets[c] == kDropped) continue;
      const bool is_first = set_->Insert(numbers_.Of(row.output + offsets[c]));
      *(is_first ? taken + c : &refused) = offsets[c];
    }
    row.offsets = taken;
    first_.Add(row);
    if (!others_.HasRoomFor(row.columns)) first_.Flush();
    for (int64_t c = 0; c < row.columns; ++c) {
      taken[c] = taken[c] == kDropped ? offsets[c] : kDropped;
    }
    others_.Add(row);
  }

  share::Filter first_;
  share::Filter others_;
  const plan::DestinationNumbers& numbers_;
  DestinationSet* const set_;
};

// Not inline, so that only this call has filters on its stack.
[[gnu::noinline]] void ApplyApart(const walk::Scatter& scatter,
                                  const plan::DestinationNumbers& numbers, DestinationSet* set) {
  const walk::Scatter moves(scatter, STREW_NONE);
  FirstAndOthers parts(moves, scatter, numbers, set);
  walk::GiveEntries(scatter, parts.sink());
  parts.Finish();
}

// Stores the identity in every element that has an update, with the schedule of the updates.
[[gnu::noinline]] Status ReplaceByIdentities(const walk::Scatter& scatter,
                                             const share::Execution& execution) {
  // Runs read a run of identities if it fits: kernels have no faster way to repeat one.
  constexpr int64_t kBytes = 4096;
  alignas(64) unsigned char identities[kBytes];
  const int64_t step = StoreIdentities(scatter.operands.output.dtype, scatter.reduction,
                                       scatter.loops.run.count, kBytes, identities);
  TensorView updates = scatter.operands.updates;
  updates.data = identities;
  plan::EntryLoops loops = scatter.loops;
  loops.RepeatUpdate(step);
  return execution.Run(walk::Scatter(scatter, STREW_NONE, updates, loops));
}

// The first update of an element replaces it, and all others are applied. If an allocation fails,
// *done is false and nothing is written.
Status ApplyAfterFirst(const walk::Scatter& scatter, bool* done) {
  const Call& call = scatter.call;
  const plan::DestinationNumbers numbers(scatter.loops);
  DestinationSet set = CollectDestinations(scatter, numbers, scatter.loops.Entries());
  *done = set.ok();
  if (!*done) return STREW_OK;
  if (call.explains()) call.Explain("First updates are told from others: they replace old values.");
  STREW_TRY(share::Copy(call, scatter.operands.data, scatter.operands.output));
  ApplyApart(scatter, numbers, &set);
  return STREW_OK;
}

// True if telling first updates from others costs less than writing long rows twice, which several
// tasks can share. Not for bool: first updates would be moved as they are, and not as 0 or 1.
bool RowsAreLong(const walk::Scatter& scatter) {
  const int64_t entries = scatter.loops.Entries();
  if (scatter.operands.output.dtype == STREW_BOOL || plan::Machine(scatter.call).workers != 1 ||
      scatter.loops.run.count * scatter.width < scatter.tuning.least_replaced_row ||
      entries > plan::MostScratch(1) / int64_t{sizeof(uint64_t)}) {
    return false;
  }
  const int64_t range = plan::DestinationNumbers(scatter.loops).range();
  return DestinationSet::MostBytes(range, entries) <= plan::MostScratch(1);
}

}  // namespace

Status ApplyWithoutSelf(const walk::Scatter& scatter) {
  const bool has_identity = HasIdentity(scatter.operands.output.dtype, scatter.reduction);
  if (!has_identity || RowsAreLong(scatter)) {
    bool done = false;
    STREW_TRY(ApplyAfterFirst(scatter, &done));
    if (done) return STREW_OK;
    if (!has_identity) {
      return scatter.call.Fail(STREW_OUT_OF_MEMORY,
                               "memory to tell the first update of an element was refused");
    }
  }
  const share::Execution execution(scatter);
  if (scatter.call.explains()) {
    scatter.call.Explain("Identities replace old values first, written %s the caches.",
                         execution.streams() ? "past" : "through");
  }
  STREW_TRY(ReplaceByIdentities(scatter, execution));
  return execution.Run(scatter, /*is_copied=*/true);
}

}  // namespace strew::accumulate
