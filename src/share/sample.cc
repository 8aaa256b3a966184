// SPDX-License-Identifier: Apache-2.0
#include "share/sample.h"

#include <algorithm>

#include "base/index_value.h"
#include "plan/schedule.h"
#include "plan/tuning.h"
#include "base/cache_size.h"

namespace strew::share {
namespace {

using plan::kIndices;
using plan::kOutput;
using plan::kTuning;

// Where entries have a pattern, samples at equal distances might all meet the same part of it.
uint64_t NextRandom(uint64_t random) {
  return random * 6364136223846793005u + 1442695040888963407u;
}

class Locator {
 public:
  Locator(const walk::IndexedScatter& scatter, const plan::IndexSpace& space)
      : scatter_(scatter), space_(space), entries_(space.row.count * space.column.count) {
    for (int i = 0; i < space.outer.rank; ++i) entries_ *= space.outer.loop[i].count;
  }

  int64_t entries() const { return entries_; }

  // Where an entry lands, in units from where the index space begins.
  int64_t DestinationOf(int64_t entry) const {
    int64_t destination = 0;
    int64_t index = space_.outer.base[kIndices];
    const auto take_turn = [&](const plan::IndexedLoop& loop) {
      const int64_t turn = entry % loop.count;
      entry /= loop.count;
      destination += turn * loop.stride[kOutput];
      index += turn * loop.stride[kIndices];
    };
    take_turn(space_.column);
    take_turn(space_.row);
    for (int i = space_.outer.rank - 1; i >= 0; --i) take_turn(space_.outer.loop[i]);
    for (int c = 0; c < space_.components; ++c) {
      const plan::Component& component = space_.component[c];
      destination +=
          PlaceAt(index + component.indices_base, component.axis_size) * component.output_stride;
    }
    return destination;
  }

 private:
  int64_t PlaceAt(int64_t index, int64_t axis_size) const {
    const TensorView& indices = scatter_.indices;
    const int64_t value =
        ReadIndex(indices.dtype, indices.data + index * indices.element_size).value;
    const int64_t place = value < 0 ? value + axis_size : value;
    return std::clamp<int64_t>(place, 0, std::max<int64_t>(axis_size - 1, 0));
  }

  const walk::IndexedScatter& scatter_;
  const plan::IndexSpace& space_;
  int64_t entries_;
};

}  // namespace

void DrawSpread(const walk::IndexedScatter& scatter, const plan::IndexSpace& space, int64_t width,
                int64_t ranges, plan::Spread* spread) {
  const Locator locator(scatter, space);
  const int64_t entries = locator.entries();
  const int64_t count = plan::Spread::CountFor(entries, ranges);
  const int64_t distance = std::max<int64_t>(entries / count, 1);
  int64_t followed = 0;
  uint64_t random = 1;
  for (int64_t i = 0; i < count; ++i) {
    random = NextRandom(random);
    const int64_t within = static_cast<int64_t>((random >> 33) % static_cast<uint64_t>(distance));
    const int64_t entry = (i * distance + within) % entries;
    const int64_t destination = locator.DestinationOf(entry);
    const int64_t step = locator.DestinationOf((entry + 1) % entries) - destination;
    followed += static_cast<int64_t>(Magnitude(step)) <= kTuning.page / width ? 1 : 0;
    spread->Add(destination);
  }
  spread->Finish(1 - static_cast<double>(followed) / static_cast<double>(count),
                 plan::NearBytes(LastLevelCacheBytes()) / width);
}

}  // namespace strew::share
