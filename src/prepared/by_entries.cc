// SPDX-License-Identifier: Apache-2.0
#include "prepared/by_entries.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/identity.h"
#include "base/reduction.h"
#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/unit.h"
#include "prepared/combiner.h"
#include "prepared/elements.h"
#include "prepared/short_loops.h"
#include "prepared/short_rows.h"
#include "share/parts.h"
#include "walk/kernels.h"

namespace strew::prepared {
namespace {

constexpr int64_t kBlock = kPassBlock;

// Prefetches numbers that lie after a gap, across which the hardware does not prefetch.
void Fetch(const Numbers& numbers, int64_t first, int64_t n) {
  if (first + n > numbers.count()) return;
  kernel::PrefetchOnce(numbers.data() + first * numbers.width(), n * numbers.width());
}

class EntryWalk {
 public:
  EntryWalk(const Passage& passage, const UpdateNest& nest, const PlanSchedule& schedule)
      : passage_(passage),
        schedule_(schedule),
        combiner_(passage, schedule.reduction),
        multiply_(passage.weights == nullptr
                      ? nullptr
                      : walk::IndexedKernelsFor(passage.call, passage.output, STREW_MUL).run),
        offset_width_(kernel::OffsetWidthOf(SpanOf(passage.output))),
        resolve_(ResolveKernelOf(passage, passage.to, offset_width_)),
        move_(walk::MoveKernelsFor(passage.call, plan::IndexedUnitsOf(passage.output.element_size))
                  .combine.run),
        short_loops_(passage, combiner_, multiply_),
        short_rows_(passage, combiner_, multiply_),
        size_(passage.output.element_size) {
    if (nest.rank > 0) row_ = nest.loop[nest.rank - 1];
  }

  // Returns the number of updates.
  int64_t Run(const UpdateNest& nest) const {
    const BatchBlocks& blocks = schedule_.blocks;
    if (blocks.loop < 0) return RunBlock(nest);
    int64_t applied = 0;
    const int64_t turns = nest.loop[blocks.loop].count;
    for (int64_t i = 0; i < turns; i += blocks.turns) {
      UpdateNest block = nest;
      block.Restrict(blocks.loop, i, std::min(blocks.turns, turns - i));
      applied += RunBlock(block);
    }
    return applied;
  }

 private:
  int64_t RunBlock(const UpdateNest& nest) const {
    if (schedule_.in_rows) return short_rows_.Run(nest, schedule_.fetches_output);
    FlatUpdates flat;
    if (schedule_.in_lines && short_loops_.Flatten(nest, &flat)) {
      return short_loops_.Run(flat, schedule_.fetches_output);
    }
    return schedule_.in_lines ? RunLines(nest) : RunGathered(nest);
  }

  // Updates that are applied together.
  struct Gathered {
    int64_t n = 0;
    int64_t from[kBlock];
    int64_t to[kBlock];
    int64_t weights[kBlock];
  };

  // Applies rows of entries, several rows at a time if they are short. Not inline, like
  // RunGathered(), because the other ways do not need its stack space.
  [[gnu::noinline]] int64_t RunLines(UpdateNest nest) const {
    const int64_t count = nest.PopInnermost().count;
    UpdateLoop rows = {1, {}};
    if (count <= kBlock / 2) rows = nest.PopInnermost();
    const int64_t step = std::max<int64_t>(kBlock / count, 1);
    UpdateLoop rows_of_block = rows;
    const bool has_gaps = schedule_.blocks.loop >= 0 && nest.rank > 0;
    int64_t applied = 0;
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
      for (int64_t r = 0; r < rows.count; r += step) {
        for (int64_t c = 0; c < count; c += kBlock) {
          int64_t first[kUpdateOperands];
          for (int o = 0; o < kUpdateOperands; ++o) {
            first[o] = at[o] + r * rows.stride[o] + c * row_.stride[o];
          }
          const int64_t n = std::min(kBlock, count - c);
          rows_of_block.count = std::min(step, rows.count - r);
          if (has_gaps) FetchNext(first, nest.loop[nest.rank - 1], n * rows_of_block.count);
          ApplyLines(first, n, rows_of_block);
          applied += n * rows_of_block.count;
        }
      }
    });
    return applied;
  }

  // Prefetches the places of the next turn.
  void FetchNext(const int64_t* first, const UpdateLoop& turns, int64_t n) const {
    Fetch(passage_.from.places, first[kFromEntry] + turns.stride[kFromEntry], n);
    Fetch(passage_.to.places, first[kToEntry] + turns.stride[kToEntry], n);
  }

