// SPDX-License-Identifier: Apache-2.0
#include "prepared/short_loops.h"

#include <algorithm>
#include <cstring>

#include "plan/pattern.h"
#include "plan/schedule.h"

namespace strew::prepared {
namespace {

// Limits: bytes of the offsets and of the updates of a block, which has at most kPassBlock entries.
constexpr int64_t kOffsetBytes = kPassBlock * int64_t{sizeof(int32_t)};
constexpr int64_t kUpdateBytes = kPassBlock * 8;

// Loops whose entries are consecutive in both plans.
using FlatUpdates = plan::FlatNest<kUpdateOperands>;

int64_t MostOfBlock(const EntryPass& pass) {
  return std::min({kPassBlock, kOffsetBytes / kernel::OffsetSize(pass.from.width),
                   kOffsetBytes / kernel::OffsetSize(pass.to.width), kUpdateBytes / pass.size});
}

bool FlattenUpdates(const EntryPass& pass, const UpdateNest& nest, int64_t block,
                    FlatUpdates* flat) {
  if (nest.rank < 2) return false;
  const int64_t innermost = nest.loop[nest.rank - 1].count;
  if (innermost > plan::TuningOf(pass.passage.call).longest_pass_loop) return false;
  const auto lies_together = [](const UpdateLoop& loop, int64_t turns) {
    return loop.stride[kFromEntry] == turns && loop.stride[kToEntry] == turns;
  };
  if (!plan::Flatten(nest, block, lies_together, flat)) return false;
  return flat->period_turns * flat->slab.count >= std::min(2 * innermost, block / 2);
}

// The offsets of a block's updates in each operand, without those of their places, from the offset
// of the first update.
struct Patterns {
  Patterns(const EntryPass& pass, const FlatUpdates& flat, int64_t slabs)
      : weights(flat, kWeight, slabs) {
    Fill(pass.from, flat, slabs, source);
    Fill(pass.to, flat, slabs, output);
  }

  static void Fill(const PlacedTensor& tensor, const FlatUpdates& flat, int64_t slabs,
                   void* offsets) {
    plan::FillPattern(flat.period, flat.slab, tensor.offset, slabs,
                      tensor.width == kernel::kOffset32, offsets);
  }

  alignas(64) unsigned char source[kOffsetBytes];
  alignas(64) unsigned char output[kOffsetBytes];
  const plan::Positions<kPassBlock> weights;
};

// Stores the offsets of n updates.
void Locate(const PlacedTensor& tensor, const int64_t* first, int64_t n,
            const unsigned char* pattern, void* offsets) {
  std::memcpy(offsets, pattern, static_cast<size_t>(n * kernel::OffsetSize(tensor.width)));
  UpdateLoop consecutive = {n, {}};
  consecutive.stride[tensor.entry] = 1;
  tensor.Locate(first, {1, {}}, consecutive, true, offsets);
}

void Multiply(const EntryPass& pass, const int64_t* first, int64_t n, const Patterns& patterns,
              unsigned char* updates) {
  alignas(64) unsigned char copies[kUpdateBytes];
  const unsigned char* const weights =
      patterns.weights.Bring(pass.size, pass.WeightAt(first), n, copies);
  pass.multiply(updates, 1, weights, 1, n);
}

void PassBlock(const EntryPass& pass, const int64_t* first, int64_t n, const Patterns& patterns) {
  alignas(64) unsigned char updates[kUpdateBytes];
  alignas(64) unsigned char from[kOffsetBytes];
  alignas(64) unsigned char to[kOffsetBytes];
  Locate(pass.to, first, n, patterns.output, to);
  pass.Fetch(first, to, n);
  Locate(pass.from, first, n, patterns.source, from);
  pass.Gather(first, from, n, updates);
  if (pass.multiply != nullptr) Multiply(pass, first, n, patterns, updates);
  pass.Combine(first, to, n, updates);
}

}  // namespace

bool PassShortLoops(const EntryPass& pass, const UpdateNest& nest) {
  FlatUpdates flat;
  const int64_t block = MostOfBlock(pass);
  if (!FlattenUpdates(pass, nest, block, &flat)) return false;
  const int64_t step = std::min(block / flat.period_turns, flat.slab.count);
  const Patterns patterns(pass, flat, step);
  plan::ForEachTurn(flat.outside, flat.outside.rank, [&](const int64_t* at) {
    for (int64_t s = 0; s < flat.slab.count; s += step) {
      int64_t first[kUpdateOperands];
      plan::MoveToTurn(at, flat.slab, s, first);
      const int64_t n = std::min(step, flat.slab.count - s) * flat.period_turns;
      PassBlock(pass, first, n, patterns);
    }
  });
  return true;
}

}  // namespace strew::prepared
