// SPDX-License-Identifier: Apache-2.0
//
// Slices that go through a fresh output once: outputs that are too large to be gone through twice,
// with data and updates put together line by line or piece by piece, near the CPU or past its
// caches.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "support/bulk.h"
#include "support/check.h"
#include "support/reference.h"

namespace strew_test {
namespace {

std::vector<Dtype> DtypesAndMoreOpaqueOnes() {
  std::vector<Dtype> dtypes = Dtypes();
  for (const int size : {2, 4, 6, 24, 48}) dtypes.push_back(Find(STREW_OPAQUE(size)));
  return dtypes;
}

// ---- Slices ------------------------------------------------------------------------------------

// Whose Range is (first, step, count), with bounds as Python wants them.
struct Bounds {
  Dims start, stop, step;

  void Append(const Range& range, int64_t dim) {
    const int64_t end = range.first + range.count * range.step;
    start.push_back(range.first);
    stop.push_back(end < 0 ? -dim - 1 : end);
    step.push_back(range.step);
  }
};

Bounds BoundsOf(const std::vector<Range>& ranges, const Dims& shape) {
  Bounds bounds;
  for (size_t axis = 0; axis < ranges.size(); ++axis) bounds.Append(ranges[axis], shape[axis]);
  return bounds;
}

Dims ShapeOf(const std::vector<Range>& ranges) {
  Dims shape;
  for (const Range& range : ranges) shape.push_back(range.count);
  return shape;
}

// The elements first, first + step, ... below `end`, in this order or backwards.
Range Steps(int64_t first, int64_t end, int64_t step, bool backwards) {
  const int64_t count = (end - first + step - 1) / step;
  return backwards ? Range{first + (count - 1) * step, -step, count} : Range{first, step, count};
}

Range AnyRange(Random& random, int64_t dim) {
  const bool backwards = random.OneIn(3);
  const int64_t choice = random.Between(0, 9);
  if (choice <= 2) return Steps(0, dim, 1, backwards);
  if (choice <= 4) return Steps(random.Between(0, dim > 1 ? 1 : 0), dim, 2, backwards);
  const int64_t first = random.Between(0, dim - 1);
  if (choice == 5) return {first, random.Between(-5, -1), 1};
  const int64_t end = random.Between(first + 1, dim);
  if (choice <= 7) return Steps(first, end, 1, backwards);
  return Steps(first, end, random.Between(2, 5), backwards);
}

// ---- Layouts -----------------------------------------------------------------------------------

// In which order dims go through memory, nearest first, and which of them backwards.
struct Order {
  std::vector<size_t> axes;
  std::vector<bool> backwards;
};

Order AnyOrder(Random& random, size_t rank) {
  Order order{std::vector<size_t>(rank), std::vector<bool>(rank)};
  for (size_t i = 0; i < rank; ++i) order.axes[i] = rank - 1 - i;
  if (random.OneIn(3)) random.Shuffle(order.axes);
  const bool forwards = random.OneIn(2);
  for (size_t i = 0; i < rank; ++i) order.backwards[i] = !forwards && random.OneIn(2);
  return order;
}

// With gaps behind dims, or without.
Layout InOrder(Random& random, const Dims& shape, const Order& order) {
  Layout layout{shape, Dims(shape.size())};
  const bool gaps = random.OneIn(2);
  int64_t stride = random.OneIn(12) ? 2 : 1;
  for (const size_t axis : order.axes) {
    layout.strides[axis] = order.backwards[axis] ? -stride : stride;
    stride = stride * shape[axis] + (gaps && random.OneIn(2) ? random.Between(1, 5) : 0);
  }
  return layout;
}

Guard AnyGuard(Random& random) { return random.OneIn(2) ? Guard::kBefore : Guard::kBehind; }

// A shape of rank 1 to 6 and about so many elements.
Dims AnyShape(Random& random, int64_t elements) {
  Dims shape;
  const int64_t rank = random.OneIn(4) ? 1 : random.Between(2, 6);
  while (static_cast<int64_t>(shape.size()) < rank - 1) {
    int64_t limit = 1;
    for (int64_t doublings = random.Between(0, 12); doublings > 0 && limit < elements; --doublings)
      limit *= 2;
    shape.push_back(random.Between((limit + 1) / 2, limit));
    elements = (elements + shape.back() - 1) / shape.back();
  }
  shape.push_back(elements);
  random.Shuffle(shape);
  return shape;
}

// 20 to 300 KiB, few of them large.
int64_t AnySize(Random& random) {
  const int64_t most = random.OneIn(4) ? 300 : 60;
  return random.Between(20, most) << 10;
}

// Mostly data and output go through memory alike; then the output is gone through once.
Case AnyOverlay(Random& random, const Dtype& dtype) {
  const auto width = static_cast<int64_t>(dtype.width);
  const Dims shape = AnyShape(random, AnySize(random) / width + 1);
  std::vector<Range> ranges;
  for (const int64_t dim : shape) ranges.push_back(AnyRange(random, dim));
  const Dims sliced = ShapeOf(ranges);

  const Order order = AnyOrder(random, shape.size());
  Layout updates = InOrder(random, sliced, AnyOrder(random, shape.size()));
  if (random.OneIn(3)) updates = InOrder(random, sliced, order);
  if (random.OneIn(3)) updates = RowMajor(sliced);
  if (random.OneIn(8)) {
    for (int64_t& stride : updates.strides) stride *= random.Between(0, 1);
  }
  const bool alike = !random.OneIn(10);
  Layout data = InOrder(random, shape, alike ? order : AnyOrder(random, shape.size()));
  if (random.OneIn(16)) data.strides[0] = random.Between(-1, 1);

  Case c{random.OneIn(4) ? Operator::kSliceScatter : Operator::kSliceScatterInt64,
         RandomArray(random, dtype.code, data, AnyGuard(random)),
         RandomArray(random, dtype.code, updates, AnyGuard(random))};
  c.output = RandomArray(random, dtype.code, InOrder(random, shape, order), AnyGuard(random));
  const Bounds bounds = BoundsOf(ranges, shape);
  const Dims count = {static_cast<int64_t>(shape.size())};
  c.SetSlice(bounds.start, bounds.stop, bounds.step);
  c.reduction = random.OneIn(2) ? STREW_NONE : random.Pick(ReductionsOf(dtype));
  return c;
}

class Overlay : public testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(EveryDtype, Overlay, testing::ValuesIn(DtypesAndMoreOpaqueOnes()),
                         [](const auto& test) { return TestName(test.param); });

TEST_P(Overlay, RandomSlices) {
  const int64_t cases = Cases(30);
  std::printf("STREW_SEED=%llu STREW_CASES=%lld\n", static_cast<unsigned long long>(Seed()),
              static_cast<long long>(cases));
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = Seed() + static_cast<uint64_t>(i);
    Random random(seed);
    Case c = AnyOverlay(random, GetParam());
    ASSERT_TRUE(Check(c)) << "STREW_SEED=" << seed;
  }
}

// ---- Bulk: what data, updates and output a slice has, and where ---------------------------------

struct Shifts {
  int64_t output, data, updates;
};

bool CheckSlice(Random& random, strew_reduction reduction, strew_dtype dtype, const Layout& output,
                const Layout& data, const std::vector<Range>& ranges, const Shifts& shifts) {
  const BulkArray from(random, dtype, data, shifts.data);
  const BulkArray updates(random, dtype, RowMajor(ShapeOf(ranges)), shifts.updates);
  BulkArray to(random, dtype, output, shifts.output);
  const unsigned char* const before = to.buffer().bytes();
  std::vector<unsigned char> expected(before, before + to.buffer().size());
  const View result = to.ViewOf(expected.data());
  CombineEach(STREW_NONE, result, from.view());
  CombineEach(reduction, SliceOf(result, ranges), updates.view());

  const Bounds bounds = BoundsOf(ranges, output.shape);
  const auto call = [&](strew_context* context) {
    return strew_slice_scatter_int64(context, from.tensor(), updates.tensor(),
                                     static_cast<int64_t>(ranges.size()), bounds.start.data(),
                                     bounds.stop.data(), bounds.step.data(), nullptr, reduction,
                                     to.tensor());
  };
  const std::string what = std::string(NameOf(reduction)) + " start " + ToString(bounds.start) +
                           " stop " + ToString(bounds.stop) + " step " + ToString(bounds.step) +
                           "\n  data " + from.Describe() + "\n  updates " + updates.Describe();
  return CheckBulk(to, expected, call, what);
}

// Every other element of lines that end anywhere in a vector, from the first one or the second.
TEST_P(Overlay, EveryOtherOfLinesOfAnyLength) {
  Random random(Seed());
  const auto width = static_cast<int64_t>(GetParam().width);
  const int64_t least = 1024 / width + 1;
  for (int64_t longer = 0; longer <= std::min<int64_t>(130 / width + 3, 70); ++longer) {
    const Dims shape = {17, least + longer};
    const Layout padded = {shape, {shape[1] + longer % 4, 1}};
    for (const int64_t first : {0, 1}) {
      const int64_t end = shape[1] - (longer / 2) % 3;
      const std::vector<Range> ranges = {Steps(0, 17, 1, false), Steps(first, end, 2, false)};
      ASSERT_TRUE(CheckSlice(random, STREW_NONE, GetParam().code, padded, RowMajor(shape), ranges,
                             {longer % 3 * width, 0, width}));
    }
  }
}

// ---- Streams ------------------------------------------------------------------------------------

struct Stream {
  const char* name;
  strew_dtype dtype;
  strew_reduction reduction = STREW_NONE;
};

void PrintTo(const Stream& stream, std::ostream* out) { *out << stream.name; }

// The addresses that a dtype may have: opaque elements lie anywhere.
std::vector<Shifts> ShiftsOf(strew_dtype dtype) {
  const auto least = static_cast<int64_t>(Find(dtype).alignment);
  return {{0, 0, 0}, {least, 0, 0}, {least, least, 2 * least}, {3 * least, 64 - least, least}};
}

class Streamed : public testing::TestWithParam<Stream> {
 protected:
  // Checks a slice of rows of `inner` elements, as many as it takes to stream the output.
  // `ranges_of` makes the ranges of a shape.
  template <class RangesOf>
  void CheckRows(const Dims& inner, int64_t gap, const RangesOf& ranges_of) {
    const strew_dtype dtype = GetParam().dtype;
    const auto width = static_cast<int64_t>(WidthOf(dtype));
    Dims shape = inner;
    shape.insert(shape.begin(), StreamedBytes() / width / Product(inner) + 1);
    Layout output = RowMajor(shape);
    output.strides[0] += gap;
    const std::vector<Shifts> shifts = ShiftsOf(dtype);
    ASSERT_TRUE(CheckSlice(random_, GetParam().reduction, dtype, output, RowMajor(shape),
                           ranges_of(shape), shifts[next_shifts_++ % shifts.size()]));
  }

