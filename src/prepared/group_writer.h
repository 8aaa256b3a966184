// SPDX-License-Identifier: Apache-2.0
// Writes groups: all updates of a destination are combined at once, piece by piece.
#ifndef STREW_PREPARED_GROUP_WRITER_H_
#define STREW_PREPARED_GROUP_WRITER_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "accumulate/accumulator.h"
#include "base/identity.h"
#include "base/reduction.h"
#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "prepared/ordered.h"
#include "prepared/piece.h"
#include "walk/kernels.h"

namespace strew::prepared {

// The kernels of a reduction for the first update of a destination, for each update, and for the
// end.
struct GroupKernels {
  explicit GroupKernels(const OrderedScatter& scatter)
      : kind(ReductionKind(scatter.schedule.reduction)),
        excludes_self(ExcludesSelf(scatter.schedule.reduction)),
        combine(walk::IndexedKernelsFor(scatter.call, scatter.output, kind)),
        run(combine.run),
        move(walk::MoveKernelsFor(scatter.call, plan::IndexedUnitsOf(scatter.output.element_size))),
        width(combine.element_size) {
    if (Accumulates(scatter.schedule.reduction)) {
      accumulator_.emplace(scatter.call, scatter.output.dtype, scatter.schedule.reduction);
    }
    if (scatter.source.weights != nullptr) {
      multiply = walk::IndexedKernelsFor(scatter.call, scatter.output, STREW_MUL).run;
    }
    has_identity = HasIdentity(scatter.output.dtype, kind);
    if (excludes_self && has_identity) StoreIdentity(scatter.output.dtype, kind, identity);
  }

  const strew_reduction kind;
  const bool excludes_self;
  const kernel::CombineKernels& combine;
  kernel::RunKernel run;  // of `combine`, or one that moves past the caches
  const kernel::MoveKernels& move;
  const int64_t width;
  kernel::RunKernel multiply = nullptr;  // by weights
  bool has_identity;
  alignas(plan::kMostWidth) unsigned char identity[plan::kMostWidth] = {};

  // The accumulator of means and wide reductions; else NULL.
  const accumulate::Accumulator* accumulator() const {
    return accumulator_.has_value() ? &*accumulator_ : nullptr;
  }

 private:
  std::optional<accumulate::Accumulator> accumulator_;
};

// Writes some of the groups of a plan.
class GroupWriter {
 public:
  GroupWriter(const OrderedScatter& scatter, const GroupKernels& kernels)
      : scatter_(scatter),
        kernels_(kernels),
        by_rows_(!scatter.source.depends_on_turn && scatter.inner.rank > 0),
        piece_(scatter) {}

  // For some turns of the outermost inner loop. Returns the number of updates, in units.
  int64_t Write(int64_t group, int64_t end, const plan::Turns& turns) {
    const int64_t slices = scatter_.schedule.order.slices;
    const int64_t step = slices == 0 ? turns.count : slices;
    for (int64_t i = 0; i < turns.count; i += step) {
      outside_ = scatter_.inner;
      if (outside_.rank > 0) {
        outside_.Restrict(0, turns.first + i, std::min(step, turns.count - i));
      }
      run_ = PopRun();
      fetched_ = 0;
      WritePieces(group, end);
    }
    return applied_;
  }

 private:
  // Takes the innermost loop, or if its runs are short, the next one that is long enough, or the
  // longest one.
  TurnLoop PopRun() {
    if (by_rows_ && scatter_.schedule.order.runs_are_short) {
      TurnLoop* const last = outside_.loop + outside_.rank;
      TurnLoop* chosen = last - 1;
      const int64_t enough = plan::TuningOf(scatter_.call).many_rows;
      for (TurnLoop* loop = chosen; loop != outside_.loop && chosen->count < enough;) {
        if ((--loop)->count > chosen->count) chosen = loop;
      }
      std::rotate(chosen, chosen + 1, last);
    }
    return outside_.PopInnermost();
  }

  // How rows are combined.
  enum class Way {
    kMoved,        // all rows of a piece by one walk, times their weights if they have any
    kGrouped,      // all rows of a piece by one kernel
    kMultiplied,   // the same, of products with weights that are computed in a buffer
    kAccumulated,  // all rows of a group by one kernel, which has accumulators
    kOneByOne,     // each row by a run
    kInBlocks      // each row by a run, in blocks of columns that are computed in a buffer
  };
  // Longest weighted row, in bytes, that is multiplied together with others: the buffer has room
  // for eight. Sums and maxima of rows of 2 to 16 weighted elements took 0.5 to 0.85 times the time
  // of calls for each row, means 0.6 to 1.05 times (Emerald Rapids).
  static constexpr int64_t kMostMultiplied = 512;

