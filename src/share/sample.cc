// SPDX-License-Identifier: Apache-2.0
#include "share/sample.h"

#include <algorithm>

#include "base/index_value.h"
#include "plan/schedule.h"
#include "base/checked.h"

namespace strew::share {
namespace {

using plan::kIndices;
using plan::kOutput;

// Samples are drawn at random distances, because those at equal distances might all hit the same
// position of a pattern that repeats.
uint64_t NextRandom(uint64_t random) {
  return random * 6364136223846793005u + 1442695040888963407u;
}

class Locator {
 public:
  explicit Locator(const walk::Scatter& scatter)
      : scatter_(scatter), loops_(scatter.loops), entries_(scatter.loops.Entries()) {}

  int64_t entries() const { return entries_; }

  // The destination of an entry, in units from the origin of the loops.
  int64_t DestinationOf(int64_t entry) const {
    int64_t destination = 0;
    int64_t index = loops_.outer.base[kIndices];
    const auto take_turn = [&](const plan::IndexedLoop& loop) {
      const int64_t turn = entry % loop.count;
      entry /= loop.count;
      destination += turn * loop.stride[kOutput];
      index += turn * loop.stride[kIndices];
    };
    take_turn(loops_.column);
    take_turn(loops_.row);
    for (int i = loops_.outer.rank - 1; i >= 0; --i) take_turn(loops_.outer.loop[i]);
    for (int c = 0; c < loops_.components; ++c) {
      const plan::Component& component = loops_.component[c];
      destination +=
          IndexAt(index + component.indices_base, component.axis_size) * component.output_stride;
    }
    return destination;
  }

 private:
  int64_t IndexAt(int64_t at, int64_t axis_size) const {
    const strew_dtype dtype = scatter_.operands.indices.dtype;
    const int64_t value = ReadIndex(dtype, scatter_.IndexAt(at)).value;
    return ClampedIndex(WrappedIndex(value, axis_size, /*wraps=*/true), axis_size);
  }

  const walk::Scatter& scatter_;
  const plan::EntryLoops& loops_;
  const int64_t entries_;
};

}  // namespace

void DrawSpread(const walk::Scatter& scatter, const plan::Machine& machine, int64_t ranges,
                plan::Spread* spread) {
  const Locator locator(scatter);
  const plan::Tuning& tuning = machine.tuning;
  const int64_t entries = locator.entries();
  const int64_t count = plan::Spread::CountFor(tuning, entries, ranges);
  const int64_t distance = std::max<int64_t>(entries / count, 1);
  int64_t followed = 0;
  uint64_t random = 1;
  for (int64_t i = 0; i < count; ++i) {
    random = NextRandom(random);
    const int64_t within = static_cast<int64_t>((random >> 33) % static_cast<uint64_t>(distance));
    const int64_t entry = (i * distance + within) % entries;
    const int64_t destination = locator.DestinationOf(entry);
    const int64_t step = locator.DestinationOf((entry + 1) % entries) - destination;
    followed += static_cast<int64_t>(Magnitude(step)) <= tuning.page / scatter.width ? 1 : 0;
    spread->Add(destination);
  }
  spread->Finish(1 - static_cast<double>(followed) / static_cast<double>(count),
                 plan::NearBytes(machine) / scatter.width);
}

}  // namespace strew::share
