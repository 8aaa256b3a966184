// SPDX-License-Identifier: Apache-2.0
//
// Classes of defects in sizes, extents and strides.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "exhibit.h"
#include "reference/indices.h"
#include "reference/targets.h"
#include "support/reference.h"
#include "support/reservation.h"

namespace strew_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// Products that are small or negative in 32 or 64 bits.
TEST(Class, OverflowInTheSizeProduct) {
  struct Wrong {
    strew_dtype dtype;
    Dims shape;
  };
  alignas(16) unsigned char memory[16] = {};
  for (const Wrong& wrong :
       std::vector<Wrong>{{STREW_INT8, {int64_t{1} << 32, int64_t{1} << 32}},
                          {STREW_INT8, {int64_t{1} << 62, 4}},
                          {STREW_INT8, {int64_t{1} << 62, 2}},
                          {STREW_INT8, {(int64_t{1} << 32) + 1, int64_t{1} << 32}},
                          {STREW_INT8, {kMost, kMost}},
                          {STREW_INT8, Dims(32, 4)},
                          {STREW_INT16, {int64_t{1} << 62}},
                          {STREW_FLOAT32, {int64_t{1} << 61}},
                          {STREW_FLOAT64, {int64_t{1} << 61}},
                          {STREW_COMPLEX128, {int64_t{1} << 60}},
                          {STREW_OPAQUE(4096), {int64_t{1} << 52}},
                          {STREW_OPAQUE(3), {kMost / 3 + 1}}}) {
    strew_tensor* tensor = nullptr;
    const auto rank = static_cast<int32_t>(wrong.shape.size());
    EXPECT_EQ(strew_tensor_create(wrong.dtype, rank, wrong.shape.data(), nullptr, memory, &tensor),
              STREW_SIZE_OVERFLOW)
        << ToString(wrong.shape);
    EXPECT_EQ(tensor, nullptr);
    const Tensor old = MakeTensor(STREW_INT8, RowMajor({2}), memory);
    EXPECT_EQ(strew_tensor_reset(old.get(), wrong.dtype, rank, wrong.shape.data(), nullptr, memory),
              STREW_SIZE_OVERFLOW);
    EXPECT_EQ(strew_tensor_size(old.get()), 2);
  }
}

// The product may fit where the reach of the strides does not, and that of INT64_MIN is negative.
TEST(Class, OverflowInTheByteExtent) {
  alignas(16) unsigned char memory[16] = {};
  for (const strew_dtype dtype : {STREW_INT8, STREW_FLOAT32}) {
    const int64_t far = dtype == STREW_INT8 ? int64_t{1} << 62 : int64_t{1} << 60;
    for (const Layout& layout : std::vector<Layout>{{{2}, {kMost}},
                                                    {{2}, {kLeast}},
                                                    {{2}, {kLeast + 1}},
                                                    {{3}, {far}},
                                                    {{5}, {far}},
                                                    {{2, 2}, {far, far}},
                                                    {{2, 2}, {-far, far}}}) {
      strew_tensor* tensor = nullptr;
      EXPECT_EQ(strew_tensor_create(dtype, static_cast<int32_t>(layout.shape.size()),
                                    layout.shape.data(), layout.strides.data(), memory, &tensor),
                STREW_SIZE_OVERFLOW)
          << ToString(layout.shape) << ToString(layout.strides);
      EXPECT_EQ(tensor, nullptr);
    }
  }
}

