// SPDX-License-Identifier: Apache-2.0
#include "run/mean_table.h"

#include <algorithm>
#include <cstring>
#include <limits>

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
#include "run/sheets.h"

namespace strew::run {
namespace {

using plan::kOutput;
using plan::kUpdates;

// What a touched element may take, less what an estimate may be wrong by before its table shrinks, and
// what a table takes at most of it for each slot that is filled.
constexpr double kMostElementBytes = 38.8;
constexpr double kMostSlots = 2;
constexpr int64_t kRoomySlots = 8;
constexpr double kLeastSlots = 1.15;
// What a call may take for itself, whatever is touched.
constexpr double kFreeBytes = static_cast<double>(plan::MostScratch(1));
// What leaves room for counts in that, and for slots whose numbers have 32 bits.
constexpr int64_t kMostRowSumBytes = 8;
constexpr int64_t kMostRowEntries = int64_t{1} << 29;
static_assert(kMostRowEntries <= kernel::kMostTerms);
// What the updates of groups take that are too many for one sum.
constexpr double kMostGroupBytes = static_cast<double>(kernel::kMostTerms) * sizeof(int64_t);

}  // namespace

MeanTable::MeanTable(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                     int64_t touched)
    : call_(call),
      scatter_(scatter),
      plan_(plan),
      kernels_(kernel::MeanKernelsFor(scatter.output.dtype, call.settings().simd_target)),
      sums_(plan.Entries() < kernel::kMostTerms ? kernels_.sums : kernels_.long_sums),
      width_(scatter.output.element_size),
      entry_units_(plan.EntryUnits()),
      sum_bytes_(kernels_.sums_are_elements ? 0 : sums_.sum_size * entry_units_),
      adds_rows_(AddsRows()),
      estimate_(touched) {}

Status MeanTable::Refuse() const {
  return call_.Fail(STREW_OUT_OF_MEMORY, "memory for the counts and sums of means was refused");
}

// Whether single elements are added by rows of slots that have counts besides.
bool MeanTable::AddsRows() const {
  return entry_units_ == 1 && !kernels_.sums_are_elements && plan_.Entries() < kMostRowEntries &&
         sums_.sum_size <= kMostRowSumBytes;
}

// ---- The table ----

// Of a slot, besides its sum.
int64_t MeanTable::CountBytes() const {
  return adds_rows_ ? static_cast<int64_t>(sizeof(uint32_t)) : 0;
}

int64_t MeanTable::SlotBytes() const {
  return static_cast<int64_t>(sizeof(Slot)) + sum_bytes_ + CountBytes();
}

// Entries that meet the same places again and again gain by searches that end at once, which CPUs
// foresee: 8 ns each, so 2.
bool MeanTable::MayBeRoomy(int64_t touched, int64_t slot_bytes) const {
  return touched <= plan_.Entries() / kRoomySlots &&
         static_cast<double>(touched) * static_cast<double>(kRoomySlots * slot_bytes) <=
             kFreeBytes / 2;
}

// Of which slot_bytes are taken now.
int64_t MeanTable::SlotsFor(int64_t touched, int64_t slot_bytes) const {
  if (MayBeRoomy(touched, slot_bytes)) return touched * kRoomySlots + 2;
  const double element_bytes = kMostElementBytes * static_cast<double>(entry_units_);
  const double factor =
      std::clamp(element_bytes / static_cast<double>(SlotBytes()), kLeastSlots, kMostSlots);
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
  if (!Resize(SlotsFor(estimate_, sizeof(Slot)))) return Refuse();
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
// may have, and so might two tables, in which case all is counted once more.
Status MeanTable::Shrink() {
  constexpr int64_t kTolerated = 40;  // one slot of so many
  const int64_t enough = SlotsFor(touched_, SlotBytes());
  const bool shrinks = slots_ - enough > slots_ / kTolerated &&
                       static_cast<double>(slots_ * SlotBytes()) > kFreeBytes;
  if (!shrinks) return STREW_OK;
  const auto tables = static_cast<double>(slots_ + enough) * sizeof(Slot);
  if (tables <= MostBytes()) return Resize(enough) ? Status(STREW_OK) : Refuse();
  estimate_ = touched_;
  Scratch().Swap(&table_);
  slot_ = nullptr;
  slots_ = touched_ = applied_ = 0;
  return Count();
}

double MeanTable::MostBytes() const {
  return std::max(kMostElementBytes * static_cast<double>(touched_ * entry_units_), kFreeBytes);
}

int64_t MeanTable::GroupBytes() const {
  return applied_ * static_cast<int64_t>(sizeof(int64_t)) +
         (touched_ + 1) * static_cast<int64_t>(sizeof(Group)) +
         slots_ * static_cast<int64_t>(sizeof(int32_t));
}

// Whether the updates of a place are brought together: they are runs, and what touched elements may
// take is enough.
bool MeanTable::GroupsPay() const {
  constexpr int64_t kLeastUnits = 8;
  const int64_t bytes = GroupBytes() + slots_ * static_cast<int64_t>(sizeof(Slot));
  return entry_units_ >= kLeastUnits &&
         static_cast<double>(bytes) <= std::min(MostBytes(), kMostGroupBytes);
}

unsigned char* MeanTable::OutputOf(int64_t place) const {
  return scatter_.output.data + (plan_.outer.base[kOutput] + place) * width_;
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
    body(OutputOf(slot.place) + inner[kOutput] * width_, done);
    done += plan_.run.count;
  });
}