  Way WayOf(bool is_whole) const {
    const bool lie_together = run_.stride[kTurnOutput] == 1 && run_.stride[kTurnUpdates] == 1;
    const bool is_weighted = scatter_.source.weights != nullptr;
    if (kernels_.accumulator() != nullptr) {
      return is_whole && !is_weighted ? Way::kAccumulated : Way::kInBlocks;
    }
    const bool fits_buffer = MultipliesTogether(run_.count);
    if (kernels_.kind == STREW_NONE && is_whole && (fits_buffer || !is_weighted)) {
      return Way::kMoved;
    }
    if (lie_together && RowsKernel() != nullptr) return Way::kGrouped;
    if (is_weighted && fits_buffer && run_.stride[kTurnOutput] == 1 &&
        kernels_.combine.rows != nullptr) {
      return Way::kMultiplied;
    }
    return is_weighted ? Way::kInBlocks : Way::kOneByOne;
  }

  // Blocks of sums are shorter, because sums are wider than elements. Blocks of 2 KiB instead of
  // 256 elements took 0.55 to 0.85 times the time for int8, and 0.83 to 1.0 times for float32;
  // blocks of twice as many float64 took 1.06 to 1.1 times (Zen 4).
  int64_t ColumnsOfBlock() const {
    constexpr int64_t kBytes = 2048;
    return kernels_.accumulator() != nullptr ? Piece::kMost
                                             : std::max(Piece::kMost, kBytes / kernels_.width);
  }

  kernel::GroupedRowsKernel RowsKernel() const {
    if (scatter_.source.weights == nullptr) return kernels_.combine.rows;
    // The kernel takes one weight for each row.
    return run_.stride[kTurnWeights] == 0 ? kernels_.combine.weighted_rows : nullptr;
  }

  // True if the kernel of a piece prefetches the weights and rows of the next one. Weighted sums of
  // rows of 8, 16, 64 and 100 float32, 1 M entries and more, took 0.94, 0.85, 0.72 and 0.78 times
  // the time, 50,000 1.03 to 1.06 times. Without weights, rows of 64 and 100 took 0.95 times the
  // time, of 16 and 256 as long, 50,000 entries 1.06 times (Zen 5).
  bool FetchesLater() const {
    return scatter_.schedule.order.fetches && scatter_.source.weights != nullptr &&
           outside_.rank == 0;
  }

  // True if the weighted rows of `n` elements are multiplied together.
  bool MultipliesTogether(int64_t n) const { return n * kernels_.width <= kMostMultiplied; }
  // The most such rows that fit the buffer.
  int64_t MostProducts(int64_t n) const {
    return std::min(Piece::kMost, kBufferBytes / (n * kernels_.width));
  }

  void WritePieces(int64_t group, int64_t end) {
    while (group < end) {
      group = piece_.TakeGroups(group, end);
      if (by_rows_) {
        WriteRows();
      } else {
        WriteElements();
      }
    }
  }

  // Writes the groups of the piece, or a single group that needs several pieces.
  void WriteRows() {
    const int64_t count = piece_.count();
    const bool is_whole = count <= Piece::kMost;
    const Way way = WayOf(is_whole);
    const int64_t step = way == Way::kInBlocks ? ColumnsOfBlock() : run_.count;
    bool is_located = false;
    plan::ForEachTurn(outside_, outside_.rank, [&](const int64_t* turn) {
      for (int64_t i = 0; i < run_.count; i += step) {
        const int64_t n = std::min(step, run_.count - i);
        for (int64_t k = 0; k < count; k += Piece::kMost) {
          const int64_t part = std::min(Piece::kMost, count - k);
          if (!is_whole) piece_.TakePart(k, part);
          if (!is_located) Locate(turn, way == Way::kGrouped && FetchesLater());
          is_located = is_whole;
          const bool begins = k == 0, ends = k + part == count;
          if (begins) has_begun_ = false;
          applied_ += piece_.updated() * n;
          if (way == Way::kMoved && piece_.entries() == piece_.groups()) {
            MoveRows(turn);
          } else if (way == Way::kGrouped) {
            CombineGroupedRows(turn);
          } else if (way == Way::kMultiplied) {
            CombineMultipliedRows(turn);
          } else if (way == Way::kAccumulated) {
            AccumulateRows(turn);
          } else {
            CombineRows(turn, i, n, begins, ends);
          }
        }
      }
    });
  }

  // The same for single elements. Small pieces take several turns together.
  void WriteElements() {
    const int64_t count = piece_.count();
    const bool is_whole = count <= Piece::kMost;
    const int64_t together = is_whole ? piece_.RepeatGroups(run_) : 1;
    plan::ForEachTurn(outside_, outside_.rank, [&](const int64_t* outer) {
      for (int64_t i = 0; i < run_.count; i += together) {
        int64_t turn[kTurnOperands];
        plan::MoveToTurn(outer, run_, i, turn);
        const Turns turns = {turn, run_, std::min(together, run_.count - i)};
        for (int64_t k = 0; k < count; k += Piece::kMost) {
          const int64_t part = std::min(Piece::kMost, count - k);
          if (!is_whole) piece_.TakePart(k, part);
          piece_.Locate(turns, /*with_later=*/false);
          const bool begins = k == 0, ends = k + part == count;
          if (begins) has_begun_ = false;
          applied_ += piece_.updated();
          CombineElements(turn, begins, ends);
        }
      }
    });
  }

