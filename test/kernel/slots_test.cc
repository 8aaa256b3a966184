// SPDX-License-Identifier: Apache-2.0
//
// Slots without counts of their own agree with slots that keep sums and counts apart, on every
// target that has them.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "kernel/kernel.h"
#include "kernel/target.h"
#include "reference/arithmetic.h"
#include "reference/array.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::kernel::AccumulateKernels;
using strew::kernel::AccumulateKernelsFor;
using strew::kernel::SlotKernels;

constexpr int kCountBits = 24;

template <class T>
class PackedSlots : public testing::Test {
 protected:
  static constexpr strew_dtype Dtype() {
    return (std::is_signed_v<T> ? STREW_INT8 : STREW_UINT8) + (sizeof(T) == 1 ? 0 : 1);
  }

  // Calls body(kernels) for each target that has packed slots.
  template <class Body>
  static void ForEachTarget(const Body& body) {
    for (int32_t target = 0; target < strew::kernel::TargetCount(); ++target) {
      const AccumulateKernels& kernels = AccumulateKernelsFor(Dtype(), STREW_MEAN, target);
      if (kernels.compact == nullptr) continue;
      EXPECT_EQ(kernels.compact->most_updates, (1 << kCountBits) - 1);
      body(kernels);
      if (testing::Test::HasFailure()) return;
    }
  }

  static unsigned char* Bytes(T* elements) { return reinterpret_cast<unsigned char*>(elements); }

  static std::vector<T> Elements(Random& random, int64_t n) {
    using Limits = std::numeric_limits<T>;
    std::vector<T> elements(static_cast<size_t>(n));
    for (T& element : elements) {
      const int64_t any = random.Between(Limits::min(), Limits::max());
      element = random.OneIn(3)   ? Limits::max()
                : random.OneIn(3) ? Limits::min()
                                  : static_cast<T>(any);
    }
    return elements;
  }
};

using Types = testing::Types<int8_t, uint8_t, int16_t, uint16_t>;
TYPED_TEST_SUITE(PackedSlots, Types);

// Updates that are contiguous, strided and broadcast, some of them dropped.
TYPED_TEST(PackedSlots, HaveTheMeansOfCountedOnes) {
  using T = TypeParam;
  Random random(Seed());
  this->ForEachTarget([&](const AccumulateKernels& kernels) {
    for (int64_t slots = 1; slots < 150; ++slots) {
      const int64_t n = random.Between(1, 400);
      const int64_t stride = random.Between(0, 3);
      const int64_t more = random.Between(0, 1);
      const std::vector<T> old = this->Elements(random, slots);
      std::vector<T> updates = this->Elements(random, n * stride + 1);
      std::vector<int32_t> names(static_cast<size_t>(n));
      const int64_t most = random.OneIn(4) ? 0 : slots - 1;
      for (int32_t& name : names) {
        name =
            random.OneIn(9) && most > 0 ? INT32_MIN : static_cast<int32_t>(random.Between(0, most));
      }
      const auto means = [&](const SlotKernels& of) {
        std::vector<T> output = old;
        std::vector<uint64_t> sums(static_cast<size_t>(slots));
        std::vector<uint32_t> counts(static_cast<size_t>(slots), 0);
        auto* const memory = reinterpret_cast<unsigned char*>(sums.data());
        const bool excludes = more == 0;
        const T zero = 0;
        of.begin(memory, reinterpret_cast<const unsigned char*>(excludes ? &zero : old.data()),
                 excludes ? 0 : 1, slots);
        of.add_each({memory, counts.data()},
                    {names.data(), this->Bytes(updates.data()), stride, n});
        of.finish_each({memory, counts.data()}, more, this->Bytes(output.data()), slots);
        return output;
      };
      ASSERT_EQ(means(*kernels.compact), means(kernels.counted))
          << slots << ' ' << n << ' ' << more;
    }
  });
}

