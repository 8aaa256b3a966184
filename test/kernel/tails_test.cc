// SPDX-License-Identifier: Apache-2.0
//
// Kernels without a reduction of their own, on every target and at every length around the width of
// a vector: with vectors they do what they do one by one.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "base/dtype.h"
#include "kernel/kernel.h"
#include "kernel/target.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::Arithmetic;
using strew::kernel::AccumulateKernels;
using strew::kernel::AccumulateKernelsFor;
using strew::kernel::IndexKernelsFor;
using strew::kernel::SumKernels;
using strew::kernel::TargetCount;

using Bytes = std::vector<unsigned char>;

constexpr int64_t kMost = 131;  // twice the bytes of a vector of 64, and more
constexpr unsigned char kCanary = 0xA5;

Bytes AnyBytes(Random& random, int64_t size) {
  Bytes bytes(static_cast<size_t>(size));
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random.Between(0, 255));
  return bytes;
}

// ---- Clamped indices ----

template <class T>
class ClampedIndices : public testing::Test {
 protected:
  static constexpr strew_dtype Dtype() {
    constexpr int kLog = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return (std::is_signed_v<T> ? STREW_INT8 : STREW_UINT8) + kLog;
  }

  static T Nearest(T index, int64_t axis_size, bool wrap) {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_signed_v<T>) {
      const int64_t lowest = wrap ? std::max<int64_t>(-axis_size, Limits::min()) : 0;
      const int64_t highest = std::min<int64_t>(axis_size - 1, Limits::max());
      return static_cast<T>(std::clamp<int64_t>(index, lowest, highest));
    } else {
      return static_cast<T>(std::min<uint64_t>(index, static_cast<uint64_t>(axis_size - 1)));
    }
  }
};

using IndexTypes =
    testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(ClampedIndices, IndexTypes, );  // GCC and clang miss an empty argument

TYPED_TEST(ClampedIndices, AreTheNearestOnes) {
  using T = TypeParam;
  Random random(Seed());
  constexpr int64_t kSize = sizeof(T);
  for (int32_t target = 0; target < TargetCount(); ++target) {
    const auto clamp = IndexKernelsFor(TestFixture::Dtype(), target).clamp;
    for (int64_t columns = 0; columns < kMost; ++columns) {
      const int64_t stride = random.Between(1, 2);
      const int64_t axis_size = random.OneIn(2) ? 100 : random.Between(1, INT64_MAX);
      const bool wrap = random.OneIn(2);
      const int64_t shift = random.Between(0, kSize - 1);  // indices need no alignment
      const Bytes indices = AnyBytes(random, shift + 2 * columns * stride * kSize);
      Bytes clamped(static_cast<size_t>((2 * columns + 1) * kSize), kCanary);
      clamp({indices.data() + shift, 2, columns * stride, columns, stride, axis_size}, wrap,
            clamped.data());
      for (int64_t i = 0; i < 2 * columns; ++i) {
        T index, result;
        std::memcpy(&index, indices.data() + shift + i * stride * kSize, kSize);
        std::memcpy(&result, clamped.data() + i * kSize, kSize);
        ASSERT_EQ(result, TestFixture::Nearest(index, axis_size, wrap)) << columns << ' ' << i;
      }
      ASSERT_EQ(clamped.back(), kCanary);
    }
  }
}

// ---- Sums ----