// Counters and offsets of 32 bits. Writes two bytes of 4 GiB and 64 KiB of zeros.
TEST(Class, NarrowedLoopCounters) {
  constexpr int64_t kRow = 65536, kRows = 65537, kFar = kRows - 1;
  if (sizeof(void*) < 8) GTEST_SKIP() << "no room for 4 GiB of addresses";
  const Reservation memory(kRows * kRow, Access::kZeros);
  ASSERT_NE(memory.bytes(), nullptr);
  const Tensor data = MakeTensor(STREW_INT8, RowMajor({kRows, kRow}), memory.bytes());
  unsigned char number = 0;
  const Tensor update = MakeTensor(STREW_INT8, RowMajor({1, 1}), &number);
  const Tensor tuple_update = MakeTensor(STREW_INT8, RowMajor({1}), &number);
  const Array index = IndexArray(STREW_INT64, {1, 1}, {kFar});
  const Array tuple = IndexArray(STREW_INT32, {1, 2}, {kFar, 0});
  for (const Target& target : Targets()) {
    strew_context* const context = target.context.get();
    const int64_t start[2] = {kFar, 0}, stop[2] = {kRows, 1}, step[2] = {1, 1};
    for (int op = 0; op < 3; ++op) {
      ++number;
      const strew_status status =
          op == 0   ? strew_scatter_elements(context, data.get(), index.tensor(), update.get(), 0,
                                             STREW_NONE, data.get())
          : op == 1 ? strew_scatter_nd(context, data.get(), tuple.tensor(), tuple_update.get(),
                                       STREW_NONE, data.get())
                    : strew_slice_scatter_int64(context, data.get(), update.get(), 2, start, stop,
                                                step, nullptr, STREW_NONE, data.get());
      EXPECT_EQ(status, STREW_OK) << target.name << strew_context_error(context);
      EXPECT_EQ(memory.bytes()[kFar * kRow], number) << target.name << ", operator " << op;
      EXPECT_EQ(memory.bytes()[0], 0) << target.name << ", operator " << op;
    }
  }
}

// ---- Extents ------------------------------------------------------------------------------------

// A row within a buffer that others use too.
class Extents : public testing::Test {
 protected:
  static constexpr int64_t kZero = 16;  // elements before that of index 0

  Tensor At(int64_t first, const Layout& layout) {
    return MakeTensor(STREW_INT32, layout, numbers() + kZero + first);
  }

  // Adds `updates` to the first row of `data`.
  strew_status AddRow(const Tensor& data, const Tensor& updates) {
    const auto before = buffer_.Snapshot();
    const int64_t start = 0, stop = 1, step = 1;
    const strew_status status =
        strew_slice_scatter_int64(nullptr, data.get(), updates.get(), 1, &start, &stop, &step,
                                  nullptr, STREW_ADD, data.get());
    if (status != STREW_OK) {
      EXPECT_EQ(buffer_.Snapshot(), before);
    }
    buffer_.Restore(before);
    return status;
  }

 private:
  int32_t* numbers() { return reinterpret_cast<int32_t*>(buffer_.buffer().bytes()); }

  Array buffer_ = ::strew_test::Numbers(STREW_INT32, RowMajor({64}), Guard::kBehind);
};

// The stride of a dim of 1 means nothing: it must neither be left out where it is computed with
// nor make the extent larger. Here it would lead out of all memory, or over the updates.
TEST_F(Extents, StridesOfDimsOf1) {
  for (const int64_t wild : {int64_t{4}, int64_t{-8}, int64_t{1} << 40, kMost, kLeast}) {
    const Tensor updates = At(4, {{1, 4}, {wild, 1}});
    EXPECT_EQ(AddRow(At(0, {{1, 4}, {wild, 1}}), updates), STREW_OK) << wild;
    EXPECT_EQ(AddRow(At(3, {{1, 4}, {wild, 1}}), updates), STREW_OVERLAPPING_MEMORY) << wild;
    EXPECT_EQ(AddRow(At(1, {{1, 2, 1}, {wild, 3, wild}}), At(4, {{1, 2, 1}, {0, 1, 0}})),
              STREW_OVERLAPPING_MEMORY)
        << wild;
  }
}

