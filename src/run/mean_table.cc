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
#include "run/parallel.h"
#include "run/sheets.h"

namespace strew::run {
namespace {

using plan::kOutput;
using plan::kUpdates;

// What a touched element may take, and a call for itself whatever is touched.
constexpr double kMostElementBytes = 40;
constexpr double kFreeBytes = static_cast<double>(plan::MostScratch(1));
// A number in the set takes 12 bytes, in a sorted list 12 as well, and a count 8.
constexpr int64_t kNumberBytes = 20;
// The set itself takes so much at most.
constexpr int64_t kSetBytes = int64_t{3} << 19;
// Destinations of a sorted list before it is known that as many are distinct.
constexpr int64_t kKept = int64_t{1} << 16;
// What leaves room for counts of 32 bits beside a sum, and for numbers of 32 bits.
constexpr int64_t kMostRowSumBytes = 8;
constexpr int64_t kMostRowEntries = int64_t{1} << 29;
static_assert(kMostRowEntries <= kernel::kMostTerms);
// What the updates of groups take that are too many for one sum.
constexpr double kMostGroupBytes = static_cast<double>(kernel::kMostTerms) * sizeof(int64_t);

}  // namespace

MeanTable::MeanTable(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan)
    : call_(call),
      scatter_(scatter),
      plan_(plan),
      kernels_(kernel::MeanKernelsFor(scatter.output.dtype, call.settings().simd_target)),
      sums_(plan.Entries() < kernel::kMostTerms ? kernels_.sums : kernels_.long_sums),
      width_(scatter.output.element_size),
      entry_units_(plan.EntryUnits()),
      sum_bytes_(kernels_.sums_are_elements ? 0 : sums_.sum_size * entry_units_),
      adds_rows_(AddsRows()),
      numbers_(plan),
      set_(call, numbers_.range(), plan.Entries(), kKept) {}

Status MeanTable::Refuse() const {
  return call_.Fail(STREW_OUT_OF_MEMORY, "memory for the counts and sums of means was refused");
}

// Whether single elements are added by rows of numbers that have counts besides.
bool MeanTable::AddsRows() const {
  return entry_units_ == 1 && !kernels_.sums_are_elements && plan_.Entries() < kMostRowEntries &&
         sums_.sum_size <= kMostRowSumBytes;
}

// ---- Which destinations are touched, and how often ----

Status MeanTable::NumberDestinations() {
  struct Collector {
    MeanTable* table;
    bool* refused;
    void Fetch(int64_t) const {}
    void Take(int64_t destination, int64_t) const {
      *refused = *refused || !table->set_.Collect(table->numbers_.Of(destination));
    }
  };
  struct Inserter {
    MeanTable* table;
    void Fetch(int64_t destination) const { table->set_.Fetch(table->numbers_.Of(destination)); }
    void Take(int64_t destination, int64_t) const {
      table->set_.Insert(table->numbers_.Of(destination));
    }
  };
  bool refused = !set_.Begin();
  if (!refused && set_.needs_collecting()) {
    ForEachEntry(call_, scatter_, plan_, Collector{this, &refused});
  }
  if (refused || !set_.FinishCollecting()) return Refuse();
  if (set_.needs_inserting()) ForEachEntry(call_, scatter_, plan_, Inserter{this});
  return set_.FinishInserting() ? Status(STREW_OK) : Refuse();
}

Status MeanTable::Count() {
  struct Counter {
    MeanTable* table;
    void Fetch(int64_t destination) const { table->set_.Fetch(table->numbers_.Of(destination)); }
    void Take(int64_t destination, int64_t) const {
      ++table->counts_[table->NumberOf(destination)];
      ++table->applied_;
    }
  };
  const size_t bytes = static_cast<size_t>(set_.count()) * sizeof(int64_t);
  if (bytes == 0) return STREW_OK;
  Scratch(call_, bytes).Swap(&count_memory_);
  counts_ = reinterpret_cast<int64_t*>(count_memory_.memory());
  if (counts_ == nullptr) return Refuse();
  std::memset(counts_, 0, bytes);
  ForEachEntry(call_, scatter_, plan_, Counter{this});
  return STREW_OK;
}

int64_t MeanTable::GroupBytes() const {
  return applied_ * static_cast<int64_t>(sizeof(int64_t)) +
         (set_.count() + 1) * static_cast<int64_t>(sizeof(Group)) +
         set_.count() * static_cast<int64_t>(sizeof(int32_t));
}

// Whether the updates of a destination are brought together: they are runs, and what touched elements
// may take is enough.
bool MeanTable::GroupsPay() const {
  constexpr int64_t kLeastUnits = 8;
  if (entry_units_ < kLeastUnits) return false;
  const double most =
      std::max(kMostElementBytes * static_cast<double>(set_.count() * entry_units_), kFreeBytes);
  const int64_t bytes = GroupBytes() + set_.count() * kNumberBytes + kSetBytes;
  return static_cast<double>(bytes) <= std::min(most, kMostGroupBytes);
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
void MeanTable::ForEachRun(int64_t destination, Body body) const {
  int64_t done = 0;
  plan::ForEachTurn(plan_.inner, plan_.inner.rank, [&](const int64_t* inner) {
    body(OutputOf(destination) + inner[kOutput] * width_, done);
    done += plan_.run.count;
  });
}

// In ascending order, which the CPU foresees.
template <class Body>
Status MeanTable::ForEachTouched(Body body) const {
  return InParts(set_.pieces(), [&](const plan::Turns& part) {
    set_.ForEach(part.first, part.first + part.count,
                 [&](int64_t number, int64_t i) { body(numbers_.DestinationOf(number), i); });
  });
}

// ---- The sums ----

Status MeanTable::StoreIdentities() const {
  alignas(16) unsigned char identity[16];
  StoreIdentity(scatter_.output.dtype, STREW_ADD, identity);
  const kernel::Kernels& move = IndexedKernelsFor(call_, scatter_.output, STREW_NONE);
  return ForEachTouched([&](int64_t destination, int64_t) {
    ForEachRun(destination, [&](unsigned char* output, int64_t) {
      move.run(output, plan_.run.stride[kOutput], identity, 0, plan_.run.count);
    });
  });
}

// They are those of STREW_ADD. The counts have the scratch.
Status MeanTable::ReduceInOutput(bool in_place) const {
  const bool excludes_self = ExcludesSelf(scatter_.reduction);
  const IndexedScatter adding = {scatter_.data, scatter_.indices, scatter_.updates, scatter_.output,
                                 STREW_ADD};
  const Application application(call_, adding, plan_, in_place || excludes_self,
                                Application::Takes::kNothing);
  if (excludes_self) {
    if (!in_place) STREW_TRY(Copy(call_, scatter_.data, scatter_.output));
    STREW_TRY(StoreIdentities());
  }
  STREW_TRY(application.Run(adding, plan_, in_place || excludes_self));
  return ForEachTouched([&](int64_t destination, int64_t i) {
    ForEachRun(destination, [&](unsigned char* output, int64_t) {
      const int64_t stride = plan_.run.stride[kOutput];
      sums_.finish(
          {output, stride, output, stride, plan_.run.count, counts_[i] + (excludes_self ? 0 : 1)});
    });
  });
}

// Adds rows of single elements to the sums of their destinations.
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
    int32_t numbers[EntrySink::kMostColumns];
    for (int64_t c = 0; c < row.columns; ++c) {
      const int64_t upcoming = row.output + offsets[std::min(c + kAhead, row.columns - 1)];
      table_.set_.Fetch(table_.numbers_.Of(upcoming));
      const bool dropped = offsets[c] == std::numeric_limits<Offset>::min();
      numbers[c] = dropped ? std::numeric_limits<int32_t>::min()
                           : static_cast<int32_t>(table_.NumberOf(row.output + offsets[c]));
      if (dropped) continue;
      __builtin_prefetch(sums_.sums + numbers[c] * table_.sum_bytes_, 1);
      __builtin_prefetch(sums_.counts + numbers[c], 1);
    }
    kernel::SheetArguments sheet = {};
    sheet.offsets = numbers;
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
  const int64_t touched = set_.count();
  const int64_t row_count_bytes = adds_rows_ ? static_cast<int64_t>(sizeof(uint32_t)) : 0;
  const Scratch scratch(call_, static_cast<size_t>(touched * (sum_bytes_ + row_count_bytes)));
  if (touched != 0 && scratch.memory() == nullptr) return Refuse();
  unsigned char* const sums = scratch.memory();
  uint32_t* const counts = reinterpret_cast<uint32_t*>(sums + touched * sum_bytes_);
  const bool excludes_self = ExcludesSelf(scatter_.reduction);
  alignas(16) unsigned char identity[16];
  StoreIdentity(scatter_.output.dtype, STREW_MEAN, identity);
  if (!in_place) STREW_TRY(Copy(call_, scatter_.data, scatter_.output));
  const int64_t stride = plan_.run.stride[kOutput];
  const int64_t sum_size = sums_.sum_size;
  STREW_TRY(ForEachTouched([&](int64_t destination, int64_t i) {
    ForEachRun(destination, [&](unsigned char* output, int64_t done) {
      sums_.begin(sums + i * sum_bytes_ + done * sum_size, excludes_self ? identity : output,
                  excludes_self ? 0 : stride, plan_.run.count);
    });
  }));
  struct Body {
    const MeanTable* table;
    unsigned char* sums;
    void Fetch(int64_t destination) const { table->set_.Fetch(table->numbers_.Of(destination)); }
    void Take(int64_t destination, int64_t updates) const {
      const plan::IndexedPlan& plan = table->plan_;
      unsigned char* sum = sums + table->NumberOf(destination) * table->sum_bytes_;
      plan::ForEachTurn(plan.inner, plan.inner.rank, [&](const int64_t* inner) {
        const int64_t first = (updates + inner[kUpdates]) * table->width_;
        table->sums_.add(sum, table->scatter_.updates.data + first, plan.run.stride[kUpdates],
                         plan.run.count);
        sum += plan.run.count * table->sums_.sum_size;
      });
    }
  };
  if (adds_rows_) {
    std::memset(counts, 0, static_cast<size_t>(touched) * sizeof(uint32_t));
    RowAdder adder(*this, {sums, counts});
    GiveSheets(call_, scatter_, plan_, adder.sink());
  } else {
    ForEachEntry(call_, scatter_, plan_, Body{this, sums});
  }
  return ForEachTouched([&](int64_t destination, int64_t i) {
    ForEachRun(destination, [&](unsigned char* output, int64_t done) {
      sums_.finish({output, stride, sums + i * sum_bytes_ + done * sum_size, 1, plan_.run.count,
                    counts_[i] + (excludes_self ? 0 : 1)});
    });
  });
}

Status MeanTable::Run(bool in_place) {
  STREW_TRY(NumberDestinations());
  STREW_TRY(Count());
  if (scatter_.applied_units != nullptr) *scatter_.applied_units += applied_ * entry_units_;
  const Scratch order(call_, GroupsPay() ? static_cast<size_t>(GroupBytes()) : 0);
  if (order.memory() != nullptr) return ReduceGroups(in_place, order.memory());
  if (kernels_.sums_are_elements) return ReduceInOutput(in_place);
  return ReduceInSums(in_place);
}

}  // namespace strew::run