  unsigned char* OutputAt(int64_t at) const { return scatter_.output.data + at * kernels_.width; }
  const unsigned char* UpdateAt(int64_t at) const {
    return scatter_.source.updates + at * kernels_.width;
  }
  const unsigned char* WeightAt(int64_t at) const {
    return scatter_.source.weights + at * kernels_.width;
  }

  // ---- Rows: group_rows.cc ----

  struct Row {
    const unsigned char* memory;
    int64_t stride;
  };
  // The rows that weights_ has: those of `count` entries of the piece.
  struct RowsOfWeights {
    int64_t first;
    int64_t count;
    int64_t columns;
    int64_t at;

    bool operator==(const RowsOfWeights& other) const {
      return first == other.first && count == other.count && columns == other.columns &&
             at == other.at;
    }
  };
  // Rows from a prefetch to its use, for walks of moves; 0 for none.
  int64_t Ahead() const { return scatter_.schedule.order.fetches ? 8 : 0; }

  void Locate(const int64_t* turn, bool with_later) {
    piece_.Locate({turn, run_, 1}, with_later);
    rows_of_weights_.count = 0;
  }
  kernel::RowFetcher FetcherOf(const unsigned char* updates, int64_t n) const;
  void MoveRows(const int64_t* turn);
  void BeginGroups(const int64_t* turn);
  const unsigned char* TakeBeginning();
  void CombineGroupedRows(const int64_t* turn);
  void CombineMultipliedRows(const int64_t* turn);
  void AccumulateRows(const int64_t* turn);
  void CombineRows(const int64_t* turn, int64_t i, int64_t n, bool begins, bool ends);
  void Begin(unsigned char* output, int64_t n, int64_t* first, const int64_t* turn, int64_t i);
  void Apply(unsigned char* output, int64_t n, int64_t k, const int64_t* turn, int64_t i);
  void Finish(unsigned char* output, int64_t n) const;
  Row Weighted(int64_t n, int64_t k, const int64_t* turn, int64_t i);
  // Offsets of rows in products_, or of elements in the output. What is not accumulated needs no
  // old values, and stack space is scarce.
  int64_t* Offsets() { return reinterpret_cast<int64_t*>(old_); }
  void Multiply(int64_t first, int64_t count, int64_t n, const int64_t* turn, int64_t i);

  // Calls use(first, count) for as many weighted updates at a time as fit products_.
  template <class Use>
  void ForEachBatchOfProducts(const int64_t* turn, const Use& use) {
    const int64_t step = MostProducts(run_.count);
    for (int64_t first = 0; first < piece_.entries(); first += step) {
      const int64_t count = std::min(step, piece_.entries() - first);
      Multiply(first, count, run_.count, turn, 0);
      use(first, count);
    }
  }
  void MultiplyRow(int64_t n, int64_t k, const int64_t* turn, int64_t i);

  // ---- Elements: group_elements.cc ----

  void CombineElements(const int64_t* turn, bool begins, bool ends);
  void ApplyElements(unsigned char* origin);
  int64_t ListDestinations(int64_t* offsets) const;
  void ReplaceFirst(unsigned char* origin);
  void SumElements(unsigned char* origin, bool begins, bool ends);
  void AddToSums(int64_t groups);
  // Average number of updates of a group from which it pays to sum them in a register.
  static constexpr int64_t kFewUpdates = 4;
  kernel::TileArguments Tile(unsigned char* origin, const int64_t* offsets, int64_t n) const {
    return kernel::RowTile(origin, products_, offsets, n, 0);
  }

  const OrderedScatter& scatter_;
  const GroupKernels& kernels_;
  const bool by_rows_;
  TurnNest outside_;  // of the run
  TurnLoop run_;
  Piece piece_;
  int64_t applied_ = 0;
  int64_t terms_ = 0;
  int64_t first_product_ = 0;  // the entries of the piece whose rows are in products_
  int64_t end_of_products_ = 0;
  int64_t fetched_ = 0;  // entries of the next piece whose updates have been prefetched
  RowsOfWeights rows_of_weights_ = {0, 0, 0, 0};
  bool has_begun_ = false;  // whether the current group has had an update

  static constexpr int64_t kBufferBytes = Piece::kMost * plan::kMostWidth;
  uint32_t counts_[Piece::kMost];
  alignas(64) unsigned char products_[kBufferBytes];
  alignas(64) unsigned char sums_[kBufferBytes];
  alignas(64) unsigned char old_[kBufferBytes];
  alignas(64) unsigned char weights_[kBufferBytes];
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_GROUP_WRITER_H_
