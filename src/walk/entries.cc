// SPDX-License-Identifier: Apache-2.0
#include "walk/entries.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/cache_size.h"
#include "plan/pattern.h"
#include "plan/pieces.h"
#include "plan/traversal.h"
#include "plan/unit.h"
#include "walk/box.h"
#include "walk/kernels.h"
#include "walk/slices.h"
#include "walk/tile.h"

namespace strew::walk {
namespace {

using plan::kData;
using plan::kIndices;
using plan::kOutput;
using plan::kUpdates;
using plan::Traversal;

// `Taker` is TileWriter or TileGiver.
template <class Taker>
class EntryWalk {
 public:
  EntryWalk(const Scatter& scatter, const Taker& taker, const plan::Staging& staging,
            unsigned char* scratch, bool strips_stream)
      : scatter_(scatter),
        loops_(scatter.loops),
        taker_(taker),
        staging_(staging),
        scratch_(scratch),
        strips_stream_(strips_stream),
        block_(taker.locator().block()) {}

  // Runs every traversal but kSlices.
  void Run(Traversal traversal, const plan::FlatLoops& flat) const {
    if (traversal == Traversal::kFlat) {
      WalkFlat(flat);
    } else if (traversal == Traversal::kPacked) {
      WalkPacked(flat);
    } else if (traversal == Traversal::kBatchColumns) {
      WalkBatchColumns();
    } else {
      const auto walk = traversal == Traversal::kLongRows    ? &EntryWalk::WalkLongRows
                        : traversal == Traversal::kShortRows ? &EntryWalk::WalkShortRows
                                                             : &EntryWalk::WalkStrips;
      plan::ForEachTurn(loops_.outer, loops_.outer.rank,
                        [&](const int64_t* offset) { (this->*walk)(offset); });
    }
    taker_.Finish();
  }

 private:
  void WalkFlat(const plan::FlatLoops& flat) const;
  void WalkPacked(const plan::FlatLoops& flat) const;
  void WalkStrips(const int64_t* offset) const;
  // An operand in which columns of batch lie in cache lines of their own, or kNoOperand.
  static constexpr int kNoOperand = -1;
  int OperandOfColumnsApart() const;
  void WalkBatchColumns() const;
  // Walks blocks of so many columns, one after the other.
  void WalkOuterByStride(int operand, int64_t block) const;
  void WalkOuter(const plan::IndexedNest& outer, int64_t block) const;
  void WalkShortRows(const int64_t* offset) const;
  void WalkLongRows(const int64_t* offset) const;
  void WalkColumns(const int64_t* offset, int64_t column, int64_t columns,
                   TileDestination destination) const;
  TileDestination InOutput(const int64_t* offset, int64_t row, int64_t column) const;

