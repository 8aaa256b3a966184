// SPDX-License-Identifier: Apache-2.0
#include "exhibit.h"

#include <utility>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "reference/trial.h"
#include "support/reference.h"

namespace strew_test {
namespace {

Case WithOutput(Case c, const Place& place) {
  if (!place.in_place) c.output = Numbers(c.data.dtype(), RowMajor(c.data.shape()), place.guard);
  return c;
}

Array List(const Dims& values, Guard guard) {
  return IndexArray(STREW_INT64, {static_cast<int64_t>(values.size())}, values, guard);
}

}  // namespace

const std::vector<Place>& Places() {
  static const std::vector<Place> places = {{Guard::kBehind, true},
                                            {Guard::kBefore, true},
                                            {Guard::kBehind, false},
                                            {Guard::kBefore, false}};
  return places;
}

Array Numbers(strew_dtype dtype, const Layout& layout, Guard guard) {
  Random random(Seed());
  return RandomArray(random, dtype, layout, guard);
}

Case Exhibit::At(const Place& place) const {
  Case c{op, Numbers(dtype, RowMajor(data), place.guard),
         Numbers(dtype, RowMajor(updates), place.guard)};
  const auto size = static_cast<size_t>(Product(indices));
  Dims all(size, 0);
  for (size_t i = 0; i < size && !values.empty(); ++i) all[i] = values[i % values.size()];
  c.indices = IndexArray(index, indices, all, place.guard);
  c.axis = axis;
  c.reduction = reduction;
  c.wrap = wrap;
  c.policy = policy;
  c.mode = mode;
  return WithOutput(std::move(c), place);
}

Case SliceAt(const Place& place, const Dims& data, const Dims& updates, const SliceLists& lists) {
  Case c{Operator::kSliceScatter, Numbers(STREW_FLOAT32, RowMajor(data), place.guard),
         Numbers(STREW_FLOAT32, RowMajor(updates), place.guard)};
  c.start = List(lists.start, place.guard);
  c.stop = List(lists.stop, place.guard);
  c.step = List(lists.step, place.guard);
  c.axes = List(lists.axes, place.guard);
  return WithOutput(std::move(c), place);
}

std::vector<Exhibit> IndexedExhibits() {
  std::vector<Exhibit> exhibits = {
      {Operator::kScatterElements, {kAxis, 3}, {37, 3}, {37, 3}, 0},
      {Operator::kScatterElements, {3, kAxis}, {3, 37}, {3, 37}, 1},
      {Operator::kScatterNd, {kAxis, 3}, {37, 1}, {37, 3}},
      {Operator::kScatterNd, {kAxis, kAxis, 2}, {37, 2}, {37, 2}},
      {Operator::kScatterUpdate, {kAxis, 3}, {37}, {37, 3}, 0},
      {Operator::kScatterUpdate, {3, kAxis}, {37}, {3, 37}, 1},
      {Operator::kTensorScatter, {5, kAxis + 1, 3}, {5}, {5, 2, 3}, 1},
  };
  for (Exhibit& exhibit : exhibits) exhibit.values = {0, 3, 1, kAxis - 1, 2};
  return exhibits;
}

void ExpectRefused(const Make& make, strew_status status, int64_t position) {
  for (const Place& place : Places()) {
    Case c = make(place);
    if (!CheckRefused(c, status, position)) return;
  }
}

void ExpectRefused(const Exhibit& exhibit, strew_status status, int64_t position) {
  ExpectRefused([&](const Place& place) { return exhibit.At(place); }, status, position);
}

void ExpectGood(const Make& make) {
  for (const Place& place : Places()) {
    Case c = make(place);
    EXPECT_EQ(Trial(c).outcome().status, STREW_OK) << Describe(c);
    if (!Check(c)) return;
  }
}

void ExpectGood(const Exhibit& exhibit) {
  ExpectGood([&](const Place& place) { return exhibit.At(place); });
}

void ExpectBadIndex(const Exhibit& good, int64_t bad) {
  const int64_t size = Product(good.indices);
  Exhibit exhibit = good;
  exhibit.values.clear();
  for (int64_t i = 0; i < size; ++i) {
    exhibit.values.push_back(good.values[static_cast<size_t>(i) % good.values.size()]);
  }
  for (const int64_t position : {int64_t{0}, size / 2, size - 1}) {
    const int64_t old = std::exchange(exhibit.values[static_cast<size_t>(position)], bad);
    ExpectRefused(exhibit, STREW_INDEX_OUT_OF_RANGE, position);
    exhibit.values[static_cast<size_t>(position)] = old;
  }
}

void ExpectBadIndexEverywhere(int64_t bad, bool wrap) {
  for (Exhibit exhibit : IndexedExhibits()) {
    exhibit.wrap = wrap;
    for (const Dtype& index : IndexDtypes()) {
      if (!IndexFits(index.code, bad)) continue;
      exhibit.index = index.code;
      ExpectBadIndex(exhibit, bad);
    }
  }
}

}  // namespace strew_test
