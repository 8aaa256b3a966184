// SPDX-License-Identifier: Apache-2.0
//
// Runs of every length around the width of a vector, at every place that one can start: heads,
// tails and unrolled bodies of the kernels.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "support/check.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kRows = 3;

// 0 ... 2N + 1 elements for the N lanes of a vector of 64 bytes, which passes by 2N + 1 of the
// narrower ones.
std::vector<int64_t> ShortLengths(const Dtype& dtype) {
  const int64_t lanes = std::max<int64_t>(64 / static_cast<int64_t>(dtype.width), 1);
  std::vector<int64_t> lengths;
  for (int64_t length = 0; length <= 2 * lanes + 1; ++length) lengths.push_back(length);
  return lengths;
}

// Past the blocks in which a kernel may work.
std::vector<int64_t> LongLengths(const Dtype& dtype) {
  if (dtype.width > 64) return {};
  std::vector<int64_t> lengths = {255, 256, 257, 4095, 4096, 4097};
  for (int64_t length = 1000; length <= 1100; length += 9) lengths.push_back(length);
  return lengths;
}

// The place of the runs: `offset` elements of padding between rows shift the start of each row
// against the vectors.
struct Place {
  int64_t offset;
  Guard guard;
};

class Runs : public testing::TestWithParam<std::tuple<Dtype, strew_reduction>> {
 protected:
  static Dtype dtype() { return std::get<0>(GetParam()); }
  static strew_reduction reduction() { return std::get<1>(GetParam()); }

  // Rows of `length` elements with padding behind each.
  static Array Rows(Random& random, int64_t rows, int64_t length, const Place& place) {
    const Layout layout{{rows, length}, {length + place.offset, 1}};
    return RandomArray(random, dtype().code, layout, place.guard);
  }

  static Case Make(Random& random, Operator op, int64_t data_length, int64_t update_length,
                   const Place& place) {
    Case c{op, Rows(random, kRows, data_length, place), Rows(random, kRows, update_length, place)};
    if (random.OneIn(2)) c.output = Rows(random, kRows, data_length, place);
    c.reduction = reduction();
    return c;
  }

  static Array MakeIndices(Random& random, int64_t length, int64_t dim, const Place& place) {
    const strew_dtype dtype = random.OneIn(2) ? STREW_INT64 : STREW_INT32;
    return RandomIndices(random, dtype, RowMajor({kRows, length}), dim, place.guard);
  }

  // Updates of a slice that lies together, of which every `step`-th place holds one.
  static void CheckUpdatesApart(int64_t step) {
    ForEachLength([=](Random& random, int64_t length, const Place& place) {
      const int64_t stride = step < 0 ? -step : step;
      const Layout layout{{kRows, length}, {length * stride + place.offset, step}};
      Case c{Operator::kSliceScatterInt64, Rows(random, kRows, length, place),
             RandomArray(random, dtype().code, layout, place.guard)};
      if (random.OneIn(2)) c.output = Rows(random, kRows, length, place);
      c.reduction = reduction();
      c.SetSlice({0}, {kRows}, {1});
      return Check(c);
    });
  }

  template <class CheckLength>
  static void ForEachLength(CheckLength check) {
    Random random(Seed());
    for (const int64_t length : ShortLengths(dtype())) {
      for (int64_t offset = 0; offset <= 3; ++offset) {
        const bool before = (length + offset) % 2 == 0;
        const Place place{offset, before ? Guard::kBefore : Guard::kBehind};
        ASSERT_TRUE(check(random, length, place)) << "length " << length;
      }
    }
    for (const int64_t length : LongLengths(dtype())) {
      const Place place{length % 4, length % 8 < 4 ? Guard::kBefore : Guard::kBehind};
      ASSERT_TRUE(check(random, length, place)) << "length " << length;
    }
  }

