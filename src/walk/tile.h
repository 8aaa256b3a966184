// SPDX-License-Identifier: Apache-2.0
// Tiles: their indices are turned into offsets that stay in the L1 cache, and a kernel writes the
// entries, or a sink takes them.
#ifndef STREW_WALK_TILE_H_
#define STREW_WALK_TILE_H_

#include <cstdint>

#include "kernel/kernel.h"
#include "plan/schedule.h"
#include "walk/entries.h"
#include "walk/scatter.h"

namespace strew::walk {

// Rows [row, row + rows) of columns [column, column + columns), for one turn of the outer loops.
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

// The memory on which the entries of a tile are written: the output, or a strip of it in scratch.
struct TileDestination {
  unsigned char* memory;  // of the first entry's batch, before any index
  int64_t row_stride;     // of the batch, in units; 0 for entries
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
  const void* pattern;  // where the batches of the entries lie, as wide as offsets
  bool has_next;        // as many entries lie behind these
};

// Offsets stay in the L1 cache between their making and their use.
inline constexpr int64_t kBlockBytes = 8192;

// Turns the indices of tiles into offsets.
class TileLocator {
 public:
  TileLocator(const Scatter& scatter, kernel::OffsetWidth offset_width, int64_t block);

  // As many entries as fit a block of offsets, or their clamped indices.
  int64_t block() const { return block_; }
  kernel::OffsetWidth offset_width() const { return offset_width_; }

  // `offset` is that of the outer loops.
  void Locate(const int64_t* offset, const Tile& tile, const TileDestination& destination,
              void* offsets) const;
  void Locate(const FlatTile& tile, void* offsets) const;
  // What the next tile will read.
  kernel::NextReads NextReadsAfter(const int64_t* offset, const Tile& tile,
                                   const TileDestination& destination) const;
  kernel::NextReads NextReadsAfter(const FlatTile& tile) const;
  // Where the update of the first entry lies, in units.
  int64_t UpdateOf(const int64_t* offset, const Tile& tile) const;

  // Locates entries that are not written yet, and fetches what comes next.
  void LocateAhead(const int64_t* offset, const Tile& tile, const TileDestination& destination,
                   void* offsets) const;

 private:
  void Resolve(kernel::ResolveArguments arguments) const;

  const Scatter& scatter_;
  const kernel::OffsetWidth offset_width_;
  const int64_t block_;
};

// Writes tiles.
class TileWriter {
 public:
  static constexpr int64_t kOffsetBytes = kBlockBytes;

  TileWriter(const Scatter& scatter, const plan::MemoryHints& hints);

  const TileLocator& locator() const { return locator_; }
  // How many entries ahead of its turn a destination is prefetched.
  int64_t prefetch() const { return hints_.prefetch; }

  void Take(const int64_t* offset, const Tile& tile, const TileDestination& destination) const;
  void Take(const FlatTile& tile, unsigned char* output) const;
  // Waits for what is streamed.
  void Finish() const;

 private:
  bool FoldRows(const Tile& tile, const TileDestination& destination, void* offsets,
                kernel::RowsArguments* rows) const;

  const Scatter& scatter_;
  const plan::MemoryHints hints_;
  const TileLocator locator_;
};

// Hands the entries of tiles to a sink, row by row.
class TileGiver {
 public:
  static constexpr int64_t kOffsetBytes = EntrySink::kMostColumns * int64_t{sizeof(int64_t)};

  TileGiver(const Scatter& scatter, const EntrySink& sink);

  const TileLocator& locator() const { return locator_; }
  // Sinks do that by themselves.
  int64_t prefetch() const { return 0; }

  void Take(const int64_t* offset, const Tile& tile, const TileDestination& destination) const;
  void Take(const FlatTile& tile, unsigned char* output) const;
  void Finish() const {}

 private:
  const Scatter& scatter_;
  const EntrySink sink_;
  const TileLocator locator_;
};

}  // namespace strew::walk

#endif  // STREW_WALK_TILE_H_
