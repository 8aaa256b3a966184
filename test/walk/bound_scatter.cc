// SPDX-License-Identifier: Apache-2.0
#include "walk/bound_scatter.h"

#include <algorithm>
#include <cstdlib>

#include "base/index_value.h"

namespace strew_test {
namespace {

using strew::plan::Component;
using strew::plan::Findings;
using strew::plan::IndexSpace;
using strew::plan::OutOfRange;

// How many words an operand has, by the last that the space names.
struct Extents {
  int64_t output = 0;
  int64_t updates = 0;
  int64_t indices = 0;
};

Extents ExtentsOf(const IndexSpace& space, const Accesses& accesses) {
  int64_t reach = 0;
  int64_t last_component = 0;
  for (int c = 0; c < space.components; ++c) {
    reach += (space.component[c].axis_size - 1) * space.component[c].output_stride;
    last_component = space.component[c].indices_base;
  }
  Extents extents;
  for (const auto& [output, list] : accesses) {
    extents.output = std::max(extents.output, output + reach + 1);
    for (const Access& access : list) {
      extents.updates = std::max(extents.updates, access.update + 1);
      extents.indices = std::max(extents.indices, access.index + last_component + 1);
    }
  }
  return extents;
}

std::vector<uint32_t> AnyWords(Random& random, int64_t count) {
  std::vector<uint32_t> words(static_cast<size_t>(count));
  for (uint32_t& word : words) word = static_cast<uint32_t>(random.Bits());
  return words;
}

strew::Settings SettingsWith(const strew::plan::Tuning* tuning, const strew::Runner& runner) {
  strew::Settings settings;
  settings.tuning = tuning;
  settings.runner = runner;
  return settings;
}

strew::TensorView ViewOf(strew_dtype dtype, int64_t element_size, size_t size, void* memory) {
  strew::TensorView view = {};
  view.dtype = dtype;
  view.rank = 1;
  view.size = static_cast<int64_t>(size);
  view.element_size = element_size;
  view.highest = view.size * element_size;
  view.injective = view.contiguous = true;
  view.data = static_cast<unsigned char*>(memory);
  view.shape[0] = view.size;
  view.strides[0] = 1;
  return view;
}

}  // namespace

BoundScatter::BoundScatter(Random& random, const IndexSpace& space, strew_reduction reduction,
                           int64_t bad_in, const strew::Runner& runner)
    : space_(space),
      reduction_(reduction),
      accesses_(AccessesOf(space)),
      settings_(SettingsWith(&tuning_, runner)),
      data_(AnyWords(random, ExtentsOf(space, accesses_).output)),
      updates_(AnyWords(random, ExtentsOf(space, accesses_).updates)),
      indices_(static_cast<size_t>(ExtentsOf(space, accesses_).indices)),
      before_(AnyWords(random, ExtentsOf(space, accesses_).output)),
      output_(before_),
      data_view_(ViewOf(STREW_UINT32, 4, data_.size(), data_.data())),
      updates_view_(ViewOf(STREW_UINT32, 4, updates_.size(), updates_.data())),
      indices_view_(ViewOf(STREW_INT64, 8, indices_.size(), indices_.data())),
      output_view_(ViewOf(STREW_UINT32, 4, output_.size(), output_.data())),
      call_(settings_, nullptr),
      loops_(space, {bad_in == 0 ? OutOfRange::kNothing : OutOfRange::kDrop, false}),
      scatter_(call_, {data_view_, indices_view_, updates_view_, output_view_}, loops_, reduction,
               bad_in == 0 ? nullptr : &applied_) {
  const int64_t k = std::max(space.components, 1);
  for (size_t i = 0; i < indices_.size(); ++i) {
    const auto c = static_cast<size_t>(space.has_tuples ? static_cast<int64_t>(i) % k : 0);
    const int64_t size = space.component[c].axis_size;
    indices_[i] = bad_in != 0 && random.OneIn(bad_in) ? size : random.Between(-size, size - 1);
  }
}

void BoundScatter::ForEachUpdate(const std::function<void(int64_t, int64_t)>& visit) const {
  for (const auto& [output, list] : accesses_) {
    for (const Access& access : list) {
      int64_t destination = output;
      bool is_dropped = false;
      for (int c = 0; c < space_.components; ++c) {
        const Component& component = space_.component[c];
        const auto at = static_cast<size_t>(access.index + component.indices_base);
        const int64_t index = strew::WrappedIndex(indices_[at], component.axis_size, true);
        is_dropped = is_dropped || !strew::IsOnAxis(index, component.axis_size);
        destination += index * component.output_stride;
      }
      if (!is_dropped) visit(destination, access.update);
    }
  }
}

BoundScatter::Words BoundScatter::Expected(Words from, const IsWanted& is_wanted) const {
  ForEachUpdate([&](int64_t destination, int64_t update) {
    if (!is_wanted(destination)) return;
    uint32_t& word = from[static_cast<size_t>(destination)];
    const uint32_t other = updates_[static_cast<size_t>(update)];
    word = reduction_ == STREW_NONE ? other : word + other;
  });
  return from;
}

BoundScatter::Words BoundScatter::Expected() const {
  return Expected(before_, [](int64_t) { return true; });
}

int64_t BoundScatter::CountWanted(const IsWanted& is_wanted) const {
  int64_t count = 0;
  ForEachUpdate([&](int64_t destination, int64_t) { count += is_wanted(destination) ? 1 : 0; });
  return count;
}

}  // namespace strew_test