  // Applies entries some of which may be dropped, or whose places are not lines.
  [[gnu::noinline]] int64_t RunGathered(UpdateNest nest) const {
    const int64_t count = nest.PopInnermost().count;
    Gathered gathered;
    int64_t applied = 0;
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
      for (int64_t c = 0; c < count; c += kBlock) {
        int64_t first[kUpdateOperands];
        for (int o = 0; o < kUpdateOperands; ++o) first[o] = at[o] + c * row_.stride[o];
        const int64_t n = std::min(kBlock, count - c);
        if (gathered.n + n > kBlock) applied += Apply(&gathered);
        Add(first, n, &gathered);
      }
    });
    return applied + Apply(&gathered);
  }

  // Applies `n` entries of each row.
  void ApplyLines(const int64_t* first, int64_t n, const UpdateLoop& rows) const {
    alignas(64) unsigned char products[kBlock * plan::kMostWidth];
    int64_t to[kBlock];
    const void* const offsets = OffsetsOf(first, n, rows, to);
    // Destinations are prefetched while the source is gathered. 4 million sums between vectors of
    // 16 and of 64 MiB took 0.83 and 0.9 times the time without prefetch, maxima of int8 in 16 MiB
    // 0.62 times; in 4 MiB and less 1.05 to 1.15 times (Zen 4).
    if (schedule_.fetches_output) {
      kernel::PrefetchElements(passage_.output.data + first[kOutput] * size_, size_, offset_width_,
                               offsets, n * rows.count);
    }
    if (row_.stride[kFromEntry] == 0) {
      CopyRows(first, n, rows, products);
    } else {
      GatherRuns({passage_.from.places, false, first[kFromEntry], n, 0, products, size_,
                  passage_.source.data + first[kSource] * size_,
                  passage_.of_from.places.stride() * size_, row_.stride[kSource] * size_, nullptr,
                  size_, 1, 0, rows.count, rows.stride[kFromEntry], n * size_,
                  rows.stride[kSource] * size_});
    }
    for (int64_t r = 0; multiply_ != nullptr && r < rows.count; ++r) {
      const int64_t weight = first[kWeight] + r * rows.stride[kWeight];
      multiply_(products + r * n * size_, 1, passage_.weights->data + weight * size_,
                row_.stride[kWeight], n);
    }
    combiner_.Combine(offset_width_, first[kOutput], products, offsets, n * rows.count);
  }

  // Copies rows whose entries all take from one place, because the indices of their plan repeat
  // along the row.
  void CopyRows(const int64_t* first, int64_t n, const UpdateLoop& rows,
                unsigned char* products) const {
    for (int64_t r = 0; r < rows.count; ++r) {
      const int64_t place =
          passage_.from.places.At(first[kFromEntry] + r * rows.stride[kFromEntry]);
      const int64_t source =
          place * passage_.of_from.places.stride() + first[kSource] + r * rows.stride[kSource];
      move_(products + r * n * size_, 1, passage_.source.data + source * size_,
            row_.stride[kSource], n);
    }
  }

  // Returns the offsets of the entries in the output: the places themselves if these need no
  // conversion, else `memory`.
  const void* OffsetsOf(const int64_t* first, int64_t n, const UpdateLoop& rows,
                        void* memory) const {
    const Numbers& places = passage_.to.places;
    const unsigned char* const from = places.data() + first[kToEntry] * places.width();
    const int64_t stride = passage_.of_to.places.stride();
    if (offset_width_ == kernel::OffsetWidthOfSize(places.width()) && places.width() >= 4 &&
        stride == 1 && row_.stride[kOutput] == 0 && row_.stride[kToEntry] == 1 && rows.count == 1) {
      return from;
    }
    const kernel::IndexTile tile = {from,
                                    rows.count,
                                    rows.stride[kToEntry],
                                    n,
                                    row_.stride[kToEntry],
                                    passage_.to.NumberOfPlaces()};
    resolve_({tile, stride, rows.stride[kOutput], row_.stride[kOutput], false, memory});
    return memory;
  }

  // Adds the entries that neither plan drops.
  void Add(const int64_t* first, int64_t n, Gathered* gathered) const {
    int64_t* const from = gathered->from + gathered->n;
    int64_t* const to = gathered->to + gathered->n;
    int64_t* const weights = gathered->weights + gathered->n;
    ReadPlaces(passage_.from, passage_.of_from, first[kFromEntry], row_.stride[kFromEntry], n,
               from);
    ReadPlaces(passage_.to, passage_.of_to, first[kToEntry], row_.stride[kToEntry], n, to);
    int64_t kept = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (from[i] == kNoUpdate || to[i] == kNoUpdate) continue;
      from[kept] = from[i] + first[kSource] + i * row_.stride[kSource];
      to[kept] = to[i] + first[kOutput] + i * row_.stride[kOutput];
      weights[kept++] = first[kWeight] + i * row_.stride[kWeight];
    }
    gathered->n += kept;
  }

  static void ReadPlaces(const Plan& plan, const Layout& layout, int64_t first, int64_t stride,
                         int64_t n, int64_t* offsets) {
    plan.places.Read([=](int64_t i) { return first + i * stride; }, n, offsets);
    layout.places.ResolveMarked(offsets, n);
  }

  // Applies the gathered updates, and clears them. Returns their number.
  int64_t Apply(Gathered* gathered) const {
    alignas(64) unsigned char products[kBlock * plan::kMostWidth];
    const int64_t n = std::exchange(gathered->n, 0);
    if (n == 0) return 0;
    kernel::GatherElements(size_, passage_.source.data, gathered->from, n, products);
    if (multiply_ != nullptr) {
      alignas(64) unsigned char weights[kBlock * plan::kMostWidth];
      kernel::GatherElements(size_, passage_.weights->data, gathered->weights, n, weights);
      multiply_(products, 1, weights, 1, n);
    }
    combiner_.Combine(kernel::kOffset64, 0, products, gathered->to, n);
    return n;
  }

  const Passage& passage_;
  const PlanSchedule& schedule_;
  const Combiner combiner_;
  const kernel::RunKernel multiply_;
  const kernel::OffsetWidth offset_width_;
  const kernel::ResolveKernel resolve_;  // of the places of `to`
  const kernel::RunKernel move_;
  const ShortLoops short_loops_;
  const ShortRows short_rows_;
  const int64_t size_;
  UpdateLoop row_ = {1, {}};  // the innermost loop
};