// Calls body(dtype, size of an element, kernels) for each dtype that has means, on each target.
template <class Body>
void ForEachMean(const Body& body) {
  for (strew_dtype dtype = 1; strew::DescribeDtype(dtype).known(); ++dtype) {
    const strew::DtypeInfo info = strew::DescribeDtype(dtype);
    if (info.arithmetic == Arithmetic::kNone || info.arithmetic == Arithmetic::kLogical) continue;
    for (int32_t target = 0; target < TargetCount(); ++target) {
      body(info, AccumulateKernelsFor(dtype, STREW_MEAN, target));
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Small numbers, whose sums and quotients are finite.
Bytes Ones(const strew::DtypeInfo& info, int64_t n) {
  Bytes bytes(static_cast<size_t>(n * info.size), 0);
  for (size_t i = 0; i < bytes.size(); i += static_cast<size_t>(info.size)) {
    bytes[i] = static_cast<unsigned char>(i % 7 + 1);
  }
  return bytes;
}

TEST(Sums, BeginFromOneElement) {
  Random random(Seed());
  ForEachMean([&](const strew::DtypeInfo& info, const AccumulateKernels& kernels) {
    for (const SumKernels* const sums : {&kernels.sums, &kernels.long_sums}) {
      const Bytes element = AnyBytes(random, info.size);
      Bytes first(static_cast<size_t>(sums->sum_size));
      sums->begin(first.data(), element.data(), 0, 1);
      for (int64_t count = 0; count < 10000; count += count < kMost ? 1 : 1111) {
        Bytes all(static_cast<size_t>(count * sums->sum_size + 1), kCanary);
        sums->begin(all.data(), element.data(), 0, count);
        for (int64_t i = 0; i < count; ++i) {
          ASSERT_EQ(std::memcmp(all.data() + i * sums->sum_size, first.data(), first.size()), 0)
              << info.name << ' ' << count << ' ' << i;
        }
        ASSERT_EQ(all.back(), kCanary) << info.name << ' ' << count;
      }
    }
  });
}

// All updates of a row go to one slot, or all but one do.
TEST(Sums, AddToOneSlot) {
  ForEachMean([&](const strew::DtypeInfo& info, const AccumulateKernels& kernels) {
    for (int64_t n = 1; n < kMost; ++n) {
      std::vector<int32_t> slots(static_cast<size_t>(n), 1);
      if (n % 3 != 0) slots[static_cast<size_t>(n / 2)] = n % 3 == 1 ? 0 : INT32_MIN;
      const Bytes updates = Ones(info, n);
      const auto add = [&](int64_t step) {
        Bytes sums(static_cast<size_t>(2 * kernels.sums.sum_size), 0);
        std::vector<uint32_t> counts(2, 0);
        for (int64_t i = 0; i < n; i += step) {
          strew::kernel::WalkSlots(kernels.counted, info.size, {sums.data(), counts.data()},
                                   {slots.data() + i, updates.data() + i * info.size, 1, step});
        }
        for (const uint32_t count : counts) sums.push_back(static_cast<unsigned char>(count));
        return sums;
      };
      ASSERT_EQ(add(n), add(1)) << info.name << ' ' << n;
    }
  });
}

// A count that float64 cannot divide by exactly stands at each place in turn.
TEST(Sums, AreFinishedAlike) {
  ForEachMean([&](const strew::DtypeInfo& info, const AccumulateKernels& kernels) {
    const int64_t sum_size = kernels.sums.sum_size;
    for (int64_t n = 1; n < kMost; ++n) {
      Bytes sums(static_cast<size_t>(n * sum_size));
      kernels.sums.begin(sums.data(), Ones(info, n).data(), 1, n);
      std::vector<uint32_t> counts(static_cast<size_t>(n));
      for (size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<uint32_t>(i % 4);
      counts[static_cast<size_t>(n / 3)] = n % 2 == 0 ? 3 : 1 << 21;
      Bytes whole = Ones(info, n);
      Bytes single = whole;
      kernels.counted.finish_each({sums.data(), counts.data()}, 1, whole.data(), n);
      for (int64_t i = 0; i < n; ++i) {
        kernels.counted.finish_each({sums.data() + i * sum_size, counts.data() + i}, 1,
                                    single.data() + i * info.size, 1);
      }
      ASSERT_EQ(whole, single) << info.name << ' ' << n;
    }
  });
}

}  // namespace
}  // namespace strew_test
