// SPDX-License-Identifier: Apache-2.0
#include "accumulate/mean_table.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/identity.h"
#include "base/reduction.h"
#include "plan/cut.h"
#include "plan/schedule.h"
#include "plan/tuning.h"
#include "share/execute.h"
#include "share/boxes.h"
#include "walk/entries.h"
#include "share/parts.h"
#include "walk/entries.h"
#include "walk/kernels.h"

namespace strew::accumulate {
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
// Sums of so many bytes are in the L1 or L2 cache.
constexpr int64_t kNearBytes = 256 << 10;
// Numbers and counts of so many single entries fit 32 bits.
constexpr int64_t kMostRowEntries = int64_t{1} << 29;
static_assert(kMostRowEntries <= kernel::kMostTerms);
// What the updates of groups take that are too many for one sum.
constexpr double kMostGroupBytes = static_cast<double>(kernel::kMostTerms) * sizeof(int64_t);

}  // namespace

MeanTable::MeanTable(const walk::Scatter& scatter)
    : scatter_(scatter),
      kernels_(kernel::AccumulateKernelsFor(scatter.operands.output.dtype,
                                            scatter.call.settings().simd_target)),
      sums_(scatter.loops.Entries() < kernel::kMostTerms ? kernels_.sums : kernels_.long_sums),
      width_(scatter.operands.output.element_size),
      entry_units_(scatter.loops.EntryUnits()),
      sum_bytes_(sums_.sum_size * entry_units_),
      numbers_(scatter.loops),
      set_(scatter.call, numbers_.range(), scatter.loops.Entries(), kKept) {}

Status MeanTable::Refuse() const {
  return scatter_.call.Fail(STREW_OUT_OF_MEMORY,
                            "memory for the counts and sums of means was refused");
}

// ---- Which destinations are touched, and how often ----

template <class Body>
class MeanTable::RowWalk {
 public:
  RowWalk(const MeanTable& table, const Body& body)
      : table_(table),
        body_(body),
        kernels_(kernel::IndexKernelsFor(table.scatter_.operands.indices.dtype,
                                         table.scatter_.call.settings().simd_target)),
        offset_width_(kernel::OffsetWidthOf(table.scatter_.loops.whole_span)) {}

  walk::EntrySink sink() {
    const int64_t base = table_.scatter_.loops.outer.base[kOutput] * table_.width_;
    return walk::SinkOf(this, offset_width_, table_.scatter_.operands.output.data + base);
  }

  void Add(const walk::EntryRow& row) {
    int32_t bits[walk::EntrySink::kMostColumns];
    const plan::DestinationNumbers& numbers = table_.numbers_;
    table_.set_.LocateRow(kernels_, offset_width_,
                          {row.offsets, row.columns, row.output - numbers.lowest(), numbers.shift(),
                           nullptr, nullptr},
                          bits);
    body_(row, bits);
  }

 private:
  const MeanTable& table_;
  const Body& body_;
  const kernel::IndexKernels& kernels_;
  const kernel::OffsetWidth offset_width_;
};

template <class Body>
void MeanTable::ForEachRow(const Body& body) const {
  RowWalk<Body> walk(*this, body);
  walk::GiveEntries(scatter_, walk.sink());
}

Status MeanTable::NumberDestinations() {
  struct Collector {
    MeanTable* table;
    bool* refused;
    void Fetch(int64_t) const {}
    void Take(int64_t destination, int64_t) const {
      *refused = *refused || !table->set_.Collect(table->numbers_.Of(destination));
    }
  };
  bool refused = !set_.Begin();
  if (!refused && set_.needs_collecting()) {
    walk::ForEachEntry(scatter_, Collector{this, &refused});
  }
  if (refused || !set_.FinishCollecting()) return Refuse();
  if (set_.needs_inserting()) {
    const auto insert = [this](const walk::EntryRow& row, const int32_t* bits) {
      set_.InsertRow(bits, row.columns);
    };
    ForEachRow(insert);
  }
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
  Scratch(scatter_.call, bytes).Swap(&count_memory_);
  counts_ = reinterpret_cast<int64_t*>(count_memory_.memory());
  if (counts_ == nullptr) return Refuse();
  std::memset(counts_, 0, bytes);
  walk::ForEachEntry(scatter_, Counter{this});
  return STREW_OK;
}

int64_t MeanTable::GroupBytes() const {
  return applied_ * static_cast<int64_t>(sizeof(int64_t)) +
         (set_.count() + 1) * static_cast<int64_t>(sizeof(Group)) +
         set_.count() * static_cast<int64_t>(sizeof(int32_t));
}