template <class Body>
Status MeanTable::ForEachTouched(Body body) const {
  return InParts(slots_, [&](const plan::Turns& part) {
    for (int64_t i = part.first; i < part.first + part.count; ++i) {
      const int64_t next = i + kAhead;
      if (next < slots_ && slot_[next].count != 0) Fetch(OutputOf(slot_[next].place));
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
      sums_.finish(
          {output, stride, output, stride, plan_.run.count, slot.count + (excludes_self ? 0 : 1)});
    });
  });
}

// Adds rows of single elements to the sums of their slots.
class MeanTable::RowAdder {
 public:
  RowAdder(const MeanTable& table, const kernel::CountedSums& sums)
      : table_(table), sums_(sums), offset_width_(OffsetWidthOf(table.plan_.whole_span)) {}

  EntrySink sink() {
    const int64_t base = table_.plan_.outer.base[kOutput] * table_.width_;
    return SinkOf(this, offset_width_, table_.scatter_.output.data + base);
  }

  void Add(const EntryRow& row) {
    if (offset_width_ == kernel::kOffset32) {
      AddRow(row, static_cast<const int32_t*>(row.offsets));
    } else {
      AddRow(row, static_cast<const int64_t*>(row.offsets));
    }
  }

 private:
  template <class Offset>
  void AddRow(const EntryRow& row, const Offset* offsets) const {
    int32_t slots[EntrySink::kMostColumns];
    for (int64_t c = 0; c < row.columns; ++c) {
      const int64_t upcoming = row.output + offsets[std::min(c + kAhead, row.columns - 1)];
      const int64_t slot = SlotOf(Hash(static_cast<uint64_t>(upcoming)), table_.slots_);
      __builtin_prefetch(table_.slot_ + slot);
      __builtin_prefetch(sums_.sums + slot * table_.sum_bytes_, 1);
      __builtin_prefetch(sums_.counts + slot, 1);
      const bool dropped = offsets[c] == std::numeric_limits<Offset>::min();
      slots[c] = dropped
                     ? std::numeric_limits<int32_t>::min()
                     : static_cast<int32_t>(table_.Find(row.output + offsets[c]) - table_.slot_);
    }
    kernel::SheetArguments sheet = {};
    sheet.offsets = slots;
    sheet.updates = table_.scatter_.updates.data + row.updates * table_.width_;
    sheet.columns = row.columns;
    sheet.updates_column_stride = row.updates_stride;
    table_.kernels_.add_each(sums_, sheet);
  }

  const MeanTable& table_;
  const kernel::CountedSums sums_;
  const kernel::OffsetWidth offset_width_;
};

Status MeanTable::ReduceInSums(bool in_place) const {
  const Scratch scratch(call_, static_cast<size_t>(slots_ * (sum_bytes_ + CountBytes())));
  if (scratch.memory() == nullptr) return Refuse();
  unsigned char* const sums = scratch.memory();
  uint32_t* const counts = reinterpret_cast<uint32_t*>(sums + slots_ * sum_bytes_);
  const bool excludes_self = ExcludesSelf(scatter_.reduction);
  alignas(16) unsigned char identity[16];
  StoreIdentity(scatter_.output.dtype, STREW_MEAN, identity);
  if (!in_place) STREW_TRY(Copy(call_, scatter_.data, scatter_.output));
  const int64_t stride = plan_.run.stride[kOutput];
  const int64_t sum_size = sums_.sum_size;
  STREW_TRY(ForEachTouched([&](const Slot& slot, int64_t i) {
    ForEachRun(slot, [&](unsigned char* output, int64_t done) {
      sums_.begin(sums + i * sum_bytes_ + done * sum_size, excludes_self ? identity : output,
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
        table->sums_.add(sum, table->scatter_.updates.data + first, plan.run.stride[kUpdates],
                         plan.run.count);
        sum += plan.run.count * table->sums_.sum_size;
      });
    }
  };
  if (adds_rows_) {
    std::memset(counts, 0, static_cast<size_t>(slots_) * sizeof(uint32_t));
    RowAdder adder(*this, {sums, counts});
    GiveSheets(call_, scatter_, plan_, adder.sink());
  } else {
    ForEachEntry(call_, scatter_, plan_, Body{this, sums});
  }
  return ForEachTouched([&](const Slot& slot, int64_t i) {
    ForEachRun(slot, [&](unsigned char* output, int64_t done) {
      sums_.finish({output, stride, sums + i * sum_bytes_ + done * sum_size, 1, plan_.run.count,
                    slot.count + (excludes_self ? 0 : 1)});
    });
  });
}

Status MeanTable::Run(bool in_place) {
  STREW_TRY(Count());
  if (scatter_.applied_units != nullptr) *scatter_.applied_units += applied_ * entry_units_;
  const Scratch order(call_, GroupsPay() ? static_cast<size_t>(GroupBytes()) : 0);
  if (order.memory() != nullptr) return ReduceGroups(in_place, order.memory());
  if (kernels_.sums_are_elements) return ReduceInOutput(in_place);
  STREW_TRY(Shrink());
  return ReduceInSums(in_place);
}

}  // namespace strew::run
