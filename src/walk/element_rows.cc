// SPDX-License-Identifier: Apache-2.0
#include "walk/element_rows.h"

#include <algorithm>

#include "base/checked.h"
#include "base/dtype.h"
#include "plan/pattern.h"

namespace strew::walk {
namespace {

using plan::kOutput;
using plan::kUpdates;

constexpr int64_t kMost = 512;  // offsets

// Entries whose updates have one stride, within each entry and from one entry to the next.
struct Line {
  const unsigned char* offsets;
  const unsigned char* updates;
  int64_t entries;
  int64_t following;  // number of offsets after those of the line
};

class ElementWalk {
 public:
  ElementWalk(const Scatter& scatter, kernel::OffsetWidth offset_width,
              const kernel::RowsArguments& rows, unsigned char* output)
      : scatter_(scatter),
        inner_(scatter.loops.inner),
        offset_width_(offset_width),
        rows_(rows),
        output_(output),
        write_(scatter.kernels.elements[offset_width]) {}

  void Write(const Line& line) const {
    alignas(64) unsigned char offsets[kMost * sizeof(int64_t)];
    const int64_t prefetch = rows_.tile.prefetch;
    const int64_t step = kMost / rows_.run - prefetch;
    for (int64_t first = 0; first < line.entries; first += step) {
      const int64_t entries = std::min(step, line.entries - first);
      const int64_t ahead = std::min(prefetch, line.entries + line.following - first - entries);
      plan::ExpandRows(line.offsets + first * kernel::OffsetSize(offset_width_), entries + ahead,
                       rows_.run, rows_.output_run_stride, offset_width_ == kernel::kOffset32,
                       offsets);
      kernel::TileArguments tile =
          kernel::RowTile(nullptr, nullptr, offsets, entries * rows_.run, prefetch * rows_.run);
      tile.updates_column_stride = rows_.updates_run_stride;
      tile.lookahead = ahead * rows_.run;
      const unsigned char* const updates =
          line.updates + first * rows_.run * rows_.updates_run_stride * scatter_.width;
      plan::ForEachTurn(inner_, inner_.rank, [&](const int64_t* inner) {
        tile.output = output_ + inner[kOutput] * scatter_.width;
        tile.updates = updates + inner[kUpdates] * scatter_.width;
        write_(tile, {});
      });
    }
  }

 private:
  const Scatter& scatter_;
  const plan::InnerNest& inner_;
  const kernel::OffsetWidth offset_width_;
  const kernel::RowsArguments& rows_;
  unsigned char* const output_;
  const kernel::ElementsKernel write_;
};

// True if the updates of all rows of the tile have one stride.
bool IsOneLine(const kernel::RowsArguments& rows) {
  const kernel::TileArguments& tile = rows.tile;
  return tile.rows == 1 ||
         tile.updates_row_stride == tile.columns * rows.run * rows.updates_run_stride;
}

}  // namespace

bool AreElementRows(const Scatter& scatter, const kernel::RowsArguments& rows) {
  const plan::Tuning& tuning = scatter.tuning;
  const kernel::TileArguments& tile = rows.tile;
  const bool is_strided = rows.output_run_stride != 1 || rows.updates_run_stride != 1;
  const int64_t longest = is_strided ? tuning.strided_element_row : tuning.element_row;
  const DtypeInfo dtype = DescribeDtype(scatter.operands.output.dtype);
  const int64_t parts = rows.run * (dtype.size / dtype.alignment);
  if (parts > std::min(longest, kMost / 4) || rows.moves || scatter.kernels.heavy) return false;
  if (tile.prefetch > kMost / rows.run / 2) return false;
  const int64_t step = rows.run * rows.updates_run_stride;
  if (tile.columns > 1 && tile.updates_column_stride != step) return false;
  if (tile.columns < tuning.least_element_rows && !IsOneLine(rows)) return false;
  const int64_t last = (rows.run - 1) * static_cast<int64_t>(Magnitude(rows.output_run_stride));
  return scatter.loops.TileOffsets() == kernel::kOffset64 ||
         scatter.loops.tile_span <= INT32_MAX - last;
}

void WriteElementRows(const Scatter& scatter, kernel::OffsetWidth offset_width,
                      const kernel::RowsArguments& rows, unsigned char* output,
                      const unsigned char* updates) {
  const kernel::TileArguments& tile = rows.tile;
  const ElementWalk walk(scatter, offset_width, rows, output);
  const auto* const offsets = static_cast<const unsigned char*>(tile.offsets);
  const int64_t all = tile.rows * tile.columns + tile.lookahead;
  const int64_t columns = IsOneLine(rows) ? tile.rows * tile.columns : tile.columns;
  for (int64_t done = 0; done < all - tile.lookahead; done += columns) {
    const int64_t row = done / tile.columns;
    walk.Write({offsets + done * kernel::OffsetSize(offset_width),
                updates + row * tile.updates_row_stride * scatter.width, columns,
                all - done - columns});
  }
}

}  // namespace strew::walk