  const Scatter& scatter_;
  const plan::EntryLoops& loops_;
  const Taker& taker_;
  const plan::Staging& staging_;
  unsigned char* const scratch_;
  const bool strips_stream_;
  const int64_t block_;
};

template <class Taker>
TileDestination EntryWalk<Taker>::InOutput(const int64_t* offset, int64_t row,
                                           int64_t column) const {
  const int64_t row_stride = loops_.row.stride[kOutput];
  const int64_t column_stride = loops_.column.stride[kOutput];
  const int64_t batch = offset[kOutput] + row * row_stride + column * column_stride;
  return {scatter_.OutputAt(batch), row_stride, column_stride, false, 0};
}

// ---- Rows of entries ----

template <class Taker>
void EntryWalk<Taker>::WalkLongRows(const int64_t* offset) const {
  const int64_t columns = loops_.column.count;
  const int64_t step = taker_.most_entries() - taker_.prefetch();
  for (int64_t r = 0; r < loops_.row.count; ++r) {
    for (int64_t c = 0; c < columns; c += step) {
      const int64_t left = columns - c;
      const int64_t lookahead = std::min(taker_.prefetch(), std::max<int64_t>(left - step, 0));
      const int64_t next = r + 1 < loops_.row.count ? 1 : 0;
      taker_.Take(offset, {r, 1, c, std::min(left, step), lookahead, next, true},
                  InOutput(offset, r, c));
    }
  }
}

template <class Taker>
void EntryWalk<Taker>::WalkShortRows(const int64_t* offset) const {
  const int64_t rows = loops_.row.count;
  const int64_t columns = loops_.column.count;
  const int64_t height = taker_.most_entries() / columns;
  for (int64_t r = 0; r < rows; r += height) {
    const int64_t left = rows - r;
    const int64_t count = std::min(height, left);
    const int64_t next = left >= 2 * height ? height : 0;
    taker_.Take(offset, {r, count, 0, columns, 0, next, true}, InOutput(offset, r, 0));
  }
}

// ---- Columns that are batch ----

template <class Taker>
void EntryWalk<Taker>::WalkColumns(const int64_t* offset, int64_t column, int64_t columns,
                                   TileDestination destination) const {
  const int64_t rows = loops_.row.count;
  const int64_t height = block_ / columns;
  assert(height > 0);
  unsigned char* const first = destination.memory;
  for (int64_t r = 0; r < rows; r += height) {
    const int64_t left = rows - r;
    destination.memory = first + r * destination.row_stride * scatter_.width;
    const int64_t next = left >= 2 * height ? height : 0;
    taker_.Take(offset, {r, std::min(height, left), column, columns, 0, next, false}, destination);
  }
}

template <class Taker>
int EntryWalk<Taker>::OperandOfColumnsApart() const {
  const int64_t* const stride = loops_.column.stride;
  if (plan::AreLinesApart(stride[kOutput], scatter_.width)) return kOutput;
  if (plan::AreLinesApart(stride[kUpdates], scatter_.width)) return kUpdates;
  return plan::AreLinesApart(stride[kIndices], scatter_.index_size) ? kIndices : kNoOperand;
}

// If columns lie at least a cache line apart in an operand, their cache lines also hold elements of
// other outer turns. So all outer turns run for a block of columns while its lines are in the
// caches, those that share lines one after the other: sums of int64 of [16, 2, 55, 11619] and
// [8, 3, 74, 5703] with transposed updates took 0.75 and 0.83 x the time (Zen 4).
template <class Taker>
void EntryWalk<Taker>::WalkBatchColumns() const {
  const int64_t columns = loops_.column.count;
  const int apart = OperandOfColumnsApart();
  if (apart == kNoOperand || columns <= scatter_.tuning.most_undivided_columns) {
    return WalkOuter(loops_.outer, columns);
  }
  WalkOuterByStride(apart, scatter_.tuning.near_columns);
}

// Not inline, because other walks need no stack space for the loops.
template <class Taker>
[[gnu::noinline]] void EntryWalk<Taker>::WalkOuterByStride(int operand, int64_t block) const {
  WalkOuter(plan::OuterByStride(loops_, operand), block);
}

template <class Taker>
void EntryWalk<Taker>::WalkOuter(const plan::IndexedNest& outer, int64_t block) const {
  const int64_t columns = loops_.column.count;
  const int64_t step = plan::BatchColumns(loops_, scatter_.tuning, scatter_.width, block_);
  for (int64_t first = 0; first < columns; first += block) {
    const int64_t end = std::min(first + block, columns);
    plan::ForEachTurn(outer, outer.rank, [&](const int64_t* offset) {
      for (int64_t c = first; c < end; c += step) {
        WalkColumns(offset, c, std::min(step, end - c), InOutput(offset, 0, c));
      }
    });
  }
}

// Copies each strip of columns into scratch, where its axis is compact, and back.
template <class Taker>
void EntryWalk<Taker>::WalkStrips(const int64_t* offset) const {
  assert(loops_.components == 1 && scratch_ != nullptr);
  const plan::Component& axis = loops_.component[0];
  const bool fresh = staging_.copies_data;
  const int operand = fresh ? kData : kOutput;
  const int64_t source_axis_stride = fresh ? axis.data_stride : axis.output_stride;
  const int64_t source_stride = loops_.column.stride[operand];
  const int64_t output_stride = loops_.column.stride[kOutput];
  const int64_t columns = loops_.column.count;
  // A block of clamped indices holds fewer entries than a strip of one-byte elements has columns.
  const int64_t step = std::min(staging_.strip, block_);
  for (int64_t c = 0; c < columns; c += step) {
    const int64_t strip = std::min(step, columns - c);
    const int64_t source = offset[operand] + c * source_stride;
    const unsigned char* const from = fresh ? scatter_.DataAt(source) : scatter_.OutputAt(source);
    unsigned char* const to = scatter_.OutputAt(offset[kOutput] + c * output_stride);
    kernel::WalkBox(
        scatter_.move.combine.run, scatter_.width,
        {scratch_, from, axis.axis_size, strip, source_axis_stride, strip, 1, source_stride});
    WalkColumns(offset, c, strip, {scratch_, 0, 1, true, strip});
    kernel::WalkBox(
        strips_stream_ ? scatter_.move.stream : scatter_.move.combine.run, scatter_.width,
        {to, scratch_, axis.axis_size, axis.output_stride, strip, strip, output_stride, 1});
  }
  if (strips_stream_) kernel::FinishStreaming();
}

// ---- Short loops, walked as one ----

// Not inline, because the other walks need no stack space for a pattern.
template <class Taker>
[[gnu::noinline]] void EntryWalk<Taker>::WalkFlat(const plan::FlatLoops& flat) const {
  alignas(64) unsigned char pattern[Taker::kOffsetBytes];
  const int64_t step = std::min(block_ / flat.period_turns, flat.slab.count);
  const bool is_narrow = taker_.locator().offset_width() == kernel::kOffset32;
  plan::FillPattern(flat.period, flat.slab, kOutput, step, is_narrow, pattern);
  plan::ForEachTurn(flat.outside, flat.outside.rank, [&](const int64_t* offset) {
    for (int64_t s = 0; s < flat.slab.count; s += step) {
      const int64_t left = flat.slab.count - s;
      const int64_t before = s * flat.period_turns;
      const int64_t index = offset[kIndices] + loops_.component[0].indices_base + before;
      const int64_t update = offset[kUpdates] + before * flat.update_stride;
      const int64_t entries = std::min(left, step) * flat.period_turns;
      taker_.Take({scatter_.IndexAt(index), scatter_.UpdateAt(update), flat.update_stride, entries,
                   pattern, false, left >= 2 * step},
                  {update, nullptr, entries, flat.update_stride},
                  scatter_.OutputAt(offset[kOutput] + s * flat.slab.stride[kOutput]));
    }
  });
}

// Prefetches rows [first, first + count) if they ascend by at most a cache line each. Packed rows
// of 2 indices that lie 40 bytes apart took 0.7 to 0.85 times the time beyond the caches (Emerald
// Rapids).
void FetchRows(const unsigned char* rows, int64_t row_bytes, int64_t first, int64_t count) {
  if (count <= 0 || row_bytes <= 0 || row_bytes > kCacheLine) return;
  kernel::PrefetchOnce(rows + first * row_bytes, count * row_bytes);
}

// Copies indices, and updates if their values are read, into contiguous buffers.
template <class Taker>
[[gnu::noinline]] void EntryWalk<Taker>::WalkPacked(const plan::FlatLoops& flat) const {
  constexpr int64_t kMost = plan::kMostPacked;
  alignas(64) unsigned char pattern[kMost * int64_t{sizeof(int64_t)}];
  alignas(64) unsigned char indices[kMost * int64_t{sizeof(int64_t)}];
  alignas(64) unsigned char updates[kMost * plan::kMostWidth];
  const int64_t step = std::min(kMost / flat.period_turns, flat.slab.count);
  const bool is_narrow = taker_.locator().offset_width() == kernel::kOffset32;
  plan::FillPattern(flat.period, flat.slab, kOutput, step, is_narrow, pattern);
  const plan::Positions<kMost> of_indices(flat, kIndices, step);
  const plan::Positions<kMost> of_updates(flat, kUpdates, step);
  const plan::IndexedLoop row = plan::IndexedNest(flat.period).PopInnermost();
  const bool is_far =
      scatter_.operands.indices.size > scatter_.tuning.near_packed_indices / scatter_.index_size;
  plan::ForEachTurn(flat.outside, flat.outside.rank, [&](const int64_t* offset) {
    for (int64_t s = 0; s < flat.slab.count; s += step) {
      const int64_t n = std::min(flat.slab.count - s, step) * flat.period_turns;
      const int64_t index =
          offset[kIndices] + loops_.component[0].indices_base + s * flat.slab.stride[kIndices];
      const int64_t update = offset[kUpdates] + s * flat.slab.stride[kUpdates];
      if (is_far) {
        const int64_t next = std::min(step, flat.slab.count - s - step);
        FetchRows(scatter_.IndexAt(index), flat.slab.stride[kIndices] * scatter_.index_size, step,
                  next);
        if (taker_.reads_values()) {
          FetchRows(scatter_.UpdateAt(update), flat.slab.stride[kUpdates] * scatter_.width, step,
                    next);
        }
      }
      const unsigned char* const index_copies =
          of_indices.Bring(scatter_.index_size, scatter_.IndexAt(index), n, indices);
      const unsigned char* update_copies = updates;
      if (taker_.reads_values()) {
        update_copies = of_updates.Bring(scatter_.width, scatter_.UpdateAt(update), n, updates);
      }
      taker_.Take({index_copies, update_copies, 1, n, pattern, true, false},
                  {update, of_updates.at(), row.count, row.stride[kUpdates]},
                  scatter_.OutputAt(offset[kOutput] + s * flat.slab.stride[kOutput]));
    }
  });
}

}  // namespace

namespace {

// Copies data to all elements that the loops span.
void CopyData(const Scatter& scatter) {
  const bool data_is_alike = SameStrides(scatter.operands.data, scatter.operands.output);
  BoxNest nest = plan::PieceLoops(scatter.loops, data_is_alike);
  const int64_t to = std::exchange(nest.base[plan::kPieceOutput], 0);
  const int64_t from = std::exchange(nest.base[plan::kPieceData], 0);
  const plan::Units units = {static_cast<int32_t>(scatter.width), 1};
  ArrangeBox(units, &nest);
  Box(RunKernelsFor(scatter.call, scatter.operands.output, STREW_NONE, units), nest,
      /*stream=*/false, scatter.tuning)
      .Run(scatter.OutputAt(to), scatter.DataAt(from));
}

// Copies each piece of data just before its updates. Not inline, because other calls need no stack
// space for the loops of a piece.
[[gnu::noinline]] void WritePieces(const Scatter& scatter, const plan::MemoryHints& hints) {
  const plan::Cut cut = plan::PiecesOf(scatter.loops, scatter.tuning, scatter.width);
  plan::MemoryHints of_pieces = hints;
  of_pieces.streams = false;  // their copies are in the caches
  for (int64_t piece = 0; piece < cut.parts(); ++piece) {
    plan::EntryLoops loops = scatter.loops;
    loops.Restrict(cut, piece);
    const Scatter of_piece(scatter, loops);
    CopyData(of_piece);
    WriteEntries(of_piece, of_pieces, plan::kNoStaging, nullptr);
  }
}

}  // namespace

void WriteEntries(const Scatter& scatter, const plan::MemoryHints& hints,
                  const plan::Staging& staging, unsigned char* scratch) {
  if (staging.copies_data && staging.strip == 0) return WritePieces(scatter, hints);
  const TileWriter writer(scatter, hints);
  plan::TraversalLoops chosen;
  const Traversal traversal =
      plan::TraversalFor(scatter.loops, plan::Machine(scatter.call), scatter.width,
                         writer.locator().block(), staging, hints.keeps_rows, &chosen);
  if (traversal == Traversal::kSlices) return WriteSlices(scatter, chosen.slices, hints.streams);
  EntryWalk<TileWriter>(scatter, writer, staging, scratch, hints.strips_stream)
      .Run(traversal, chosen.flat);
}

void GiveEntries(const Scatter& scatter, const EntrySink& sink) {
  const TileGiver giver(scatter, sink);
  plan::FlatLoops flat;
  const Traversal traversal =
      plan::TraversalOfSink(scatter.loops, scatter.tuning, giver.locator().block(), &flat);
  EntryWalk<TileGiver>(scatter, giver, plan::kNoStaging, nullptr, false).Run(traversal, flat);
}

}  // namespace strew::walk