// Every operator, with wild strides on each dim of 1; -1 is the first element of such an axis, and
// comes to wild addresses where it is multiplied before it is wrapped.
TEST(Class, StridesOfDimsOf1AreNotComputedWith) {
  for (const int64_t wild : {int64_t{1} << 40, kMost, kLeast}) {
    for (const Exhibit& exhibit :
         {Exhibit{Operator::kScatterElements, {1, 4}, {3, 4}, {3, 4}, 0},
          Exhibit{Operator::kScatterElements, {4, 1}, {1, 1}, {1, 1}, 1},
          Exhibit{Operator::kScatterNd, {1, 4}, {1, 1}, {1, 4}},
          Exhibit{Operator::kScatterUpdate, {1, 4}, {5}, {5, 4}, 0},
          Exhibit{Operator::kScatterUpdate, {4, 1}, {1}, {4, 1}, 1},
          Exhibit{Operator::kTensorScatter, {1, 4, 1}, {1}, {1, 1, 1}, 1}}) {
      const auto with_wild = [=](const Dims& shape) {
        Layout layout = RowMajor(shape);
        for (size_t i = 0; i < shape.size(); ++i) {
          if (shape[i] == 1) layout.strides[i] = wild;
        }
        return layout;
      };
      ExpectGood([&](const Place& place) {
        Case c = exhibit.At(place);
        c.data = ::strew_test::Numbers(STREW_FLOAT32, with_wild(exhibit.data), place.guard);
        c.updates = ::strew_test::Numbers(STREW_FLOAT32, with_wild(exhibit.updates), place.guard);
        c.indices = Array(STREW_INT64, with_wild(exhibit.indices), place.guard);
        const bool wraps = !Takes(exhibit.op, "mode");
        WriteIndices(*c.indices,
                     Dims(static_cast<size_t>(Product(exhibit.indices)), wraps ? -1 : 2));
        return c;
      });
    }
  }
}

// The last corner of [4, 4] with strides -1 and 1 is the first one again; the extent is seven
// elements all the same. Of [2, 4] with strides -4 and 1 corners lie at 0 and -1, the extent is
// [-4, 3].
TEST_F(Extents, NegativeStridesThatCancel) {
  const Layout cancelling = {{4, 4}, {-1, 1}};
  for (int64_t first = -3; first <= 3; ++first) {
    EXPECT_EQ(AddRow(At(0, {{1, 1}, {1, 1}}), At(first, {{1, 1}, {1, 1}})),
              first == 0 ? STREW_OVERLAPPING_MEMORY : STREW_OK);
    const Tensor element = At(first, {{4, 4}, {0, 0}});
    const int64_t start = 0, stop = 4, step = 1;
    const Tensor output = At(8, RowMajor({4, 4}));
    EXPECT_EQ(strew_slice_scatter_int64(nullptr, At(5 + first, cancelling).get(), element.get(), 1,
                                        &start, &stop, &step, nullptr, STREW_ADD, output.get()),
              first >= 0 ? STREW_OVERLAPPING_MEMORY : STREW_OK)
        << first;
  }
  for (int64_t first = -6; first <= 5; ++first) {
    EXPECT_EQ(AddRow(At(0, {{2, 4}, {-4, 1}}), At(first, {{1, 1}, {1, 1}})),
              first >= -4 && first <= 3 ? STREW_OVERLAPPING_MEMORY : STREW_OK)
        << first;
  }
}

// Guarded memory of exactly these extents.
TEST(Class, NegativeStridesThatCancel) {
  for (const Layout& layout : std::vector<Layout>{{{2, 4}, {-4, 1}},
                                                  {{2, 4}, {4, -1}},
                                                  {{2, 4}, {-4, -1}},
                                                  {{3, 3}, {-1, 3}},
                                                  {{2, 3, 4}, {4, -8, 1}}}) {
    ExpectGood([&](const Place& place) {
      const Dims& shape = layout.shape;
      Exhibit exhibit{Operator::kScatterUpdate, shape, {2}, shape, 0};
      exhibit.updates[0] = 2;
      exhibit.values = {-1, 0};
      Case c = exhibit.At(place);
      c.data = ::strew_test::Numbers(STREW_FLOAT32, layout, place.guard);
      if (c.output) c.output = ::strew_test::Numbers(STREW_FLOAT32, layout, place.guard);
      return c;
    });
  }
}

}  // namespace
}  // namespace strew_test
