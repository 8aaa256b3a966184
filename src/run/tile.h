// SPDX-License-Identifier: Apache-2.0
// A tile: its indices are turned into offsets that stay in the L1 cache, and a kernel
// walks them.
#ifndef STREW_RUN_TILE_H_
#define STREW_RUN_TILE_H_

#include "base/call.h"
#include "base/tensor_view.h"
#include "kernel/kernel.h"
#include "plan/index_space.h"
#include "plan/schedule.h"
#include "run/entry_sink.h"
#include "run/scatter.h"

namespace strew::run {

// Rows [row, row + rows) of columns [column, column + columns) of a sheet.
struct Tile {
  int64_t row;
  int64_t rows;
  int64_t column;
  int64_t columns;
  int64_t lookahead;  // columns behind those of the one row, for prefetching only; else 0
  // Rows and columns from here to a tile of the same shape that comes next; 0, 0 for none.
  int64_t next_rows;
  int64_t next_columns;
};

// Where the entries of a tile land: the output, or a strip of it in scratch.
struct TileDestination {
  unsigned char* memory;  // of the first entry's lane, before any index
  int64_t row_stride;     // of lanes, in units; 0 for entries
  int64_t column_stride;
  // Of the indexed axis in a strip. In the output each component has its own.
  bool is_strip;
  int64_t axis_stride;
};

// Entries that lie one behind the other in indices and updates, across loops.
struct FlatTile {
  int64_t index;   // where the first lies in indices
  int64_t update;  // in updates, in units
  int64_t entries;
  const void* pattern;  // offsets of the lanes of the entries, as wide as those of the applier
  bool has_next;        // whether as many entries lie behind these
};

// Offsets stay in the L1 cache between their making and their use.
inline constexpr int64_t kBlockBytes = 8192;
// Those of a row that goes to a sink.
inline constexpr int64_t kGivenBytes = EntrySink::kMostColumns * int64_t{sizeof(int64_t)};

class TileApplier {
 public:
  // Entries are written, or go to `sink` where it is not NULL.
  TileApplier(const Call& call, const IndexedScatter& scatter, const plan::IndexSpace& space,
              const plan::MemoryHints& hints, const EntrySink* sink);

  // Entries of which the offsets fit a block.
  int64_t block() const { return block_; }
  kernel::OffsetWidth offset_width() const { return offset_width_; }
  // Whether entries go to a sink.
  bool gives() const { return sink_ != nullptr; }
  // How many entries ahead of its turn a place is prefetched. Sinks do that by themselves.
  int64_t prefetch() const { return sink_ == nullptr ? hints_.prefetch : 0; }

  // Waits for what is streamed.
  void Finish() const;

  // Stores the offsets of a tile, and fetches what the next one will read.
  void Locate(const int64_t* offset, const Tile& tile, const TileDestination& destination,
              unsigned char* offsets) const;
  // `offset` is that of the sheet.
  void Apply(const int64_t* offset, const Tile& tile, const TileDestination& destination) const;
  // `output` is that of the lane of the first entry.
  void ApplyFlat(const FlatTile& tile, unsigned char* output) const;
  void GiveFlat(const FlatTile& tile, unsigned char* output) const;

 private:
  void Resolve(const int64_t* offset, const Tile& tile, const TileDestination& destination,
               void* offsets) const;
  // Of one component; indices that are out of range are clamped first.
  void ResolveIndices(kernel::ResolveArguments arguments) const;
  // Where the update of the first entry lies, in units.
  int64_t UpdateOf(const int64_t* offset, const Tile& tile) const;
  kernel::NextReads NextReadsAfter(const int64_t* offset, const Tile& tile,
                                   const TileDestination& destination) const;
  void WriteTile(const int64_t* offset, const Tile& tile, const TileDestination& destination) const;
  void GiveTile(const int64_t* offset, const Tile& tile, const TileDestination& destination) const;
  void LocateFlat(const FlatTile& tile, unsigned char* offsets) const;
  kernel::NextReads NextReadsAfter(const FlatTile& tile) const;
  bool FoldRows(const Tile& tile, const TileDestination& destination, void* offsets,
                kernel::RowsArguments* rows) const;

  const IndexedScatter& scatter_;
  const plan::IndexSpace& space_;
  const kernel::IndexKernels& index_kernels_;
  const kernel::CombineKernels& kernels_;
  const kernel::RunKernel run_;
  const EntrySink* const sink_;
  const plan::MemoryHints hints_;
  const kernel::OffsetWidth offset_width_;
  const int64_t width_;
  const int64_t block_;
  const bool wrap_;
};

}  // namespace strew::run

#endif  // STREW_RUN_TILE_H_
