// SPDX-License-Identifier: Apache-2.0
#include "walk/entry_boxes.h"

#include "plan/unit.h"
#include "walk/box.h"
#include "walk/kernels.h"

namespace strew::walk {
namespace {

using plan::kOutput;
using plan::kUpdates;

Box BoxOfEntry(const Scatter& scatter, bool streams) {
  const plan::EntryLoops& loops = scatter.loops;
  BoxNest nest;
  const auto append = [&nest](const plan::InnerLoop& loop) {
    nest.Append(loop.count, loop.stride[kOutput], loop.stride[kUpdates]);
  };
  for (int i = 0; i < loops.inner.rank; ++i) append(loops.inner.loop[i]);
  append(loops.run);
  const plan::Units units = {static_cast<int32_t>(scatter.width), 1};
  ArrangeBox(units, &nest);
  const RunKernels kernels =
      RunKernelsFor(scatter.call, scatter.operands.output, scatter.reduction, units);
  return Box(kernels, nest, streams, scatter.tuning);
}

template <class Offset>
void WriteBoxes(const Scatter& scatter, const Box& box, const kernel::TileArguments& tile,
                unsigned char* output, const unsigned char* updates) {
  const auto* const offsets = static_cast<const Offset*>(tile.offsets);
  for (int64_t r = 0; r < tile.rows; ++r) {
    for (int64_t c = 0; c < tile.columns; ++c) {
      const int64_t to = r * tile.output_row_stride + offsets[r * tile.offsets_row_stride + c];
      const int64_t from = r * tile.updates_row_stride + c * tile.updates_column_stride;
      box.Run(output + to * scatter.width, updates + from * scatter.width);
    }
  }
}

}  // namespace

void WriteEntryBoxes(const Scatter& scatter, kernel::OffsetWidth offset_width,
                     const kernel::RowsArguments& rows, unsigned char* output,
                     const unsigned char* updates) {
  const Box box = BoxOfEntry(scatter, rows.streams);
  output += scatter.loops.inner.base[kOutput] * scatter.width;
  updates += scatter.loops.inner.base[kUpdates] * scatter.width;
  const auto write = offset_width == kernel::kOffset64 ? WriteBoxes<int64_t> : WriteBoxes<int32_t>;
  write(scatter, box, rows.tile, output, updates);
}

}  // namespace strew::walk
