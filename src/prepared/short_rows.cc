// SPDX-License-Identifier: Apache-2.0
#include "prepared/short_rows.h"

#include <algorithm>

#include "plan/pattern.h"
#include "prepared/placed_runs.h"

namespace strew::prepared {
namespace {

// Rows of a block: the loops over them and over the elements of each.
struct Block {
  UpdateLoop rows;
  UpdateLoop row;
  int64_t size() const { return rows.count * row.count; }
};

// Stores the offsets of all elements of a block.
void Locate(const PlacedTensor& tensor, const int64_t* first, const Block& block, void* offsets) {
  alignas(64) unsigned char of_rows[kPassOffsetBytes];
  tensor.Locate(first, {1, {}}, block.rows, false, of_rows);
  plan::ExpandRows(of_rows, block.rows.count, block.row.count, block.row.stride[tensor.offset],
                   tensor.width == kernel::kOffset32, offsets);
}

void Gather(const EntryPass& pass, const int64_t* first, const Block& block,
            unsigned char* updates) {
  const PlacedTensor& from = pass.from;
  const UpdateLoop& rows = block.rows;
  if (block.row.stride[kSource] == 1 && rows.stride[kFromEntry] == 1) {
    return GatherRuns({from.places, false, first[kFromEntry], rows.count, 0, updates,
                       block.row.count * pass.size, from.tensor.data + first[kSource] * pass.size,
                       from.numbering.stride() * pass.size, rows.stride[kSource] * pass.size,
                       pass.move.run, pass.size, block.row.count, 0});
  }
  alignas(64) unsigned char offsets[kPassOffsetBytes];
  Locate(from, first, block, offsets);
  pass.Gather(first, offsets, block.size(), updates);
}

void Multiply(const EntryPass& pass, const int64_t* first, const Block& block,
              unsigned char* updates) {
  const int64_t run = block.row.count, stride = block.row.stride[kWeight];
  const int64_t row_stride = block.rows.stride[kWeight];
  const unsigned char* const weights = pass.WeightAt(first);
  if (row_stride == run * stride) {
    return pass.multiply(updates, 1, weights, stride, block.size());
  }
  alignas(64) unsigned char packed[kPassBytes];
  kernel::WalkBox(pass.move.run, pass.size,
                  {packed, weights, block.rows.count, run, row_stride, run, 1, stride, true});
  pass.multiply(updates, 1, packed, 1, block.size());
}

void PassBlock(const EntryPass& pass, const int64_t* first, const Block& block) {
  alignas(64) unsigned char updates[kPassBytes];
  alignas(64) unsigned char to[kPassOffsetBytes];
  Locate(pass.to, first, block, to);
  pass.Fetch(first, to, block.size());
  Gather(pass, first, block, updates);
  if (pass.multiply != nullptr) Multiply(pass, first, block, updates);
  pass.Combine(first, to, block.size(), updates);
}

}  // namespace

void PassShortRows(const EntryPass& pass, UpdateNest nest) {
  Block block;
  block.row = nest.PopInnermost();
  block.rows = nest.PopInnermost();
  const int64_t rows = block.rows.count, step = kPassBlock / block.row.count;
  plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
    for (int64_t r = 0; r < rows; r += step) {
      int64_t first[kUpdateOperands];
      plan::MoveToTurn(at, block.rows, r, first);
      block.rows.count = std::min(step, rows - r);
      PassBlock(pass, first, block);
    }
  });
}

}  // namespace strew::prepared
