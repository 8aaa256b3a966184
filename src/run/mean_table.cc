// SPDX-License-Identifier: Apache-2.0
#include "run/mean_table.h"

#include <algorithm>
#include <cstring>

#include "base/identity.h"
#include "base/reduction.h"
#include "plan/cut.h"
#include "plan/staging.h"
#include "run/apply.h"
#include "run/box.h"
#include "run/entry_walk.h"
#include "run/exclude_self.h"
#include "run/parallel.h"
#include "run/seen.h"

namespace strew::run {
namespace {

using plan::kOutput;
using plan::kUpdates;

// What a touched element may take, less what an estimate may be wrong by, and what a table takes at
// most of it for each slot that is filled.
constexpr double kMostElementBytes = 38.8;
constexpr double kMostSlots = 2;
constexpr double kLeastSlots = 1.15;
// What a call may take for itself, whatever is touched.
constexpr double kFreeBytes = static_cast<double>(plan::MostScratch(1));
// Of a run.
constexpr int64_t kMostFetched = 1024;
// Slots ahead that the output of one is fetched.
constexpr int64_t kAhead = 16;

}  // namespace

MeanTable::MeanTable(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                     int64_t touched)
    : call_(call),
      scatter_(scatter),
      plan_(plan),
      kernels_(kernel::MeanKernelsFor(scatter.output.dtype, call.settings().simd_target)),
      width_(scatter.output.element_size),
      entry_units_(plan.EntryUnits()),
      sum_bytes_(kernels_.sums_are_elements ? 0 : kernels_.sum_size * entry_units_),
      estimate_(touched) {}

Status MeanTable::Refuse() const {
  return call_.Fail(STREW_OUT_OF_MEMORY, "memory for the counts and sums of means was refused");
}

// ---- The table ----

int64_t MeanTable::SlotsFor(int64_t touched) const {
  const double units = static_cast<double>(entry_units_);
  const double slot_bytes = static_cast<double>(sizeof(Slot)) + static_cast<double>(sum_bytes_);
  const double factor = std::clamp(kMostElementBytes * units / slot_bytes, kLeastSlots, kMostSlots);
  return static_cast<int64_t>(static_cast<double>(touched) * factor) + 2;
}

MeanTable::Slot* MeanTable::Find(int64_t place) const {
  int64_t i = SlotOf(Hash(static_cast<uint64_t>(place)), slots_);
  while (slot_[i].count != 0 && slot_[i].place != place) {
    if (++i == slots_) i = 0;
  }
  return &slot_[i];
}

bool MeanTable::Resize(int64_t slots) {
  const int64_t old_slots = slots_;
  const Slot* const old = slot_;
  Scratch table(call_, static_cast<size_t>(slots) * sizeof(Slot));
  if (table.memory() == nullptr) return false;
  slots_ = slots;
  slot_ = reinterpret_cast<Slot*>(table.memory());
  std::memset(table.memory(), 0, static_cast<size_t>(slots) * sizeof(Slot));
  for (int64_t i = 0; i < old_slots; ++i) {
    if (old[i].count != 0) *Find(old[i].place) = old[i];
  }
  table_.Swap(&table);
  return true;
}

Status MeanTable::Count() {
  if (!Resize(SlotsFor(estimate_))) return Refuse();
  struct Body {
    MeanTable* table;
    bool* refused;
    void Fetch(int64_t place) const {
      const uint64_t hash = Hash(static_cast<uint64_t>(place));
      __builtin_prefetch(table->slot_ + SlotOf(hash, table->slots_), 1);
    }
    void Take(int64_t place, int64_t) const {
      if (*refused) return;
      Slot* const slot = table->Find(place);
      ++table->applied_;
      if (slot->count++ != 0) return;
      slot->place = place;
      // Where the estimate was too low.
      if (++table->touched_ > table->slots_ - table->slots_ / 16 - 1) {
        *refused = !table->Resize(table->slots_ + table->slots_ / 4 + 1);
      }
    }
  };
  bool refused = false;
  ForEachEntry(call_, scatter_, plan_, Body{this, &refused});
  return refused ? Refuse() : Status(STREW_OK);
}

// Each slot will have sums. Those of slots that an estimate made too many might be more than a call
// may have.
Status MeanTable::Shrink() {
  constexpr int64_t kTolerated = 40;  // one slot of so many
  const int64_t bytes = slots_ * (static_cast<int64_t>(sizeof(Slot)) + sum_bytes_);
  const int64_t enough = SlotsFor(touched_);
  const bool shrinks =
      slots_ - enough > slots_ / kTolerated && static_cast<double>(bytes) > kFreeBytes;
  return shrinks && !Resize(enough) ? Refuse() : Status(STREW_OK);
}

int64_t MeanTable::OrderBytes() const {
  return (slots_ + applied_) * static_cast<int64_t>(sizeof(int64_t));
}

// Whether the updates of a place are brought together: they are runs of which the output cannot
// hold the sums, and what touched elements may take is enough.
bool MeanTable::GroupsPay() const {
  constexpr int64_t kLeastUnits = 8;
  const double most = kMostElementBytes * static_cast<double>(touched_ * entry_units_);
  const int64_t bytes = OrderBytes() + slots_ * static_cast<int64_t>(sizeof(Slot));
  return !kernels_.sums_are_elements && entry_units_ >= kLeastUnits &&
         static_cast<double>(bytes) <= std::max(most, kFreeBytes);
}

unsigned char* MeanTable::OutputOf(const Slot& slot) const {
  return scatter_.output.data + (plan_.outer.base[kOutput] + slot.place) * width_;
}

void MeanTable::Fetch(const unsigned char* output) const {
  constexpr int64_t kLine = 64;
  const int64_t bytes = plan_.run.stride[kOutput] == 1 ? plan_.run.count * width_ : 1;
  for (int64_t i = 0; i < std::min(bytes, kMostFetched); i += kLine) {
    __builtin_prefetch(output + i, 1);
  }
}

template <class Body>
void MeanTable::ForEachRun(const Slot& slot, Body body) const {
  int64_t done = 0;
  plan::ForEachTurn(plan_.inner, plan_.inner.rank, [&](const int64_t* inner) {
    body(OutputOf(slot) + inner[kOutput] * width_, done);
    done += plan_.run.count;
  });
}

template <class Body>
Status MeanTable::ForEachTouched(Body body) const {
  constexpr double kNanosecondsPerSlot = 3;
  const double bytes = static_cast<double>(touched_ * entry_units_ * width_);
  const int64_t tasks = TasksFor(
      call_, static_cast<double>(slots_) * kNanosecondsPerSlot + bytes * kNanosecondsPerByte);
  plan::Cut cut;
  cut.Append(slots_, 1, PartsFor(tasks));
  return ForEachPart(call_, tasks, cut.parts(), [&](int64_t part, int64_t) {
    const plan::Turns slots = cut.TurnsOf(part, 0);
    for (int64_t i = slots.first; i < slots.first + slots.count; ++i) {
      const int64_t next = std::min(i + kAhead, slots_ - 1);
      if (slot_[next].count != 0) Fetch(OutputOf(slot_[next]));
      if (slot_[i].count != 0) body(slot_[i], i);
    }
  });
}

// ---- The sums ----

// They are those of STREW_ADD.
Status MeanTable::ReduceInOutput(bool in_place) const {
  const bool excludes_self = ExcludesSelf(scatter_.reduction);
  const IndexedScatter adding = {scatter_.data, scatter_.indices, scatter_.updates, scatter_.output,
                                 STREW_ADD};
  if (excludes_self) {
    STREW_TRY(StoreIdentities(call_, adding, plan_, STREW_ADD, in_place));
  }
  STREW_TRY(Apply(call_, adding, plan_, in_place || excludes_self));
  return ForEachTouched([&](const Slot& slot, int64_t) {
    ForEachRun(slot, [&](unsigned char* output, int64_t) {
      const int64_t stride = plan_.run.stride[kOutput];
      kernels_.finish(
          {output, stride, output, stride, plan_.run.count, slot.count + (excludes_self ? 0 : 1)});
    });
  });
}

// All updates of a place together, in order: its elements are gone through once, with sums that stay
// in the L1 cache. `order` has room for an update of each entry.
void MeanTable::ReduceGroup(const Slot& slot, const int64_t* order) const {
  constexpr int64_t kBytes = 8192;
  unsigned char sums[kBytes];
  alignas(16) unsigned char identity[16];
  const bool excludes_self = ExcludesSelf(scatter_.reduction);
  if (excludes_self) StoreIdentity(scatter_.output.dtype, STREW_MEAN, identity);
  const int64_t stride = plan_.run.stride[kOutput];
  const int64_t updates_stride = plan_.run.stride[kUpdates];
  const int64_t most = kBytes / kernels_.sum_size;
  plan::ForEachTurn(plan_.inner, plan_.inner.rank, [&](const int64_t* inner) {
    for (int64_t r = 0; r < plan_.run.count; r += most) {
      const int64_t count = std::min(most, plan_.run.count - r);
      unsigned char* const output = OutputOf(slot) + (inner[kOutput] + r * stride) * width_;
      kernels_.begin(sums, excludes_self ? identity : output, excludes_self ? 0 : stride, count);
      for (int64_t i = 0; i < slot.count; ++i) {
        const int64_t update = order[i] + inner[kUpdates] + r * updates_stride;
        kernels_.add(sums, scatter_.updates.data + update * width_, updates_stride, count);
      }
      kernels_.finish({output, stride, sums, 1, count, slot.count + (excludes_self ? 0 : 1)});
    }
  });
}

Status MeanTable::ReduceGroups(bool in_place, unsigned char* memory) const {
  int64_t* const first = reinterpret_cast<int64_t*>(memory);
  int64_t* const order = first + slots_;
  int64_t next = 0;
  for (int64_t i = 0; i < slots_; ++i) {
    first[i] = next;
    next += slot_[i].count;
  }
  struct Body {
    const MeanTable* table;
    int64_t* first;
    int64_t* order;
    void Fetch(int64_t) const {}
    void Take(int64_t place, int64_t update) const {
      order[first[table->Find(place) - table->slot_]++] = update;
    }
  };
  ForEachEntry(call_, scatter_, plan_, Body{this, first, order});
  if (!in_place) STREW_TRY(Copy(call_, scatter_.data, scatter_.output));
  return ForEachTouched([&](const Slot& slot, int64_t i) {
    const int64_t next = std::min(i + kAhead, slots_ - 1);
    if (slot_[next].count != 0) {
      const int64_t update = order[first[next] - slot_[next].count];
      kernel::PrefetchOnce(scatter_.updates.data + update * width_,
                           std::min(plan_.run.count * width_, kMostFetched));
    }
    ReduceGroup(slot, order + first[i] - slot.count);
  });
}

Status MeanTable::ReduceInSums(bool in_place) const {
  const Scratch scratch(call_, static_cast<size_t>(slots_ * sum_bytes_));
  if (scratch.memory() == nullptr) return Refuse();
  unsigned char* const sums = scratch.memory();
  const bool excludes_self = ExcludesSelf(scatter_.reduction);
  alignas(16) unsigned char identity[16];
  StoreIdentity(scatter_.output.dtype, STREW_MEAN, identity);
  if (!in_place) STREW_TRY(Copy(call_, scatter_.data, scatter_.output));
  const int64_t stride = plan_.run.stride[kOutput];
  const int64_t sum_size = kernels_.sum_size;
  STREW_TRY(ForEachTouched([&](const Slot& slot, int64_t i) {
    ForEachRun(slot, [&](unsigned char* output, int64_t done) {
      kernels_.begin(sums + i * sum_bytes_ + done * sum_size, excludes_self ? identity : output,
                     excludes_self ? 0 : stride, plan_.run.count);
    });
  }));
  struct Body {
    const MeanTable* table;
    unsigned char* sums;
    void Fetch(int64_t place) const {
      const uint64_t hash = Hash(static_cast<uint64_t>(place));
      const int64_t slot = SlotOf(hash, table->slots_);
      __builtin_prefetch(table->slot_ + slot);
      __builtin_prefetch(sums + slot * table->sum_bytes_, 1);
    }
    void Take(int64_t place, int64_t updates) const {
      const plan::IndexedPlan& plan = table->plan_;
      unsigned char* sum = sums + (table->Find(place) - table->slot_) * table->sum_bytes_;
      plan::ForEachTurn(plan.inner, plan.inner.rank, [&](const int64_t* inner) {
        const int64_t first = (updates + inner[kUpdates]) * table->width_;
        table->kernels_.add(sum, table->scatter_.updates.data + first, plan.run.stride[kUpdates],
                            plan.run.count);
        sum += plan.run.count * table->kernels_.sum_size;
      });
    }
  };
  ForEachEntry(call_, scatter_, plan_, Body{this, sums});
  return ForEachTouched([&](const Slot& slot, int64_t i) {
    ForEachRun(slot, [&](unsigned char* output, int64_t done) {
      kernels_.finish({output, stride, sums + i * sum_bytes_ + done * sum_size, 1, plan_.run.count,
                       slot.count + (excludes_self ? 0 : 1)});
    });
  });
}

Status MeanTable::Run(bool in_place) {
  STREW_TRY(Count());
  if (scatter_.applied_units != nullptr) *scatter_.applied_units += applied_ * entry_units_;
  const Scratch order(call_, GroupsPay() ? static_cast<size_t>(OrderBytes()) : 0);
  if (order.memory() != nullptr) return ReduceGroups(in_place, order.memory());
  if (kernels_.sums_are_elements) return ReduceInOutput(in_place);
  STREW_TRY(Shrink());
  return ReduceInSums(in_place);
}

}  // namespace strew::run
