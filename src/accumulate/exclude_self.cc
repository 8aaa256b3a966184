// SPDX-License-Identifier: Apache-2.0
#include "accumulate/exclude_self.h"

#include <limits>

#include "base/identity.h"
#include "share/boxes.h"
#include "accumulate/destination_set.h"
#include "accumulate/entry_rows.h"
#include "walk/entries.h"
#include "share/filter.h"

namespace strew::accumulate {
namespace {

// Sends the first update of each destination to a filter, or all others.
class FirstOrOthers {
 public:
  FirstOrOthers(const Call& call, const walk::IndexedScatter& scatter,
                const plan::IndexSpace& space, const plan::MemoryHints& hints,
                const plan::DestinationNumbers& numbers, DestinationSet* set, bool takes_first)
      : filter_(call, scatter, space, hints, plan::kEverywhere),
        numbers_(numbers),
        set_(set),
        takes_first_(takes_first) {}

  walk::EntrySink sink() {
    const walk::EntrySink like = filter_.sink();
    return walk::SinkOf(this, like.offset_width, like.origin);
  }

  void Add(const walk::EntryRow& row) {
    if (filter_.sink().offset_width == kernel::kOffset32) {
      Pick<int32_t>(row);
    } else {
      Pick<int64_t>(row);
    }
  }

  void Finish() { filter_.Finish(); }

 private:
  // What is not taken counts as dropped.
  template <class Offset>
  void Pick(walk::EntryRow row) {
    constexpr Offset kDropped = std::numeric_limits<Offset>::min();
    Offset taken[walk::EntrySink::kMostColumns];
    const Offset* offsets = static_cast<const Offset*>(row.offsets);
    for (int64_t c = 0; c < row.columns; ++c) {
      taken[c] = kDropped;
      if (offsets[c] == kDropped) continue;
      const bool is_first = set_->Insert(numbers_.Of(row.output + offsets[c]));
      if (is_first == takes_first_) taken[c] = offsets[c];
    }
    row.offsets = taken;
    filter_.Add(row);
  }

  share::Filter filter_;
  const plan::DestinationNumbers& numbers_;
  DestinationSet* const set_;
  const bool takes_first_;
};

// The filter is on the stack of this call alone.
[[gnu::noinline]] void ApplySome(const Call& call, const walk::IndexedScatter& scatter,
                                 const plan::IndexSpace& space,
                                 const plan::DestinationNumbers& numbers, DestinationSet* set,
                                 bool takes_first) {
  set->ForgetInserted();
  const plan::MemoryHints hints = plan::MemoryHintsFor(
      space, share::CircumstancesOf(call, scatter, /*in_place=*/true, /*has_scratch=*/false));
  FirstOrOthers some(call, scatter, space, hints, numbers, set, takes_first);
  walk::GiveSheets(call, scatter, space, some.sink());
  some.Finish();
}

}  // namespace

Status StoreIdentities(const walk::IndexedScatter& scatter, strew_reduction kind,
                       const share::Application& application, bool in_place,
                       plan::IndexSpace* space) {
  // Runs find a run of them, if it fits: kernels know no better way to repeat one.
  constexpr int64_t kBytes = 4096;
  alignas(64) unsigned char identities[kBytes];
  const int64_t width = scatter.output.element_size;
  const bool fits = space->run.count <= kBytes / width;
  for (int64_t i = 0; i < (fits ? space->run.count : 1); ++i) {
    StoreIdentity(scatter.output.dtype, kind, identities + i * width);
  }
  TensorView updates = scatter.updates;
  updates.data = identities;
  // The index space is changed for a moment, because a copy of it would take 6 KiB of stack.
  const plan::UpdatesLayout layout = space->updates_layout();
  plan::UpdatesLayout one_update;
  one_update.run = fits ? 1 : 0;
  space->SetUpdatesLayout(one_update);
  const Status status = application.Run(
      {scatter.data, scatter.indices, updates, scatter.output, STREW_NONE}, *space, in_place);
  space->SetUpdatesLayout(layout);
  return status;
}

Status ApplyAfterFirst(const Call& call, const walk::IndexedScatter& scatter,
                       const plan::IndexSpace& space, bool in_place) {
  const plan::DestinationNumbers numbers(space);
  DestinationSet set(call, numbers.range(), space.Entries(), space.Entries());
  if (!CollectDestinations(call, scatter, space, numbers, &set)) {
    return call.Fail(STREW_OUT_OF_MEMORY,
                     "memory to tell the first update of an element was refused");
  }
  if (!in_place) STREW_TRY(share::Copy(call, scatter.data, scatter.output));
  walk::IndexedScatter replacing = scatter;
  replacing.reduction = STREW_NONE;
  ApplySome(call, replacing, space, numbers, &set, true);
  ApplySome(call, scatter, space, numbers, &set, false);
  return STREW_OK;
}

}  // namespace strew::accumulate
