// SPDX-License-Identifier: Apache-2.0
#include "prepared/by_entries.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/cache_size.h"
#include "base/identity.h"
#include "base/reduction.h"
#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "prepared/combiner.h"
#include "prepared/elements.h"
#include "prepared/short_loops.h"
#include "prepared/update_nest.h"
#include "share/parts.h"
#include "walk/kernels.h"

namespace strew::prepared {
namespace {

constexpr int64_t kBlock = 256;

// Prefetches numbers that lie after a gap, across which the hardware does not prefetch.
void Fetch(const Numbers& numbers, int64_t first, int64_t n) {
  if (first + n > numbers.count()) return;
  kernel::PrefetchOnce(numbers.data() + first * numbers.width(), n * numbers.width());
}

class EntryWalk {
 public:
  EntryWalk(const Passage& passage, const plan::Machine& machine)
      : passage_(passage),
        combiner_(passage),
        multiply_(passage.weights == nullptr
                      ? nullptr
                      : walk::IndexedKernelsFor(passage.call, passage.output, STREW_MUL).run),
        offset_width_(kernel::OffsetWidthOf(SpanOf(passage.output))),
        resolve_(ResolveKernelOf(passage, passage.to, offset_width_)),
        move_(walk::MoveKernelsFor(passage.call, plan::IndexedUnitsOf(passage.output.element_size))
                  .combine.run),
        short_loops_(passage, combiner_, multiply_),
        size_(passage.output.element_size) {
    const int rank = passage.of_to.rank;
    for (int i = 0; i < rank; ++i) {
      const Dim& from = passage.of_from.dims[i];
      const Dim& to = passage.of_to.dims[i];
      const int64_t weight =
          passage.weights == nullptr ? 0 : WeightStride(*passage.weights, i, rank);
      nest_.Append(to.count, from.entry_stride, to.entry_stride, from.indexed_stride,
                   to.indexed_stride, weight);
    }
    nest_.Merge();
    if (nest_.rank > 0) row_ = nest_.loop[nest_.rank - 1];
    CutIntoBlocks();
    fetches_output_ = Reach() > plan::NearBytes(machine);
    are_lines_ = !passage.from.has_dropped() && !passage.to.has_dropped() &&
                 passage.of_from.places.is_line() && passage.of_to.places.is_line() &&
                 (nest_.rank == 0 || row_.stride[kFromEntry] == 1 || row_.stride[kFromEntry] == 0);
  }

  // Bytes of the output that the destinations of a block's entries may spread over.
  int64_t Reach() const {
    const Layout& layout = passage_.of_to;
    if (blocked_ < 0) return layout.places.Span() * size_;
    return passage_.to.NumberOfPlaces() * std::max(kCacheLine, kBlock * size_);
  }

  // Cuts the outermost loop into parts if it is a loop of batches, which never share destinations.
  plan::Cut CutInto(int64_t parts) const {
    plan::Cut cut;
    const bool is_batch = nest_.rank > 0 && nest_.loop[0].stride[kOutput] != 0;
    if (is_batch) cut.Append(nest_.loop[0].count, 1, parts);
    return cut;
  }

  // Returns the number of updates.
  int64_t Run(const plan::Cut& cut, int64_t part) const {
    UpdateNest nest = nest_;
    cut.KeepPart(part, &nest);
    if (blocked_ < 0) return RunBlock(nest);
    int64_t applied = 0;
    const int64_t turns = nest.loop[blocked_].count;
    for (int64_t i = 0; i < turns; i += block_turns_) {
      UpdateNest block = nest;
      block.Restrict(blocked_, i, std::min(block_turns_, turns - i));
      applied += RunBlock(block);
    }
    return applied;
  }

 private:
  // If loops of batches lie within loops of entries, the batches are walked in blocks. Each block
  // runs all turns of the loops around it, so that the elements that its entries touch stay in the
  // caches: 8 to 16 million sums between matrices of 11 to 20,000 rows along the first axis took
  // 0.2 to 0.97 times the time without blocks (Zen 4).
  void CutIntoBlocks() {
    constexpr int64_t kBlockBytes = int64_t{64} << 10;
    int64_t columns = 1;
    int i = nest_.rank - 1;
    while (i > 0 && IsBatch(i) && columns * nest_.loop[i].count <= kBlock) {
      columns *= nest_.loop[i--].count;
    }
    if (i <= 0 || !IsBatch(i)) return;
    int64_t turns = 1;
    for (int outer = 0; outer < i; ++outer) turns *= IsBatch(outer) ? 1 : nest_.loop[outer].count;
    if (turns == 1) return;
    blocked_ = i;
    block_turns_ = std::max(kBlock, kBlockBytes / size_ / turns) / columns;
  }
  bool IsBatch(int i) const { return nest_.loop[i].stride[kOutput] != 0; }

  int64_t RunBlock(UpdateNest nest) const {
    FlatUpdates flat;
    if (are_lines_ && short_loops_.Flatten(nest, &flat)) {
      return short_loops_.Run(flat, fetches_output_);
    }
    const int64_t count = nest.PopInnermost().count;
    return are_lines_ ? RunLines(nest, count) : RunGathered(nest, count);
  }

