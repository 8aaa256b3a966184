// SPDX-License-Identifier: Apache-2.0
//
// Rows whose axis fits a vector have the results of the kernels that take elements one by one, and
// nothing between the rows is written.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/reduction.h"
#include "kernel/kernel.h"
#include "kernel/target.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::kernel::kShortAxisBytes;
using strew::kernel::TileArguments;

template <class Element>
std::vector<Element> Numbers(Random& random, int64_t n) {
  std::vector<Element> numbers;
  for (int64_t i = 0; i < n; ++i) numbers.push_back(static_cast<Element>(random.Between(0, 11)));
  return numbers;
}

// A tile of rows with gaps between them. All of the output is compared.
template <class Element, class Offset>
void CompareTile(Random& random, const strew::kernel::CombineKernels& kernels,
                 strew::kernel::OffsetWidth width) {
  const int64_t axis = random.Between(1, kShortAxisBytes / int64_t{sizeof(Element)});
  const int64_t rows = random.Between(1, 50), columns = random.Between(1, 20);
  const int64_t gap = random.Between(0, 2), step = random.Between(0, 2);
  std::vector<Element> output = Numbers<Element>(random, rows * (axis + gap));
  const std::vector<Element> updates = Numbers<Element>(random, rows * (columns * step + gap) + 1);
  std::vector<Offset> offsets;
  for (int64_t i = 0; i < rows * (columns + gap); ++i) {
    offsets.push_back(static_cast<Offset>(random.Between(0, axis - 1)));
  }
  std::vector<Element> expected = output;
  TileArguments tile = {};
  tile.updates = reinterpret_cast<const unsigned char*>(updates.data());
  tile.offsets = offsets.data();
  tile.rows = rows;
  tile.output_row_stride = axis + gap;
  tile.offsets_row_stride = columns + gap;
  tile.updates_row_stride = columns * step + gap;
  tile.columns = columns;
  tile.updates_column_stride = step;
  tile.output = reinterpret_cast<unsigned char*>(expected.data());
  kernels.elements[width](tile, {});
  tile.output = reinterpret_cast<unsigned char*>(output.data());
  kernels.short_axis(tile, axis, sizeof(Offset));
  EXPECT_EQ(output, expected) << rows << " rows of " << columns << " entries of an axis of "
                              << axis;
}

// Returns the number of kernels that were compared.
template <class Element>
int Compare(strew_dtype dtype) {
  int compared = 0;
  for (int32_t target = 0; strew::kernel::TargetName(target) != nullptr; ++target) {
    for (const strew_reduction reduction :
         {STREW_ADD, STREW_SUB, STREW_MUL, STREW_MIN, STREW_MAX}) {
      const auto& kernels =
          strew::kernel::ReduceKernelsFor(dtype, strew::KernelOf(reduction), target);
      if (kernels.short_axis == nullptr) continue;
      ++compared;
      for (int64_t i = 0; i < Cases(200); ++i) {
        Random random(Seed() + static_cast<uint64_t>(i));
        CompareTile<Element, int32_t>(random, kernels, strew::kernel::kOffset32);
        CompareTile<Element, int64_t>(random, kernels, strew::kernel::kOffset64);
        if (testing::Test::HasFailure()) {
          ADD_FAILURE() << strew::kernel::TargetName(target)
                        << ", STREW_SEED=" << Seed() + static_cast<uint64_t>(i);
          return compared;
        }
      }
    }
  }
  return compared;
}

TEST(ShortAxis, IsCombinedAsElements) {
  const int compared = Compare<float>(STREW_FLOAT32) + Compare<double>(STREW_FLOAT64) +
                       Compare<int8_t>(STREW_INT8) + Compare<int16_t>(STREW_INT16) +
                       Compare<int32_t>(STREW_INT32) + Compare<int64_t>(STREW_INT64) +
                       Compare<uint8_t>(STREW_UINT8) + Compare<uint16_t>(STREW_UINT16) +
                       Compare<uint32_t>(STREW_UINT32) + Compare<uint64_t>(STREW_UINT64);
  if (compared == 0) GTEST_SKIP() << "only targets with AVX-512 have such kernels";
}

}  // namespace
}  // namespace strew_test
