// SPDX-License-Identifier: Apache-2.0
//
// Copies of runs of which some follow each other: all bytes arrive, and no others are written.
#include "walk/joined_copies.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernel/kernel.h"
#include "kernel/target.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::kernel::MoveKernels;
using strew::walk::JoinedCopies;

constexpr int64_t kBytes = 6000;

class Joined : public testing::TestWithParam<int> {
 protected:
  // Copies runs to random places behind each other, from `first` bytes on.
  void CopyRuns(Random& random, const MoveKernels& move, bool joins, int64_t first) {
    const int64_t width = GetParam();
    std::vector<unsigned char> output(kBytes, 0), expected(kBytes, 0), source(kBytes);
    for (unsigned char& byte : source) byte = static_cast<unsigned char>(random.Between(1, 255));
    JoinedCopies copies(joins ? move.stream : move.stream_part, width, joins,
                        output.data() + first);
    int64_t at = first;
    for (;;) {
      if (random.OneIn(3)) at += random.Between(1, 20) * width;
      const int64_t n = random.Between(1, random.OneIn(3) ? 700 / width : 70 / width + 1);
      if (at + n * width > kBytes) break;
      copies.Copy(output.data() + at, source.data() + at, n);
      std::memcpy(expected.data() + at, source.data() + at, static_cast<size_t>(n * width));
      at += n * width;
    }
    copies.Flush();
    copies.Flush();
    strew::kernel::FinishStreaming();
    ASSERT_EQ(output, expected) << "from " << first << (joins ? ", joined" : "");
  }
};

INSTANTIATE_TEST_SUITE_P(Widths, Joined, testing::Values(1, 2, 3, 4, 8, 12, 16));

TEST_P(Joined, CopiesArriveWhole) {
  Random random(Seed());
  for (int32_t target = 0; target < strew::kernel::TargetCount(); ++target) {
    const MoveKernels& move = strew::kernel::MoveKernelsFor(GetParam(), target);
    for (int64_t first = 0; first < 70; ++first) {
      ASSERT_NO_FATAL_FAILURE(CopyRuns(random, move, /*joins=*/true, first));
    }
  }
}

// Words need addresses and sizes that are multiples of theirs.
TEST_P(Joined, PartsInWordsArriveWhole) {
  if (GetParam() % strew::kernel::kStreamedWord != 0) GTEST_SKIP() << "elements are no words";
  Random random(Seed());
  for (int32_t target = 0; target < strew::kernel::TargetCount(); ++target) {
    const MoveKernels& move = strew::kernel::MoveKernelsFor(GetParam(), target);
    for (int64_t first = 0; first < 70; first += 4) {
      ASSERT_NO_FATAL_FAILURE(CopyRuns(random, move, /*joins=*/false, first));
    }
  }
}

}  // namespace
}  // namespace strew_test