// Stores the identity, instead of the old value, at each destination, for all turns along which the
// plan of the output does not change.
void StartAnew(const Passage& passage, const UpdateNest& nest, strew_reduction kind) {
  alignas(plan::kMostWidth) unsigned char identity[plan::kMostWidth];
  StoreIdentity(passage.output.dtype, kind, identity);
  const kernel::CombineKernels& move =
      walk::MoveKernelsFor(passage.call, plan::IndexedUnitsOf(passage.output.element_size)).combine;
  UpdateNest turns;
  std::copy_n(nest.base, kUpdateOperands, turns.base);
  for (int i = 0; i < nest.rank; ++i) {
    if (nest.loop[i].stride[kToEntry] == 0) turns.loop[turns.rank++] = nest.loop[i];
  }
  const Numbers& destinations = passage.to.destinations;
  for (int64_t g = 0; g < destinations.count(); g += kBlock) {
    const int64_t n = std::min(kBlock, destinations.count() - g);
    int64_t offsets[kBlock];
    destinations.Visit([&](const auto* numbers) { std::copy_n(numbers + g, n, offsets); });
    passage.of_to.destinations.Resolve(offsets, n);
    plan::ForEachTurn(turns, turns.rank, [&](const int64_t* at) {
      unsigned char* const output = passage.output.data + at[kOutput] * passage.output.element_size;
      kernel::TileArguments tile = kernel::RowTile(output, identity, offsets, n, 0);
      tile.updates_column_stride = 0;
      move.elements[kernel::kOffset64](tile, {});
    });
  }
}

}  // namespace

Status PassByEntries(const Passage& passage, const UpdateNest& nest, const PlanSchedule& schedule,
                     int64_t* applied) {
  const strew_reduction kind = ReductionKind(schedule.reduction);
  const EntryWalk walk(passage, nest, schedule);
  const Pass& pass = schedule.pass;
  plan::Cut cut;
  if (pass.parts > 1) cut.Append(nest.loop[0].count, 1, pass.parts);
  const bool starts_anew = ExcludesSelf(schedule.reduction) && kind != STREW_NONE;
  // If the plan of the output does not change along the loop that is cut, each part stores the
  // identities of its own destinations. Otherwise those of all parts are stored before any part.
  const bool are_slices = pass.parts > 1 && nest.loop[0].stride[kToEntry] == 0;
  if (starts_anew && !are_slices) StartAnew(passage, nest, kind);
  std::atomic<int64_t> sum{0};
  STREW_TRY(share::ForEachPart(passage.call, pass.tasks, pass.parts, [&](int64_t part, int64_t) {
    UpdateNest kept = nest;
    if (pass.parts > 1) cut.KeepPart(part, &kept);
    if (starts_anew && are_slices) StartAnew(passage, kept, kind);
    sum += walk.Run(kept);
  }));
  *applied = sum;
  return STREW_OK;
}

}  // namespace strew::prepared
