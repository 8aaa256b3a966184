// SPDX-License-Identifier: Apache-2.0
//
// The numbers of destinations, on every SIMD target: offsets that are multiples of a step, of which
// some are dropped, in rows of every length.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernel/index_kernels.h"
#include "kernel/kernel.h"
#include "kernel/target.h"

namespace strew {
namespace {

constexpr int32_t kDropped = std::numeric_limits<int32_t>::min();

struct Step {
  int64_t step;
  int unused_bits;
  uint64_t odd;  // step >> unused_bits
};

constexpr Step kSteps[] = {{1, 0, 1}, {8, 3, 1}, {3, 0, 3}, {12, 2, 3}, {1001, 0, 1001}};

// The inverse modulo 2^64 by Euler's theorem: an odd number to the power 2^63 is 1.
uint64_t InverseOf(uint64_t odd) {
  uint64_t inverse = 1;
  for (int i = 0; i < 63; ++i) inverse = inverse * inverse * odd;
  return inverse;
}

int32_t NumberAt(int64_t i) {
  return i % 7 == 3 ? kDropped : static_cast<int32_t>((i * 7919 + 5) % 100003);
}

class LocateAt : public testing::TestWithParam<int32_t> {
 protected:
  template <class Offset>
  void ExpectNumbers(kernel::OffsetWidth width, const Step& step, int64_t lowest) const {
    constexpr Offset kNone = std::numeric_limits<Offset>::min();
    const kernel::LocateKernel locate =
        kernel::IndexKernelsFor(STREW_INT64, GetParam()).locate[width];
    for (int64_t columns = 1; columns < 70; ++columns) {
      std::vector<Offset> offsets;
      for (int64_t i = 0; i < columns; ++i) {
        const int32_t number = NumberAt(i);
        const int64_t offset = number * step.step + lowest;
        offsets.push_back(number == kDropped ? kNone : static_cast<Offset>(offset));
      }
      std::vector<int32_t> numbers(static_cast<size_t>(columns), -2);
      locate({offsets.data(), columns, -lowest, step.unused_bits, InverseOf(step.odd), nullptr,
              nullptr},
             numbers.data());
      for (int64_t i = 0; i < columns; ++i) {
        EXPECT_EQ(numbers[static_cast<size_t>(i)], NumberAt(i))
            << step.step << ", " << i << " of " << columns;
      }
    }
  }
};

TEST_P(LocateAt, DividesByTheStep) {
  for (const Step& step : kSteps) {
    for (const int64_t lowest : {int64_t{0}, -9 * step.step}) {
      ExpectNumbers<int32_t>(kernel::kOffset32, step, lowest);
      ExpectNumbers<int64_t>(kernel::kOffset64, step, lowest);
      ExpectNumbers<int64_t>(kernel::kOffset64, {step.step << 24, step.unused_bits + 24, step.odd},
                             lowest);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, LocateAt, testing::Range(0, kernel::TargetCount()),
                         [](const auto& test) {
                           return std::string(kernel::TargetName(test.param));
                         });

}  // namespace
}  // namespace strew