  Random random_{Seed()};

 private:
  size_t next_shifts_ = 0;
};

const std::vector<Stream>& Streams() {
  static const std::vector<Stream> streams = {
      {"int8", STREW_INT8},
      {"int16", STREW_INT16},
      {"float32", STREW_FLOAT32},
      {"complex64", STREW_COMPLEX64},
      {"complex128", STREW_COMPLEX128},
      {"opaque_2", STREW_OPAQUE(2)},
      {"opaque_3", STREW_OPAQUE(3)},
      {"opaque_4", STREW_OPAQUE(4)},
      {"opaque_12", STREW_OPAQUE(12)},
      {"opaque_24", STREW_OPAQUE(24)},
      {"float32_add", STREW_FLOAT32, STREW_ADD},
      {"uint16_max", STREW_UINT16, STREW_MAX},
  };
  return streams;
}

INSTANTIATE_TEST_SUITE_P(EveryWidth, Streamed, testing::ValuesIn(Streams()),
                         [](const auto& test) { return test.param.name; });

TEST_P(Streamed, EveryOtherOfOneLine) {
  for (const int64_t first : {0, 1}) {
    for (const int64_t shorter : {0, 1}) {
      CheckRows({1}, 0, [=](const Dims& shape) {
        return std::vector<Range>{Steps(first, shape[0] - shorter, 2, false), {0, 1, 1}};
      });
    }
  }
}

TEST_P(Streamed, OneLineBackwards) {
  CheckRows({1}, 0, [](const Dims& shape) {
    return std::vector<Range>{Steps(0, shape[0], 1, true), {0, 1, 1}};
  });
}

TEST_P(Streamed, PartOfOneLine) {
  CheckRows({1}, 0, [](const Dims& shape) {
    return std::vector<Range>{Steps(1001, shape[0] / 2 + 7, 1, false), {0, 1, 1}};
  });
}

TEST_P(Streamed, EveryOtherOfEveryOtherRow) {
  CheckRows({1025}, 3, [](const Dims& shape) {
    return std::vector<Range>{Steps(1, shape[0], 2, false), Steps(0, 1025, 2, false)};
  });
}

TEST_P(Streamed, PartOfEveryRow) {
  CheckRows({2047}, 1, [](const Dims& shape) {
    return std::vector<Range>{Steps(0, shape[0], 1, true), Steps(5, 1030, 1, false)};
  });
}

TEST_P(Streamed, EveryThirdOfShortRows) {
  CheckRows({5, 7}, 2, [](const Dims& shape) {
    return std::vector<Range>{Steps(2, shape[0] - 3, 1, false), Steps(0, 5, 2, true),
                              Steps(1, 7, 3, false)};
  });
}

}  // namespace
}  // namespace strew_test