  static void CheckSlices(int64_t step) {
    ForEachLength([=](Random& random, int64_t length, const Place& place) {
      const int64_t stride = step < 0 ? -step : step;
      const int64_t dim = length * stride + 1;
      Case c = Make(random, Operator::kSliceScatterInt64, dim, length, place);
      // One element of the axis lies before the slice, or behind it where the slice runs backwards.
      const int64_t first = step > 0 ? 1 : (length - 1) * stride;
      const int64_t stop = step > 0 ? dim : -dim - 1;
      c.SetSlice({length == 0 ? dim : first}, {length == 0 ? dim : stop}, {step}, {1});
      return Check(c);
    });
  }
};

// Row 2 is named twice, so that runs meet and their order shows.
TEST_P(Runs, RowsOfScatterNd) {
  ForEachLength([](Random& random, int64_t length, const Place& place) {
    Case c = Make(random, Operator::kScatterNd, length, length, place);
    c.indices = IndexArray(STREW_INT64, {kRows, 1}, {2, 0, -1});
    return Check(c);
  });
}

TEST_P(Runs, SliceForwards) { CheckSlices(1); }
TEST_P(Runs, SliceBackwards) { CheckSlices(-1); }
TEST_P(Runs, SliceOfEverySecond) { CheckSlices(2); }
TEST_P(Runs, SliceOfEveryThird) { CheckSlices(3); }
TEST_P(Runs, SliceOfEverySecondBackwards) { CheckSlices(-2); }

TEST_P(Runs, OneUpdate) { CheckUpdatesApart(0); }
TEST_P(Runs, UpdatesBackwards) { CheckUpdatesApart(-1); }
TEST_P(Runs, EverySecondUpdate) { CheckUpdatesApart(2); }
TEST_P(Runs, EveryThirdUpdate) { CheckUpdatesApart(3); }
TEST_P(Runs, EverySecondUpdateBackwards) { CheckUpdatesApart(-2); }

TEST_P(Runs, ElementsOnTheLastAxis) {
  ForEachLength([](Random& random, int64_t length, const Place& place) {
    Case c = Make(random, Operator::kScatterElements, length, length, place);
    c.indices = MakeIndices(random, length, length, place);
    c.axis = 1;
    return Check(c);
  });
}

TEST_P(Runs, ElementsOnTheFirstAxis) {
  ForEachLength([](Random& random, int64_t length, const Place& place) {
    Case c = Make(random, Operator::kScatterElements, length, length, place);
    c.indices = MakeIndices(random, length, kRows, place);
    return Check(c);
  });
}

class IndicesApart : public testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(EveryDtype, IndicesApart, testing::ValuesIn(IndexDtypes()),
                         [](const auto& test) { return TestName(test.param); });

// As many as blocks into which they are copied, and a few more or less; one of them may be out of
// range.
TEST_P(IndicesApart, OfAnyNumber) {
  Random random(Seed());
  for (const int64_t length : {30, 63, 64, 65, 79, 80, 127, 128, 129, 143, 144, 200, 257, 300}) {
    for (const int64_t step : {2, 3, -1, -2}) {
      const Layout layout = {{2, length}, {length * 3, step}};
      const int64_t dim = random.Between(50, 127);
      Case c{Operator::kScatterElements, RandomArray(random, STREW_INT32, RowMajor({2, dim})),
             RandomArray(random, STREW_INT32, RowMajor({2, length}))};
      c.indices = RandomIndices(random, GetParam().code, layout, dim);
      c.axis = 1;
      c.reduction = STREW_ADD;
      ASSERT_TRUE(Check(c)) << length << " indices, step " << step;
      Dims values = ReadIndices(c.indices->view());
      values[static_cast<size_t>(random.Between(0, 2 * length - 1))] = dim;
      WriteIndices(*c.indices, values);
      ASSERT_TRUE(Check(c)) << length << " indices, step " << step << ", one of them wrong";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPair, Runs, testing::ValuesIn(DefinedPairs()), [](const auto& test) {
  return TestName(std::get<0>(test.param)) + "_" + NameOf(std::get<1>(test.param));
});

}  // namespace
}  // namespace strew_test
