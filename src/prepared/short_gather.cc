// SPDX-License-Identifier: Apache-2.0
#include "prepared/short_gather.h"

#include <algorithm>
#include <cstring>

#include "kernel/kernel.h"

namespace strew::prepared {
namespace {

// Most entries of a block.
constexpr int64_t kBlock = 256;
constexpr int64_t kOffsetBytes = kBlock * int64_t{sizeof(int64_t)};

// The longest innermost loop of entries that are not faster row by row. `innermost` is that of the
// output.
int64_t LongestColumn(const plan::Tuning& tuning, const EntryNest& nest,
                      const EntryLoop& innermost) {
  const EntryLoop& column = nest.loop[nest.rank - 1];
  if (innermost.stride[kGatheredEntry] != column.stride[kGatheredEntry]) {
    return tuning.most_gathered_apart / nest.loop[nest.rank - 2].count;
  }
  return column.stride[kGatheredSource] == 0 ? tuning.longest_gathered_line
                                             : tuning.longest_gathered_loop;
}

}  // namespace

bool FlattenEntries(const plan::Tuning& tuning, const EntryNest& nest, FlatEntries* flat) {
  if (nest.rank < 2) return false;
  EntryNest sorted;
  std::copy_n(nest.base, kGatherOperands, sorted.base);
  for (int i = 0; i < nest.rank; ++i) sorted.InsertByStride(kGatheredOutput, nest.loop[i]);
  const EntryLoop& innermost = sorted.loop[sorted.rank - 1];
  if (nest.loop[nest.rank - 1].count > LongestColumn(tuning, nest, innermost)) return false;
  const auto lies_together = [](const EntryLoop& loop, int64_t turns) {
    return loop.stride[kGatheredOutput] == turns;
  };
  if (innermost.count > kBlock / 2 && lies_together(innermost, 1)) {
    flat->outside = sorted;
    flat->slab = flat->outside.PopInnermost();
    flat->period.rank = 0;
    flat->period_turns = 1;
    return true;
  }
  if (!plan::Flatten(sorted, kBlock, lies_together, flat)) return false;
  return flat->period_turns * flat->slab.count >= std::min(2 * innermost.count, kBlock / 2);
}

void GatherFlat(const Call& call, const Plan& plan, const GatherLoops& loops,
                const FlatEntries& flat, const unsigned char* source, unsigned char* output) {
  alignas(64) unsigned char pattern[kOffsetBytes];
  alignas(64) unsigned char offsets[kOffsetBytes];
  alignas(64) unsigned char copies[kOffsetBytes];
  const int64_t size = loops.units.width;
  const kernel::OffsetWidth width = kernel::OffsetWidthOf(loops.source_bytes / size - 1);
  const bool is_narrow = width == kernel::kOffset32;
  const Numbers& places = plan.places;
  const kernel::ResolveKernel resolve =
      kernel::IndexKernelsFor(places.dtype(), call.settings().simd_target).resolve[width];
  const int64_t step = std::min(kBlock / flat.period_turns, flat.slab.count);
  plan::FillPattern(flat.period, flat.slab, kGatheredSource, step, is_narrow, pattern);
  const plan::Positions<kBlock> entries(flat, kGatheredEntry, step);
  plan::ForEachTurn(flat.outside, flat.outside.rank, [&](const int64_t* at) {
    for (int64_t s = 0; s < flat.slab.count; s += step) {
      int64_t first[kGatherOperands];
      plan::MoveToTurn(at, flat.slab, s, first);
      const int64_t n = std::min(step, flat.slab.count - s) * flat.period_turns;
      const unsigned char* const of_first = places.data() + first[kGatheredEntry] * places.width();
      const unsigned char* const indices = entries.Bring(places.width(), of_first, n, copies);
      std::memcpy(offsets, pattern, static_cast<size_t>(n * kernel::OffsetSize(width)));
      resolve({{indices, 1, n, n, 1, plan.NumberOfPlaces()},
               loops.layout.places.stride(),
               0,
               0,
               true,
               offsets});
      const unsigned char* const from = source + first[kGatheredSource] * size;
      unsigned char* const to = output + first[kGatheredOutput] * size;
      if (is_narrow) {
        kernel::GatherElements(size, from, reinterpret_cast<const int32_t*>(offsets), n, to);
      } else {
        kernel::GatherElements(size, from, reinterpret_cast<const int64_t*>(offsets), n, to);
      }
    }
  });
}

}  // namespace strew::prepared