  // Updates that are applied together.
  struct Gathered {
    int64_t n = 0;
    int64_t from[kBlock];
    int64_t to[kBlock];
    int64_t weights[kBlock];
  };

  // Applies rows of `count` entries, several rows at a time if they are short. Not inline, like
  // RunGathered(), because the other ways do not need its stack space.
  [[gnu::noinline]] int64_t RunLines(UpdateNest nest, int64_t count) const {
    UpdateLoop rows = {1, {}};
    if (count <= kBlock / 2) rows = nest.PopInnermost();
    const int64_t step = std::max<int64_t>(kBlock / count, 1);
    UpdateLoop rows_of_block = rows;
    const bool has_gaps = blocked_ >= 0 && nest.rank > 0;
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
  [[gnu::noinline]] int64_t RunGathered(const UpdateNest& nest, int64_t count) const {
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
    if (fetches_output_) {
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
  const Combiner combiner_;
  const kernel::RunKernel multiply_;
  const kernel::OffsetWidth offset_width_;
  const kernel::ResolveKernel resolve_;  // of the places of `to`
  const kernel::RunKernel move_;
  const ShortLoops short_loops_;
  const int64_t size_;
  // True if no entry is dropped, places are lines in both tensors, and a row takes consecutive
  // entries of `from` or a single one.
  bool are_lines_;
  bool fetches_output_;
  UpdateNest nest_;
  UpdateLoop row_ = {1, {}};  // the innermost loop
  int blocked_ = -1;          // the loop that is walked in blocks of block_turns_; -1 for none
  int64_t block_turns_ = 0;
};

// Stores the identity at each destination, instead of the old value.
void StartAnew(const Passage& passage) {
  alignas(plan::kMostWidth) unsigned char identity[plan::kMostWidth];
  StoreIdentity(passage.output.dtype, ReductionKind(passage.reduction), identity);
  const kernel::CombineKernels& move =
      walk::MoveKernelsFor(passage.call, plan::IndexedUnitsOf(passage.output.element_size)).combine;
  const Numbers& destinations = passage.to.destinations;
  for (int64_t g = 0; g < destinations.count(); g += kBlock) {
    const int64_t n = std::min(kBlock, destinations.count() - g);
    int64_t offsets[kBlock];
    destinations.Visit([&](const auto* numbers) { std::copy_n(numbers + g, n, offsets); });
    passage.of_to.destinations.Resolve(offsets, n);
    kernel::TileArguments tile = kernel::RowTile(passage.output.data, identity, offsets, n, 0);
    tile.updates_column_stride = 0;
    move.elements[kernel::kOffset64](tile, {});
  }
}

// True if updates are single elements that are combined in the output, one by one.
bool Applies(const Passage& passage) {
  const strew_reduction kind = ReductionKind(passage.reduction);
  if (kind == STREW_MEAN || IsWide(passage.reduction)) return false;
  if (plan::IndexedUnitsOf(passage.output.element_size).count > 1) return false;
  // Turns along which neither plan changes form rows, which are not single elements.
  bool has_turns = false;
  for (int i = 0; i < passage.of_to.rank; ++i) {
    const Dim& to = passage.of_to.dims[i];
    if (to.count == 1 || to.entry_stride != 0) continue;
    if (passage.of_from.dims[i].entry_stride == 0) return false;
    has_turns = true;
  }
  if (!ExcludesSelf(passage.reduction) || kind == STREW_NONE) return true;
  return !has_turns && HasIdentity(passage.output.dtype, kind) && !passage.from.has_dropped();
}

}  // namespace

int64_t WeightStride(const TensorView& weights, int dim, int rank) {
  const int own = dim - (rank - weights.rank);
  return own < 0 ? 0 : StrideOf(weights, own);
}

Status PassByEntries(const Passage& passage, bool* done, int64_t* applied) {
  if (!Applies(passage)) return STREW_OK;
  constexpr double kNanoseconds = 5;  // of an entry
  const plan::Machine machine(passage.call);
  const EntryWalk walk(passage, machine);
  // If destinations spread over more bytes than the caches hold, and entries touch more lines than
  // they hold, the order of destinations is faster: it reads only the source and the weights at
  // random. 4 M entries between tensors of 64 MiB took 0.9 times the time of the order of entries,
  // with weights 1.3 times; between tensors of 4 MiB 2.5 times (Zen 4).
  const bool is_far = walk.Reach() > machine.cache_bytes && passage.weights == nullptr;
  if (is_far && passage.to.all_entries > machine.cache_bytes / kCacheLine) return STREW_OK;
  const int64_t tasks =
      plan::TasksFor(machine, kNanoseconds * static_cast<double>(passage.to.all_entries));
  const plan::Cut cut = walk.CutInto(plan::PartsFor(machine, tasks));
  if (cut.parts() < tasks) return STREW_OK;  // the order of destinations gives every task a part
  if (ExcludesSelf(passage.reduction) && ReductionKind(passage.reduction) != STREW_NONE) {
    StartAnew(passage);
  }
  std::atomic<int64_t> sum{0};
  STREW_TRY(share::ForEachPart(passage.call, tasks, cut.parts(),
                               [&](int64_t part, int64_t) { sum += walk.Run(cut, part); }));
  *applied = sum;
  *done = true;
  return STREW_OK;
}

}  // namespace strew::prepared
