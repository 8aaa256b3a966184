// SPDX-License-Identifier: Apache-2.0
#include "run/exclude_self.h"

#include <cinttypes>
#include <limits>

#include "base/identity.h"
#include "run/apply.h"
#include "run/box.h"
#include "run/ranges.h"
#include "run/scratch.h"
#include "run/seen.h"
#include "run/sheets.h"
#include "run/sieve.h"

namespace strew::run {
namespace {

using plan::kUpdates;

// All updates are the one at the beginning.
void ReadOneUpdate(plan::IndexedPlan* plan) {
  for (int i = 0; i < plan->outer.rank; ++i) plan->outer.loop[i].stride[kUpdates] = 0;
  for (int i = 0; i < plan->inner.rank; ++i) plan->inner.loop[i].stride[kUpdates] = 0;
  plan->outer.base[kUpdates] = 0;
  plan->inner.base[kUpdates] = 0;
  plan->row.stride[kUpdates] = 0;
  plan->column.stride[kUpdates] = 0;
  plan->run.stride[kUpdates] = 0;
}

// Room for all places of a plan from its lowest one on.
Seen SeenPlaces(const plan::IndexedPlan& plan) {
  return Seen(plan.reach + plan.whole_span + 1, plan.Entries());
}

// Sends the first update of each destination to one sieve and the others to another one, row by row.
class FirstReplaces {
 public:
  FirstReplaces(const Call& call, const IndexedScatter& replacing, const IndexedScatter& reducing,
                const plan::IndexedPlan& plan, Seen* seen)
      : replacing_(call, replacing, plan, kEverywhere),
        reducing_(call, reducing, plan, kEverywhere),
        lowest_(-plan.reach),
        seen_(seen) {}

  EntrySink sink() {
    const EntrySink like = replacing_.sink();
    return SinkOf(this, like.offset_width, like.origin);
  }

  void Add(const EntryRow& row) {
    if (replacing_.sink().offset_width == kernel::kOffset32) {
      Split<int32_t>(row);
    } else {
      Split<int64_t>(row);
    }
  }

  void Finish() {
    replacing_.Finish();
    reducing_.Finish();
  }

 private:
  // What goes to the other one counts as dropped.
  template <class Offset>
  void Split(EntryRow row) {
    constexpr Offset kDropped = std::numeric_limits<Offset>::min();
    Offset first[EntrySink::kMostColumns];
    Offset other[EntrySink::kMostColumns];
    const Offset* offsets = static_cast<const Offset*>(row.offsets);
    for (int64_t c = 0; c < row.columns; ++c) {
      first[c] = kDropped;
      other[c] = kDropped;
      if (offsets[c] == kDropped) continue;
      const int64_t destination = row.output + offsets[c] - lowest_;
      (seen_->Add(static_cast<uint64_t>(destination)) ? first : other)[c] = offsets[c];
    }
    row.offsets = first;
    replacing_.Add(row);
    replacing_.Flush();
    row.offsets = other;
    reducing_.Add(row);
    reducing_.Flush();
  }

  Sieve replacing_;
  Sieve reducing_;
  const int64_t lowest_;
  Seen* const seen_;
};

}  // namespace

Status StoreIdentities(const Call& call, const IndexedScatter& scatter,
                       const plan::IndexedPlan& plan, strew_reduction kind, bool in_place) {
  // Runs find a run of them, if it fits: kernels know no better way to repeat one.
  constexpr int64_t kBytes = 4096;
  alignas(64) unsigned char identities[kBytes];
  const int64_t width = scatter.output.element_size;
  plan::IndexedPlan of_identities = plan;
  ReadOneUpdate(&of_identities);
  const bool fits = plan.run.count <= kBytes / width;
  if (fits) of_identities.run.stride[kUpdates] = 1;
  for (int64_t i = 0; i < (fits ? plan.run.count : 1); ++i) {
    StoreIdentity(scatter.output.dtype, kind, identities + i * width);
  }
  TensorView updates = scatter.updates;
  updates.data = identities;
  return Apply(call, {scatter.data, scatter.indices, updates, scatter.output, STREW_NONE},
               of_identities, in_place);
}

int64_t ScratchAfterFirst(const plan::IndexedPlan& plan) {
  return SmallScratch::Requested(SeenPlaces(plan).bytes());
}

Status ApplyAfterFirst(const Call& call, const IndexedScatter& scatter,
                       const plan::IndexedPlan& plan, bool in_place) {
  Seen seen = SeenPlaces(plan);
  const SmallScratch scratch(call, seen.bytes());
  if (scratch.memory() == nullptr) {
    return call.Fail(STREW_OUT_OF_MEMORY,
                     "%" PRId64 " bytes to tell the first update of an element were refused",
                     seen.bytes());
  }
  if (!in_place) STREW_TRY(Copy(call, scatter.data, scatter.output));
  seen.Begin(scratch.memory());
  IndexedScatter replacing = scatter;
  replacing.reduction = STREW_NONE;
  FirstReplaces first_replaces(call, replacing, scatter, plan, &seen);
  GiveSheets(call, scatter, plan, first_replaces.sink());
  first_replaces.Finish();
  return STREW_OK;
}

}  // namespace strew::run
