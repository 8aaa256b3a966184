// SPDX-License-Identifier: Apache-2.0
//
// STREW_DUPLICATE_ERROR among many updates: of which none, or the last ones, name an element twice.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/handles.h"
#include "reference/indices.h"
#include "reference/trial.h"
#include "support/call_shapes.h"
#include "support/check.h"
#include "support/counting_allocator.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr Operator kElements = Operator::kScatterElements;
constexpr Operator kNd = Operator::kScatterNd;
constexpr Operator kUpdate = Operator::kScatterUpdate;

// Each entry may have a place of its own: data are large enough.
const std::vector<CallShape>& SpaciousCallShapes() {
  static const std::vector<CallShape> call_shapes = {
      {"last axis", kElements, {256, 300}, {256, 256}, 1, STREW_INT32},
      {"first axis", kElements, {300, 256}, {256, 250}, 0, STREW_INT16},
      {"middle axis", kElements, {5, 100, 128}, {5, 100, 128}, 1, STREW_UINT8},
      {"one line", kElements, {1 << 17}, {1 << 16}, 0, STREW_INT32},
      {"all of one line", kElements, {1 << 16}, {1 << 16}, 0},
      {"far apart", kElements, {1 << 22}, {1 << 14}, 0},
      {"single elements", kNd, {1 << 17}, {1 << 16, 1}, 0, STREW_INT32},
      {"pairs", kNd, {300, 300}, {1 << 16, 2}},
      {"rows", kNd, {3000, 40}, {2000, 1}, 0, STREW_INT16, 1},
      {"pairs of short rows", kNd, {60, 100, 3}, {5000, 2}, 0, STREW_UINT16},
      {"everything", kNd, {1 << 16}, {1, 0}},
      {"rows by index", kUpdate, {3000, 40}, {2000}, 0, STREW_INT32},
      {"columns by index", kUpdate, {30, 3000}, {30, 40}, 1},
  };
  return call_shapes;
}

Dims PlacesOf(const CallShape& call_shape) {
  if (call_shape.op == kNd)
    return Dims(call_shape.data.begin(), call_shape.data.begin() + call_shape.indices.back());
  return {call_shape.data[static_cast<size_t>(call_shape.axis)]};
}

// The entries of a tuple, of a line of scatter_elements, or of all indices are counted, and go to
// places far from one another; 7919 is a prime that divides no number of places above.
void Separate(const CallShape& call_shape, Case& c) {
  const View& view = c.indices->view();
  const Dims places = PlacesOf(call_shape);
  const int64_t size = Product(places);
  const auto axis = static_cast<size_t>(call_shape.axis);
  const int64_t components = call_shape.op == kNd ? call_shape.indices.back() : 1;
  int64_t position = 0;
  ForEachIndex(view.shape(), [&](const Dims& i) {
    const int64_t entry = call_shape.op == kElements ? i[axis] : position / components;
    int64_t place = (entry * 7919 + 3) % size;
    const int64_t component = position++ % components;
    for (int64_t j = components - 1; j > component; --j) place /= places[static_cast<size_t>(j)];
    WriteIndex(view.dtype, view.At(i), place % places[static_cast<size_t>(component)]);
  });
}

// The last entry but one, or that of its line, becomes another one's.
void RepeatOne(const CallShape& call_shape, Case& c) {
  const View& view = c.indices->view();
  Dims from(view.shape().size(), 0), to;
  for (const int64_t dim : view.shape()) to.push_back(dim - 1);
  if (call_shape.op == kElements) {
    from = to;
    from[static_cast<size_t>(call_shape.axis)] = 1;
  }
  const int64_t components = call_shape.op == kNd ? call_shape.indices.back() : 1;
  for (int64_t j = 0; j < components; ++j) {
    if (call_shape.op == kNd) from.back() = to.back() = j;
    WriteIndex(view.dtype, view.At(to), ReadIndex(view.dtype, view.At(from)));
  }
}

Case MakeDistinctCase(Random& random, const CallShape& call_shape, size_t turn) {
  static const strew_dtype dtypes[] = {STREW_FLOAT32, STREW_INT8, STREW_COMPLEX128, STREW_UINT16};
  Case c = MakeCase(random, call_shape, dtypes[turn % 4], turn % 2 == 0);
  c.reduction = turn % 3 == 0 ? STREW_ADD : STREW_NONE;
  c.duplicates = STREW_DUPLICATE_ERROR;
  Separate(call_shape, c);
  return c;
}

class Distinct : public testing::TestWithParam<CallShape> {
 protected:
  Random random_{Seed()};
  const size_t turn_ = static_cast<size_t>(Product(GetParam().data) % 12);
};

std::string NameOfCallShape(const testing::TestParamInfo<CallShape>& test) {
  std::string name = test.param.name;
  for (char& letter : name) letter = letter == ' ' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryCallShape, Distinct, testing::ValuesIn(SpaciousCallShapes()),
                         NameOfCallShape);

TEST_P(Distinct, UpdatesAreApplied) {
  Case c = MakeDistinctCase(random_, GetParam(), turn_);
  EXPECT_EQ(Trial(c).outcome().status, STREW_OK);
  EXPECT_TRUE(CheckWithWorkers(c, {1, 2, 8}));
}

TEST_P(Distinct, LastUpdateIsReported) {
  if (GetParam().indices.back() == 0) return;
  Case c = MakeDistinctCase(random_, GetParam(), turn_);
  RepeatOne(GetParam(), c);
  EXPECT_EQ(Trial(c).outcome().status, STREW_DUPLICATE_INDEX);
  EXPECT_TRUE(CheckWithWorkers(c, {1, 2, 8}));
}

// 16 bytes for each entry, besides what all calls may take.
TEST_P(Distinct, ScratchIsLimitedAndMayBeRefused) {
  Case c = MakeDistinctCase(random_, GetParam(), turn_);
  const Dims& shape = c.indices->shape();
  const bool nd = GetParam().op == kNd;
  const int64_t entries = Product(nd ? Dims(shape.begin(), shape.end() - 1) : shape);
  Trial trial(c);
  trial.AllowOutOfMemory();
  for (const int64_t granted :
       {CountingAllocator::kGrantsAll, int64_t{0}, int64_t{1}, int64_t{2}}) {
    const Context context = MakeContext();
    CountingAllocator allocator(granted);
    allocator.InstallIn(context.get());
    EXPECT_EQ(trial.Trouble(context.get()), "") << Describe(c);
    EXPECT_LE(static_cast<int64_t>(allocator.peak()),
              (int64_t{2} << 20) + (int64_t{64} << 10) + 16 * entries);
  }
}

}  // namespace
}  // namespace strew_test