// Whether the updates of a destination are brought together: they are runs, and what touched
// elements may take is enough.
bool MeanTable::GroupsPay() const {
  if (entry_units_ < plan::kTuning.least_grouped_run) return false;
  const double most =
      std::max(kMostElementBytes * static_cast<double>(set_.count() * entry_units_), kFreeBytes);
  const int64_t bytes = GroupBytes() + set_.count() * kNumberBytes + kSetBytes;
  return static_cast<double>(bytes) <= std::min(most, kMostGroupBytes);
}

unsigned char* MeanTable::OutputOf(int64_t place) const {
  return scatter_.operands.output.data + (scatter_.loops.outer.base[kOutput] + place) * width_;
}

void MeanTable::Fetch(const unsigned char* output) const {
  const int64_t bytes =
      scatter_.loops.run.stride[kOutput] == 1 ? scatter_.loops.run.count * width_ : 1;
  kernel::PrefetchForWriting(output, std::min(bytes, kMostFetched));
}

template <class Body>
void MeanTable::ForEachRun(int64_t destination, Body body) const {
  int64_t done = 0;
  plan::ForEachTurn(scatter_.loops.inner, scatter_.loops.inner.rank, [&](const int64_t* inner) {
    body(OutputOf(destination) + inner[kOutput] * width_, done);
    done += scatter_.loops.run.count;
  });
}

// Outputs are fetched while those of some destinations before them are worked on.
template <class Body>
Status MeanTable::ForEachTouched(Body body) const {
  return InParts(set_.pieces(), [&](const plan::Turns& part) {
    struct Touched {
      int64_t destination;
      int64_t number;
    };
    Touched ahead[kAhead];
    int64_t fetched = 0;
    set_.ForEach(part.first, part.first + part.count, [&](int64_t number, int64_t i) {
      Touched& next = ahead[fetched % kAhead];
      if (fetched++ >= kAhead) body(next.destination, next.number);
      next = {numbers_.DestinationOf(number), i};
      Fetch(OutputOf(next.destination));
    });
    for (int64_t i = std::max<int64_t>(fetched - kAhead, 0); i < fetched; ++i) {
      body(ahead[i % kAhead].destination, ahead[i % kAhead].number);
    }
  });
}

// ---- The sums ----

Status MeanTable::StoreIdentities() const {
  alignas(16) unsigned char identity[16];
  StoreIdentity(scatter_.operands.output.dtype, STREW_ADD, identity);
  const kernel::MoveKernels& move = scatter_.move;
  return ForEachTouched([&](int64_t destination, int64_t) {
    ForEachRun(destination, [&](unsigned char* output, int64_t) {
      move.combine.run(output, scatter_.loops.run.stride[kOutput], identity, 0,
                       scatter_.loops.run.count);
    });
  });
}

// They are those of STREW_ADD. The counts have the scratch.
Status MeanTable::ReduceInOutput(bool in_place) const {
  const bool excludes_self = ExcludesSelf(scatter_.reduction);
  const walk::Scatter adding(scatter_, STREW_ADD, scatter_.operands.updates, scatter_.loops);
  const share::Execution execution(adding, in_place || excludes_self, /*may_have_scratch=*/false);
  if (excludes_self) {
    if (!in_place)
      STREW_TRY(share::Copy(scatter_.call, scatter_.operands.data, scatter_.operands.output));
    STREW_TRY(StoreIdentities());
  }
  STREW_TRY(execution.Run(adding, in_place || excludes_self));
  return ForEachTouched([&](int64_t destination, int64_t i) {
    ForEachRun(destination, [&](unsigned char* output, int64_t) {
      const int64_t stride = scatter_.loops.run.stride[kOutput];
      sums_.finish({output, stride, output, stride, scatter_.loops.run.count,
                    counts_[i] + (excludes_self ? 0 : 1)});
    });
  });
}

// Single elements, of which each has one sum and one count.
Status MeanTable::ReduceSingles(bool in_place) {
  const int64_t touched = set_.count();
  const size_t bytes =
      static_cast<size_t>(touched) * (static_cast<size_t>(sum_bytes_) + sizeof(uint32_t));
  const Scratch scratch(scatter_.call, bytes);
  if (touched != 0 && scratch.memory() == nullptr) return Refuse();
  if (!in_place)
    STREW_TRY(share::Copy(scatter_.call, scatter_.operands.data, scatter_.operands.output));
  if (touched == 0) return STREW_OK;
  const kernel::CountedSums sums = {
      scratch.memory(), reinterpret_cast<uint32_t*>(scratch.memory() + touched * sum_bytes_)};
  STREW_TRY(BeginSums(sums.sums));
  std::memset(sums.counts, 0, static_cast<size_t>(touched) * sizeof(uint32_t));
  applied_ = AddSingles(sums);
  const int64_t more = ExcludesSelf(scatter_.reduction) ? 0 : 1;
  return ForEachTouched([&](int64_t destination, int64_t i) {
    kernels_.finish_each({sums.sums + i * sum_bytes_, sums.counts + i}, more, OutputOf(destination),
                         1, 1);
  });
}

