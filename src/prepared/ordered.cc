// SPDX-License-Identifier: Apache-2.0
#include "prepared/ordered.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/identity.h"
#include "base/reduction.h"
#include "kernel/kernel.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "prepared/piece.h"
#include "prepared/elements.h"
#include "share/parts.h"
#include "walk/kernels.h"

namespace strew::prepared {
namespace {

// Elements of a row that are computed at once, where they need memory of their own.
constexpr int64_t kBlock = Piece::kMost;

// What a reduction does at the first update of a destination, at each, and at the last.
struct Kernels {
  explicit Kernels(const OrderedScatter& scatter)
      : kind(ReductionKind(scatter.reduction)),
        excludes_self(ExcludesSelf(scatter.reduction) && kind != STREW_NONE),
        combine(walk::IndexedKernelsFor(scatter.call, scatter.output, kind)),
        move(walk::MoveKernelsFor(scatter.call, plan::IndexedUnitsOf(scatter.output.element_size))),
        width(combine.element_size) {
    if (kind == STREW_MEAN) {
      sums =
          &kernel::AccumulateKernelsFor(scatter.output.dtype, scatter.call.settings().simd_target);
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
  const kernel::MoveKernels& move;
  const int64_t width;
  const kernel::AccumulateKernels* sums = nullptr;  // NULL unless updates are summed aside
  kernel::RunKernel multiply = nullptr;             // by weights
  bool has_identity;
  alignas(plan::kMostWidth) unsigned char identity[plan::kMostWidth] = {};
};

// A part of the groups of a plan.
class GroupWriter {
 public:
  GroupWriter(const OrderedScatter& scatter, const Kernels& kernels)
      : scatter_(scatter),
        kernels_(kernels),
        by_rows_(!scatter.source.depends_on_turn && scatter.inner.rank > 0),
        outside_(scatter.inner),
        piece_(scatter) {
    run_ = {1, {}};
    if (by_rows_) run_ = outside_.PopInnermost();
  }

  // Returns the number of units that had an update.
  int64_t Write(int64_t group, int64_t end) {
    while (group < end) {
      group = piece_.TakeGroups(group, end);
      WriteGroups();
    }
    return applied_;
  }

 private:
  // How rows are combined.
  enum class Way {
    kGrouped,   // those of a piece by one kernel
    kMeans,     // those of a group by one kernel
    kOneByOne,  // each by a run
    kInBlocks   // each by a run, a block of columns at a time, which has memory of its own
  };

  Way WayOf(bool is_whole) const {
    const bool lie_together = run_.stride[kTurnOutput] == 1 && run_.stride[kTurnUpdates] == 1;
    const bool is_weighted = scatter_.source.weights != nullptr;
    if (kernels_.sums != nullptr) {
      return is_whole && !is_weighted ? Way::kMeans : Way::kInBlocks;
    }
    if (lie_together && RowsKernel() != nullptr) return Way::kGrouped;
    return is_weighted ? Way::kInBlocks : Way::kOneByOne;
  }

  kernel::GroupedRowsKernel RowsKernel() const {
    if (scatter_.source.weights == nullptr) return kernels_.combine.rows;
    // A row has one weight.
    return run_.stride[kTurnWeights] == 0 ? kernels_.combine.weighted_rows : nullptr;
  }

  // Groups that fit a piece, or one that needs several.
  void WriteGroups() {
    const int64_t count = piece_.count();
    const bool is_whole = count <= Piece::kMost;
    const bool is_located_once = is_whole && !scatter_.source.depends_on_turn;
    const Way way = WayOf(is_whole);
    const int64_t step = way == Way::kInBlocks ? kBlock : run_.count;
    bool is_located = false;
    plan::ForEachTurn(outside_, outside_.rank, [&](const int64_t* turn) {
      for (int64_t i = 0; i < run_.count; i += step) {
        const int64_t n = std::min(step, run_.count - i);
        for (int64_t k = 0; k < count; k += Piece::kMost) {
          const int64_t part = std::min(Piece::kMost, count - k);
          if (!is_whole) piece_.TakePart(k, part);
          if (!is_located) piece_.Locate(turn);
          is_located = is_located_once;
          const bool begins = k == 0, ends = k + part == count;
          if (begins) has_begun_ = false;
          applied_ += piece_.entries() * n;
          if (!by_rows_) {
            WriteElements(turn, begins, ends);
          } else if (way == Way::kGrouped) {
            CombineGroupedRows(turn);
          } else if (way == Way::kMeans) {
            DivideRows(turn);
          } else {
            CombineRows(turn, i, n, begins, ends);
          }
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

  // ---- Rows ----

  void CombineGroupedRows(const int64_t* turn) {
    unsigned char* const output = OutputAt(turn[kTurnOutput]);
    if (kernels_.excludes_self) {
      for (int64_t g = 0; g < piece_.groups(); ++g) {
        if (piece_.begin(g) == piece_.end(g) || has_begun_) continue;
        kernels_.move.combine.run(output + piece_.destination(g) * kernels_.width, 1,
                                  kernels_.identity, 0, run_.count);
      }
      has_begun_ = piece_.groups() == 1 && piece_.entries() > 0;
    }
    if (scatter_.source.weights != nullptr) {
      GatherElements(kernels_.width, WeightAt(turn[kTurnWeights]), piece_.weights(),
                     piece_.entries(), weights_);
    }
    RowsKernel()({output, piece_.destinations(), piece_.begins(), piece_.groups(),
                  UpdateAt(turn[kTurnUpdates]), piece_.updates(), weights_, run_.count});
  }

  // Means of whole groups.
  void DivideRows(const int64_t* turn) {
    const unsigned char* const updates = UpdateAt(turn[kTurnUpdates]);
    int64_t fetched = 0;
    for (int64_t g = 0; g < piece_.groups(); ++g) {
      const int64_t first = piece_.begin(g), count = piece_.end(g) - first;
      if (count == 0) continue;
      for (; fetched < std::min(piece_.entries(), first + count + kAhead); ++fetched) {
        Fetch(updates + piece_.updates()[fetched] * kernels_.width);
      }
      kernels_.sums->group({OutputAt(piece_.destination(g) + turn[kTurnOutput]),
                            run_.stride[kTurnOutput], updates, run_.stride[kTurnUpdates],
                            piece_.updates() + first, count, run_.count, kernels_.excludes_self});
    }
  }

  // The first lines of a row, some rows before it is read.
  static constexpr int64_t kAhead = 8;
  void Fetch(const unsigned char* row) const {
    constexpr int64_t kMost = 1024;
    if (run_.stride[kTurnUpdates] == 1) {
      kernel::PrefetchOnce(row, std::min(run_.count * kernels_.width, kMost));
    }
  }

  void CombineRows(const int64_t* turn, int64_t i, int64_t n, bool begins, bool ends) {
    const int64_t shift = turn[kTurnUpdates] + i * run_.stride[kTurnUpdates];
    for (int64_t g = 0; g < piece_.groups(); ++g) {
      unsigned char* const output =
          OutputAt(piece_.destination(g) + turn[kTurnOutput] + i * run_.stride[kTurnOutput]);
      int64_t first = piece_.begin(g);
      const int64_t end = piece_.end(g);
      if (kernels_.kind == STREW_NONE && end > first) first = end - 1;
      if (begins) has_begun_ = false;
      if (!has_begun_ && end > first) Begin(output, n, &first, turn, i);
      for (int64_t k = first; k < end; ++k) {
        if (k + kAhead < piece_.entries()) Fetch(UpdateAt(piece_.updates()[k + kAhead] + shift));
        Apply(output, n, k, turn, i);
      }
      if (ends && has_begun_) Finish(output, n);
    }
  }

  // Prepares a row for its first update, and may take that.
  void Begin(unsigned char* output, int64_t n, int64_t* first, const int64_t* turn, int64_t i) {
    const int64_t stride = run_.stride[kTurnOutput];
    has_begun_ = true;
    if (kernels_.sums != nullptr) {
      terms_ = 0;
      const bool starts = kernels_.excludes_self;
      return kernels_.sums->sums.begin(sums_, starts ? kernels_.identity : output,
                                       starts ? 0 : stride, n);
    }
    if (!kernels_.excludes_self) return;
    if (kernels_.has_identity) {
      return kernels_.move.combine.run(output, stride, kernels_.identity, 0, n);
    }
    Row row = Weighted(n, (*first)++, turn, i);
    kernels_.move.combine.run(output, stride, row.memory, row.stride, n);
  }

  void Apply(unsigned char* output, int64_t n, int64_t k, const int64_t* turn, int64_t i) {
    const Row row = Weighted(n, k, turn, i);
    if (kernels_.sums == nullptr) {
      return kernels_.combine.run(output, run_.stride[kTurnOutput], row.memory, row.stride, n);
    }
    ++terms_;
    kernels_.sums->sums.add(sums_, row.memory, row.stride, n);
  }

  void Finish(unsigned char* output, int64_t n) const {
    if (kernels_.sums == nullptr) return;
    kernels_.sums->sums.finish(
        {output, run_.stride[kTurnOutput], sums_, 1, n, terms_ + (kernels_.excludes_self ? 0 : 1)});
  }

  struct Row {
    const unsigned char* memory;
    int64_t stride;
  };

  // The update of entry k of the piece, times its weight.
  Row Weighted(int64_t n, int64_t k, const int64_t* turn, int64_t i) {
    const int64_t stride = run_.stride[kTurnUpdates];
    const unsigned char* const update =
        UpdateAt(piece_.updates()[k] + turn[kTurnUpdates] + i * stride);
    if (scatter_.source.weights == nullptr) return {update, stride};
    const int64_t of_weights = run_.stride[kTurnWeights];
    kernels_.move.combine.run(products_, 1, update, stride, n);
    kernels_.multiply(products_, 1,
                      WeightAt(piece_.weights()[k] + turn[kTurnWeights] + i * of_weights),
                      of_weights, n);
    return {products_, 1};
  }

  // ---- Elements ----

  void WriteElements(const int64_t* turn, bool begins, bool ends) {
    const int64_t n = piece_.entries();
    GatherElements(kernels_.width, UpdateAt(turn[kTurnUpdates]), piece_.updates(), n, products_);
    if (scatter_.source.weights != nullptr && n > 0) {
      GatherElements(kernels_.width, WeightAt(turn[kTurnWeights]), piece_.weights(), n, weights_);
      kernels_.multiply(products_, 1, weights_, 1, n);
    }
    unsigned char* const origin = OutputAt(turn[kTurnOutput]);
    if (kernels_.sums != nullptr) return SumElements(origin, begins, ends);
    if (n > 0) CombineElements(origin);
  }

  void CombineElements(unsigned char* origin) {
    int64_t offsets[Piece::kMost];
    const int64_t n = piece_.entries();
    const auto elements = kernels_.combine.elements[kernel::kOffset64];
    const auto move = kernels_.move.combine.elements[kernel::kOffset64];
    if (kernels_.kind == STREW_NONE) {
      return elements(Tile(origin, offsets, ListFirst(offsets, /*last=*/true)), {});
    }
    if (!std::exchange(has_begun_, true) && kernels_.excludes_self) {
      const int64_t groups = ListFirst(offsets, false);
      if (!kernels_.has_identity) return ReplaceFirst(origin);
      kernel::TileArguments tile = Tile(origin, offsets, groups);
      tile.updates = kernels_.identity;
      tile.updates_column_stride = 0;
      move(tile, {});
    }
    for (int64_t g = 0; g < piece_.groups(); ++g) {
      std::fill(offsets + piece_.begin(g), offsets + piece_.end(g), piece_.destination(g));
    }
    elements(Tile(origin, offsets, n), {});
  }

  // Lists the destinations of groups that have an update, and brings the first or last update of
  // each to the front of the products if `last`. Returns how many there are.
  int64_t ListFirst(int64_t* offsets, bool last) {
    int64_t count = 0;
    for (int64_t g = 0; g < piece_.groups(); ++g) {
      if (piece_.begin(g) == piece_.end(g)) continue;
      const int64_t width = kernels_.width;
      if (last) {
        std::memmove(products_ + count * width, products_ + (piece_.end(g) - 1) * width,
                     static_cast<size_t>(width));
      }
      offsets[count++] = piece_.destination(g);
    }
    return count;
  }

  // Without an identity the first update replaces the element.
  void ReplaceFirst(unsigned char* origin) {
    const int64_t width = kernels_.width;
    for (int64_t g = 0; g < piece_.groups(); ++g) {
      unsigned char* const output = origin + piece_.destination(g) * width;
      for (int64_t k = piece_.begin(g); k < piece_.end(g); ++k) {
        const kernel::RunKernel run =
            k == piece_.begin(g) ? kernels_.move.combine.run : kernels_.combine.run;
        run(output, 1, products_ + k * width, 1, 1);
      }
    }
  }

  // Old values take the place of the products at the end.
  void SumElements(unsigned char* origin, bool begins, bool ends) {
    const kernel::AccumulateKernels& kernels = *kernels_.sums;
    const int64_t groups = piece_.groups();
    int32_t slots[Piece::kMost];
    for (int64_t g = 0; g < groups; ++g) {
      std::fill(slots + piece_.begin(g), slots + piece_.end(g), static_cast<int32_t>(g));
    }
    if (begins) {
      std::fill_n(counts_, groups, 0);
      GatherElements(kernels_.width, origin, piece_.destinations(), groups, old_);
      const bool starts = kernels_.excludes_self;
      kernels.sums.begin(sums_, starts ? kernels_.identity : old_, starts ? 0 : 1, groups);
    }
    if (piece_.entries() > 0) {
      kernels.add_each({sums_, counts_}, {slots, products_, 1, piece_.entries()});
    }
    if (!ends) return;
    kernels.finish_each({sums_, counts_}, kernels_.excludes_self ? 0 : 1, old_, 1, groups);
    kernel::TileArguments tile = Tile(origin, piece_.destinations(), groups);
    tile.updates = old_;
    kernels_.move.combine.elements[kernel::kOffset64](tile, {});
  }

  kernel::TileArguments Tile(unsigned char* origin, const int64_t* offsets, int64_t n) const {
    return kernel::RowTile(origin, products_, offsets, n, 0);
  }

  const OrderedScatter& scatter_;
  const Kernels& kernels_;
  const bool by_rows_;
  TurnNest outside_;  // of the run
  plan::Loop<kTurnOperands> run_;
  Piece piece_;
  int64_t applied_ = 0;
  int64_t terms_ = 0;
  bool has_begun_ = false;  // whether the current group has had an update
  uint32_t counts_[kBlock];
  alignas(64) unsigned char products_[kBlock * plan::kMostWidth];
  alignas(64) unsigned char sums_[kBlock * plan::kMostWidth];
  alignas(64) unsigned char old_[kBlock * plan::kMostWidth];
  alignas(64) unsigned char weights_[kBlock * plan::kMostWidth];
};

// The group that has the entry at a position of the order, or begins there.
int64_t GroupAt(const Plan& plan, int64_t position) {
  if (!plan.firsts.exists()) return position;
  return plan.firsts.Visit([&](const auto* firsts) {
    using T = std::decay_t<decltype(firsts[0])>;
    const auto* const end = firsts + plan.groups();
    return static_cast<int64_t>(std::lower_bound(firsts, end, static_cast<T>(position)) - firsts);
  });
}

}  // namespace

bool CanBeOrdered(const Plan& plan, strew_reduction reduction) {
  return plan.is_ordered() &&
         (ReductionKind(reduction) != STREW_MEAN || plan.kept < kernel::kMostTerms);
}

Status ApplyOrdered(const OrderedScatter& scatter, int64_t* applied) {
  const Plan& plan = scatter.plan;
  const Kernels kernels(scatter);
  int64_t units = 1;
  for (int i = 0; i < scatter.inner.rank; ++i) units *= scatter.inner.loop[i].count;
  const plan::Machine machine(scatter.call);
  // An entry takes a miss or two, and its bytes are read once.
  const double nanoseconds =
      static_cast<double>(plan.kept) * (4 + 0.1 * static_cast<double>(units * kernels.width));
  const int64_t tasks = std::min(plan::TasksFor(machine, nanoseconds), plan.groups());
  const int64_t parts = std::min(plan::PartsFor(machine, tasks), plan.groups());
  std::atomic<int64_t> sum{0};
  STREW_TRY(share::ForEachPart(scatter.call, tasks, parts, [&](int64_t part, int64_t) {
    const auto border = [&](int64_t p) {
      return p == parts ? plan.groups() : GroupAt(plan, plan.kept / parts * p);
    };
    sum += GroupWriter(scatter, kernels).Write(border(part), border(part + 1));
  }));
  *applied = sum;
  return STREW_OK;
}

}  // namespace strew::prepared
