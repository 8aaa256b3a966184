// SPDX-License-Identifier: Apache-2.0
#include "prepared/short_loops.h"

#include <algorithm>
#include <cstring>

#include "plan/pattern.h"
#include "plan/schedule.h"
#include "prepared/schedule.h"

namespace strew::prepared {
namespace {

// Limit: entries of a block, and bytes of their offsets and products, which are on the stack.
constexpr int64_t kBlock = kPassBlock;
constexpr int64_t kOffsetBytes = kBlock * int64_t{sizeof(int32_t)};
constexpr int64_t kProductBytes = kBlock * 8;

// Adds the offsets of a plan's places to `offsets`.
void AddPlaces(kernel::ResolveKernel resolve, const Plan& plan, const Layout& layout, int64_t first,
               int64_t n, void* offsets) {
  const Numbers& places = plan.places;
  const kernel::IndexTile tile = {
      places.data() + first * places.width(), 1, 0, n, 1, plan.NumberOfPlaces()};
  resolve({tile, layout.places.stride(), 0, 0, true, offsets});
}

// Room for the offsets of a block, in either width.
struct Offsets {
  alignas(64) unsigned char bytes[kOffsetBytes];

  void CopyFrom(const Offsets& other, int64_t n, kernel::OffsetWidth width) {
    std::memcpy(bytes, other.bytes, static_cast<size_t>(n * kernel::OffsetSize(width)));
  }
};

}  // namespace

// The offsets of a block's updates in each operand, without those of their places, from the offset
// of the first update.
struct ShortLoops::Patterns {
  Offsets source;
  Offsets output;
  alignas(64) int64_t weights[kBlock];
  bool weights_are_line;
};

ShortLoops::ShortLoops(const Passage& passage, const Combiner& combiner, kernel::RunKernel multiply)
    : passage_(passage),
      combiner_(combiner),
      multiply_(multiply),
      source_width_(kernel::OffsetWidthOf(SpanOf(passage.source))),
      output_width_(kernel::OffsetWidthOf(SpanOf(passage.output))),
      resolve_from_(ResolveKernelOf(passage, passage.from, source_width_)),
      resolve_to_(ResolveKernelOf(passage, passage.to, output_width_)),
      size_(passage.output.element_size),
      block_(std::min({kBlock, kOffsetBytes / kernel::OffsetSize(source_width_),
                       kOffsetBytes / kernel::OffsetSize(output_width_), kProductBytes / size_})) {}

bool ShortLoops::Flatten(const UpdateNest& nest, FlatUpdates* flat) const {
  const int64_t longest = plan::TuningOf(passage_.call).longest_pass_loop;
  if (nest.rank < 2 || nest.loop[nest.rank - 1].count > longest) return false;
  flat->outside = nest;
  flat->turns = 1;
  const auto lies_together = [&] {
    if (flat->outside.rank == 0) return false;
    const UpdateLoop& loop = flat->outside.loop[flat->outside.rank - 1];
    return loop.stride[kFromEntry] == flat->turns && loop.stride[kToEntry] == flat->turns;
  };
  int first = nest.rank;
  while (lies_together() && nest.loop[first - 1].count <= block_ / 2 / flat->turns) {
    flat->turns *= nest.loop[--first].count;
    --flat->outside.rank;
  }
  if (first == nest.rank) return false;
  flat->period.rank = nest.rank - first;
  std::copy(nest.loop + first, nest.loop + nest.rank, flat->period.loop);
  flat->slab = lies_together() ? flat->outside.PopInnermost() : UpdateLoop{1, {}};
  return flat->turns * flat->slab.count >= std::min(2 * nest.loop[nest.rank - 1].count, block_ / 2);
}

int64_t ShortLoops::Run(const FlatUpdates& flat, bool fetches_output) const {
  Patterns patterns;
  const int64_t step = std::min(block_ / flat.turns, flat.slab.count);
  plan::FillPattern(flat.period, flat.slab, kSource, step, source_width_ == kernel::kOffset32,
                    patterns.source.bytes);
  plan::FillPattern(flat.period, flat.slab, kOutput, step, output_width_ == kernel::kOffset32,
                    patterns.output.bytes);
  plan::FillPattern(flat.period, flat.slab, kWeight, step, patterns.weights);
  patterns.weights_are_line = true;
  for (int64_t i = 0; i < step * flat.turns; ++i) {
    patterns.weights_are_line = patterns.weights_are_line && patterns.weights[i] == i;
  }
  int64_t applied = 0;
  plan::ForEachTurn(flat.outside, flat.outside.rank, [&](const int64_t* at) {
    for (int64_t s = 0; s < flat.slab.count; s += step) {
      int64_t first[kUpdateOperands];
      for (int o = 0; o < kUpdateOperands; ++o) first[o] = at[o] + s * flat.slab.stride[o];
      const int64_t n = std::min(step, flat.slab.count - s) * flat.turns;
      RunBlock(first, n, patterns, fetches_output);
      applied += n;
    }
  });
  return applied;
}

void ShortLoops::RunBlock(const int64_t* first, int64_t n, const Patterns& patterns,
                          bool fetches_output) const {
  alignas(64) unsigned char products[kProductBytes];
  Offsets to;
  to.CopyFrom(patterns.output, n, output_width_);
  AddPlaces(resolve_to_, passage_.to, passage_.of_to, first[kToEntry], n, to.bytes);
  if (fetches_output) {
    kernel::PrefetchElements(passage_.output.data + first[kOutput] * size_, size_, output_width_,
                             to.bytes, n);
  }
  Gather(first, n, patterns, products);
  if (multiply_ != nullptr) Multiply(first, n, patterns, products);
  combiner_.Combine(output_width_, first[kOutput], products, to.bytes, n);
}

void ShortLoops::Gather(const int64_t* first, int64_t n, const Patterns& patterns,
                        unsigned char* products) const {
  Offsets from;
  from.CopyFrom(patterns.source, n, source_width_);
  AddPlaces(resolve_from_, passage_.from, passage_.of_from, first[kFromEntry], n, from.bytes);
  const unsigned char* const source = passage_.source.data + first[kSource] * size_;
  if (source_width_ == kernel::kOffset32) {
    const auto* const offsets = reinterpret_cast<const int32_t*>(from.bytes);
    return kernel::GatherElements(size_, source, offsets, n, products);
  }
  const auto* const offsets = reinterpret_cast<const int64_t*>(from.bytes);
  kernel::GatherElements(size_, source, offsets, n, products);
}

void ShortLoops::Multiply(const int64_t* first, int64_t n, const Patterns& patterns,
                          unsigned char* products) const {
  const unsigned char* const weights = passage_.weights->data + first[kWeight] * size_;
  if (patterns.weights_are_line) return multiply_(products, 1, weights, 1, n);
  alignas(64) unsigned char together[kProductBytes];
  kernel::GatherElements(size_, weights, patterns.weights, n, together);
  multiply_(products, 1, together, 1, n);
}

}  // namespace strew::prepared