// Returns how many are not dropped.
int64_t MeanTable::AddSingles(const kernel::CountedSums& sums) const {
  const kernel::IndexKernels& kernels = kernel::IndexKernelsFor(
      scatter_.operands.indices.dtype, scatter_.call.settings().simd_target);
  const bool far = set_.count() * sum_bytes_ > kNearBytes;
  int64_t added = 0;
  ForEachRow([&](const walk::EntryRow& row, int32_t* numbers) {
    set_.NumberRow(kernels, numbers, row.columns);
    for (int64_t c = 0; c < row.columns; ++c) added += numbers[c] >= 0 ? 1 : 0;
    for (int64_t c = 0; far && c < row.columns; ++c) {
      if (numbers[c] < 0) continue;
      __builtin_prefetch(sums.sums + numbers[c] * sum_bytes_, 1);
      __builtin_prefetch(sums.counts + numbers[c], 1);
    }
    kernels_.add_each(sums, {static_cast<const int32_t*>(numbers),
                             scatter_.operands.updates.data + row.updates * width_,
                             row.updates_stride, row.columns});
  });
  return added;
}

// With the old value, or without.
Status MeanTable::BeginSums(unsigned char* sums) const {
  const bool excludes_self = ExcludesSelf(scatter_.reduction);
  alignas(16) unsigned char identity[16];
  StoreIdentity(scatter_.operands.output.dtype, STREW_MEAN, identity);
  const int64_t stride = scatter_.loops.run.stride[kOutput];
  return ForEachTouched([&](int64_t destination, int64_t i) {
    ForEachRun(destination, [&](unsigned char* output, int64_t done) {
      sums_.begin(sums + i * sum_bytes_ + done * sums_.sum_size, excludes_self ? identity : output,
                  excludes_self ? 0 : stride, scatter_.loops.run.count);
    });
  });
}

Status MeanTable::ReduceInSums(bool in_place) const {
  const int64_t touched = set_.count();
  const Scratch scratch(scatter_.call, static_cast<size_t>(touched * sum_bytes_));
  if (touched != 0 && scratch.memory() == nullptr) return Refuse();
  unsigned char* const sums = scratch.memory();
  if (!in_place)
    STREW_TRY(share::Copy(scatter_.call, scatter_.operands.data, scatter_.operands.output));
  STREW_TRY(BeginSums(sums));
  struct Body {
    const MeanTable* table;
    unsigned char* sums;
    void Fetch(int64_t destination) const { table->set_.Fetch(table->numbers_.Of(destination)); }
    void Take(int64_t destination, int64_t updates) const {
      const plan::EntryLoops& loops = table->scatter_.loops;
      unsigned char* sum = sums + table->NumberOf(destination) * table->sum_bytes_;
      plan::ForEachTurn(loops.inner, loops.inner.rank, [&](const int64_t* inner) {
        const int64_t first = (updates + inner[kUpdates]) * table->width_;
        table->sums_.add(sum, table->scatter_.operands.updates.data + first,
                         loops.run.stride[kUpdates], loops.run.count);
        sum += loops.run.count * table->sums_.sum_size;
      });
    }
  };
  walk::ForEachEntry(scatter_, Body{this, sums});
  const int64_t stride = scatter_.loops.run.stride[kOutput];
  const int64_t more = ExcludesSelf(scatter_.reduction) ? 0 : 1;
  return ForEachTouched([&](int64_t destination, int64_t i) {
    ForEachRun(destination, [&](unsigned char* output, int64_t done) {
      sums_.finish({output, stride, sums + i * sum_bytes_ + done * sums_.sum_size, 1,
                    scatter_.loops.run.count, counts_[i] + more});
    });
  });
}

Status MeanTable::Reduce(bool in_place) {
  STREW_TRY(NumberDestinations());
  if (entry_units_ == 1 && scatter_.loops.Entries() < kMostRowEntries)
    return ReduceSingles(in_place);
  STREW_TRY(Count());
  const Scratch order(scatter_.call, GroupsPay() ? static_cast<size_t>(GroupBytes()) : 0);
  if (order.memory() != nullptr) return ReduceGroups(in_place, order.memory());
  if (kernels_.sums_are_elements) return ReduceInOutput(in_place);
  return ReduceInSums(in_place);
}

Status MeanTable::Run(bool in_place) {
  STREW_TRY(Reduce(in_place));
  if (scatter_.applied_units != nullptr) *scatter_.applied_units += applied_ * entry_units_;
  return STREW_OK;
}

}  // namespace strew::accumulate