// Sums and counts up to the most that a word holds, among small ones.
TYPED_TEST(PackedSlots, DivideLargeSums) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  Random random(Seed());
  this->ForEachTarget([&](const AccumulateKernels& kernels) {
    for (int64_t round = 0; round < 300; ++round) {
      const int64_t n = random.Between(1, 70);
      std::vector<int64_t> sums(static_cast<size_t>(n));
      std::vector<uint32_t> counts(static_cast<size_t>(n));
      std::vector<uint64_t> words(static_cast<size_t>(n));
      for (size_t i = 0; i < sums.size(); ++i) {
        const int bits = static_cast<int>(random.Between(0, random.OneIn(4) ? kCountBits : 9));
        counts[i] = static_cast<uint32_t>(random.Between(0, (int64_t{1} << bits) - 1));
        const T extreme = random.OneIn(2) ? Limits::max() : Limits::min();
        const int64_t mean =
            random.OneIn(3) ? extreme : random.Between(Limits::min(), Limits::max());
        // An old value is one more term.
        sums[i] = mean * (int64_t{counts[i]} + 1) - (mean > 0 ? random.Between(0, 1) : 0);
        words[i] = (static_cast<uint64_t>(sums[i]) << kCountBits) | counts[i];
      }
      const std::vector<T> old = this->Elements(random, n);
      std::vector<T> packed = old, counted = old;
      auto* const of_words = reinterpret_cast<unsigned char*>(words.data());
      auto* const of_sums = reinterpret_cast<unsigned char*>(sums.data());
      kernels.compact->finish_each({of_words, nullptr}, 1, this->Bytes(packed.data()), n);
      kernels.counted.finish_each({of_sums, counts.data()}, 1, this->Bytes(counted.data()), n);
      ASSERT_EQ(packed, counted) << round;
    }
  });
}

// Updates that are contiguous, strided and broadcast, some of them dropped. Values include NaN.
TEST(BareSlots, HaveTheSumsOfCountedOnes) {
  constexpr strew_reduction kKinds[] = {STREW_ADD, STREW_SUB, STREW_MUL};
  Random random(Seed());
  int64_t tried = 0;
  for (int32_t target = 0; target < strew::kernel::TargetCount(); ++target) {
    for (int64_t slots = 1; slots < 150; ++slots) {
      const strew_dtype dtype = random.OneIn(2) ? STREW_FLOAT16 : STREW_BFLOAT16;
      const AccumulateKernels& kernels = AccumulateKernelsFor(dtype, random.Pick(kKinds), target);
      if (kernels.compact == nullptr) continue;
      ++tried;
      ASSERT_FALSE(kernels.compact->has_counts);
      const int64_t n = random.Between(1, 400);
      const int64_t stride = random.Between(0, 3);
      const Array old = RandomArray(random, dtype, RowMajor({slots}));
      const unsigned char* const elements = old.view().origin;
      const Array updates = RandomArray(random, dtype, RowMajor({n * stride + 1}));
      std::vector<int32_t> names(static_cast<size_t>(n));
      for (int32_t& name : names) {
        name = random.OneIn(9) ? INT32_MIN : static_cast<int32_t>(random.Between(0, slots - 1));
      }
      const auto sum = [&](const SlotKernels& of) {
        std::vector<unsigned char> output(elements, elements + 2 * slots);
        std::vector<float> sums(static_cast<size_t>(slots));
        std::vector<uint32_t> counts(static_cast<size_t>(slots), 0);
        auto* const memory = reinterpret_cast<unsigned char*>(sums.data());
        of.begin(memory, elements, 1, slots);
        of.add_each({memory, counts.data()}, {names.data(), updates.view().origin, stride, n});
        of.finish_each({memory, counts.data()}, 1, output.data(), slots);
        return output;
      };
      const std::vector<unsigned char> expected = sum(kernels.counted);
      std::vector<unsigned char> bare = sum(*kernels.compact);
      for (int32_t slot = 0; slot < slots; ++slot) {
        if (std::find(names.begin(), names.end(), slot) == names.end()) continue;
        ForgiveNanPayload(dtype, expected.data() + 2 * slot, bare.data() + 2 * slot);
      }
      ASSERT_EQ(bare, expected) << slots << ' ' << n << ' ' << stride;
    }
  }
  if (tried == 0) GTEST_SKIP() << "no target has such slots";
}

}  // namespace
}  // namespace strew_test
