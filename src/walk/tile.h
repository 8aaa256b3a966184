// SPDX-License-Identifier: Apache-2.0
// Processes tiles: converts their indices into offsets, which stay in the L1 cache, and passes the
// entries to a kernel that writes them, or to a sink.
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
  int64_t lookahead;  // more columns of a single row that are only prefetched; else 0
  int64_t next_rows;  // to the next tile that begins in another row; 0 for none
  bool in_order;      // the next entries come next, those of the same row first
};

// The memory to which the entries of a tile are written: the output, or a strip of it in scratch.
struct TileDestination {
  unsigned char* memory;  // of the first entry's batch, without any index
  int64_t row_stride;     // of the batch, in units; 0 for entries
  int64_t column_stride;
  // Strips have one stride of the indexed axis. In the output each component has its own.
  bool is_strip;
  int64_t axis_stride;
};

// Entries of plan::FlatLoops, with consecutive indices.
struct FlatTile {
  const unsigned char* indices;  // of the only component
  const unsigned char* updates;
  int64_t updates_stride;
  int64_t entries;
  const void* pattern;  // offsets of the entries' batches, in the type of offsets
  bool is_packed;       // indices and updates may be copies
  bool has_next;        // as many entries follow; false if packed
};

// The updates of a tile, for sinks that read positions: rows of `columns` entries. Row r begins at
// first + position[r * columns], in units. If `position` is NULL there is one row, which begins at
// `first`.
struct UpdateRows {
  int64_t first;
  const int64_t* position;
  int64_t columns;
  int64_t stride;
};

// Turns the indices of tiles into offsets.
class TileLocator {
 public:
  TileLocator(const Scatter& scatter, kernel::OffsetWidth offset_width, int64_t block,
              const plan::LaterReads& next_part = {0, 0});

  // Most entries of a tile.
  int64_t block() const { return block_; }
  kernel::OffsetWidth offset_width() const { return offset_width_; }

  // `offset` is that of a turn of the outer loops.
  void Locate(const int64_t* offset, const Tile& tile, const TileDestination& destination,
              void* offsets) const;
  void Locate(const FlatTile& tile, void* offsets) const;
  // Memory that is read later: by the next part of a draft, or by the next tile, or by the entries
  // that are `most_ahead` further on if these are nearer.
  kernel::NextReads NextReadsAfter(const int64_t* offset, const Tile& tile,
                                   const TileDestination& destination, int64_t most_ahead) const;
  kernel::NextReads NextReadsAfter(const FlatTile& tile) const;
  // Position of the first entry's update, in units; address of its index, if it has one component.
  int64_t UpdateOf(const int64_t* offset, const Tile& tile) const;
  const unsigned char* IndicesOf(const int64_t* offset, const Tile& tile) const;

  // Locates entries that are written later, and prefetches the reads of the next tile.
  void LocateAhead(const int64_t* offset, const Tile& tile, const TileDestination& destination,
                   void* offsets) const;
  // Prefetches indices and updates of entries that are written later. `updates` is the first update
  // of this tile.
  void Fetch(const kernel::NextReads& next_reads, const unsigned char* updates,
             int64_t columns) const;

 private:
  void Resolve(const kernel::ResolveArguments& arguments) const;
  plan::LaterReads LaterReadsOf(const Tile& tile, int64_t most_ahead) const;
  void AddNextLines(const Tile& tile, const TileDestination& destination, int64_t most_ahead,
                    kernel::NextReads* next_reads) const;

  const Scatter& scatter_;
  const kernel::OffsetWidth offset_width_;
  const int64_t block_;
  const plan::LaterReads next_part_;
  const bool fetches_reads_;  // of the next tile
};

class TileWriter {
 public:
  static constexpr int64_t kOffsetBytes = plan::kBlockBytes;

  TileWriter(const Scatter& scatter, const plan::MemoryHints& hints);

  const TileLocator& locator() const { return locator_; }
  // Prefetch distance in entries.
  int64_t prefetch() const { return hints_.prefetch; }
  // Most entries of a tile of rows. No offsets are stored if indices serve as such.
  int64_t most_entries() const {
    // With prefetch, the indices of several rows are resolved all the same.
    const bool are_long = hints_.prefetch == 0 || scatter_.loops.row.count == 1;
    return hints_.indices_are_offsets && are_long ? scatter_.tuning.unresolved_tile
                                                  : locator_.block();
  }
  bool reads_values() const { return true; }

  void Take(const int64_t* offset, const Tile& tile, const TileDestination& destination) const;
  void Take(const FlatTile& tile, const UpdateRows& rows, unsigned char* output) const;
  // Makes streamed stores visible.
  void Finish() const;

 private:
  // Number of copies of an update that all entries share.
  static constexpr int64_t kCopies = 128;

  kernel::TileArguments EntriesOf(const Tile& tile, const TileDestination& destination) const;
  void WriteAtIndices(const int64_t* offset, const Tile& tile,
                      const TileDestination& destination) const;
  void WriteAtOffsets(const int64_t* offset, const Tile& tile,
                      const TileDestination& destination) const;
  void WriteShortAxis(kernel::TileArguments entries, const TileDestination& destination,
                      const unsigned char* updates) const;
  int64_t AscendingStep(const kernel::TileArguments& entries,
                        kernel::OffsetWidth offset_width) const;
  bool LeavesReadsToCpu(kernel::OffsetWidth offset_width, kernel::TileArguments* entries) const;
  bool AreDense(const kernel::TileArguments& entries, kernel::OffsetWidth offset_width) const;
  void WriteElements(kernel::TileArguments entries, const TileDestination& destination,
                     const unsigned char* updates, kernel::NextReads next_reads,
                     kernel::OffsetWidth offset_width) const;
  void WriteRows(const kernel::TileArguments& entries, const Tile& tile,
                 const TileDestination& destination, const unsigned char* updates,
                 bool folds) const;
  void WriteCopies(kernel::TileArguments entries, kernel::NextReads next_reads,
                   kernel::OffsetWidth offset_width, unsigned char* copies) const;
  void TakeHalves(const int64_t* offset, const Tile& tile, TileDestination destination) const;
  bool TakesIndices(const int64_t* offset, const Tile& tile) const;
  bool RepeatsIndex(const Tile& tile) const;
  bool HasFoldableRows(const Tile& tile, const TileDestination& destination, void* offsets) const;
  void FoldRows(const Tile& tile, const TileDestination& destination,
                kernel::RowsArguments* rows) const;

  const Scatter& scatter_;
  const plan::MemoryHints hints_;
  // The hints may be those of another reduction.
  const bool combines_in_vectors_;
  const TileLocator locator_;
};

// Passes the entries of tiles to a sink, row by row.
class TileGiver {
 public:
  static constexpr int64_t kOffsetBytes = EntrySink::kMostColumns * int64_t{sizeof(int64_t)};

  TileGiver(const Scatter& scatter, const EntrySink& sink);

  const TileLocator& locator() const { return locator_; }
  // Sinks prefetch by themselves.
  int64_t prefetch() const { return 0; }
  int64_t most_entries() const { return locator_.block(); }
  bool reads_values() const { return sink_.reads == EntrySink::Reads::kValues; }

  void Take(const int64_t* offset, const Tile& tile, const TileDestination& destination) const;
  void Take(const FlatTile& tile, const UpdateRows& rows, unsigned char* output) const;
  void Finish() const {}

 private:
  const Scatter& scatter_;
  const EntrySink sink_;
  const TileLocator locator_;
};

}  // namespace strew::walk

#endif  // STREW_WALK_TILE_H_
