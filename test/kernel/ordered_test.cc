// SPDX-License-Identifier: Apache-2.0
//
// Entries in the order of their destinations: every one is combined, wherever destinations begin in
// the words of entries, and in blocks that end anywhere.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "base/reduction.h"
#include "kernel/kernel.h"
#include "kernel/target.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {
namespace {

using strew::kernel::AccumulateKernelsFor;
using strew::kernel::OrderedElements;
using strew::kernel::ReduceKernelsFor;

const strew::kernel::CombineKernels& SumKernelsFor(int32_t target) {
  return ReduceKernelsFor(STREW_INT32, strew::KernelOf(STREW_ADD), target);
}

template <class Element>
unsigned char* Bytes(std::vector<Element>& elements) {
  return reinterpret_cast<unsigned char*>(elements.data());
}

// Entries of destinations that have 1 to `most` each, and integers as elements.
template <class Element>
struct Entries {
  Entries(Random& random, int64_t groups, int64_t most) : output(5 * groups) {
    for (int64_t g = 0; g < groups; ++g) {
      firsts.push_back(static_cast<uint32_t>(order.size()));
      destinations.push_back(static_cast<uint32_t>(3 * g + random.Between(0, 2)));
      const int64_t n = random.OneIn(2) ? 1 : random.Between(1, most);
      for (int64_t i = 0; i < n; ++i) order.push_back(static_cast<uint32_t>(order.size()));
    }
    firsts.push_back(static_cast<uint32_t>(order.size()));
    random.Shuffle(order);
    for (Element& element : output) element = static_cast<Element>(random.Between(-9999, 9999));
    for (size_t i = 0; i < 2 * order.size(); ++i) {
      updates.push_back(static_cast<Element>(random.Between(-9999, 9999)));
    }
  }

  int64_t groups() const { return static_cast<int64_t>(destinations.size()); }

  // The entries of `count` groups from `group` on, whose updates lie `stride` apart.
  OrderedElements Block(int64_t group, int64_t count, int64_t stride) {
    const uint32_t first = firsts[static_cast<size_t>(group)];
    const int64_t n = firsts[static_cast<size_t>(group + count)] - first;
    const int64_t last = static_cast<int64_t>(order.size()) - first - 1;
    OrderedElements block = {};
    block.output = Bytes(output);
    block.output_stride = 1;
    block.updates = Bytes(updates);
    block.updates_stride = stride;
    block.order = order.data() + first;
    block.destinations = destinations.data() + group;
    block.firsts = firsts.data() + group;
    block.groups = groups() - group;
    block.n = n;
    block.prefetch = 7;
    block.last = std::min(n + 6, last);
    return block;
  }

  // The sums of updates of each group, with old values.
  std::vector<Element> Sums(int64_t stride) const {
    std::vector<Element> sums;
    for (size_t g = 0; g < destinations.size(); ++g) {
      Element sum = output[destinations[g]];
      for (uint32_t k = firsts[g]; k < firsts[g + 1]; ++k) {
        sum += updates[order[k] * static_cast<size_t>(stride)];
      }
      sums.push_back(sum);
    }
    return sums;
  }

  std::vector<uint32_t> firsts, destinations, order;
  std::vector<Element> output, updates;
};

// Calls body(random, entries, target) for random entries on each target that has kernels for them.
template <class Element, class Body>
void ForEachCase(const Body& body) {
  int64_t cases = 0;
  for (int32_t target = 0; target < strew::kernel::TargetCount(); ++target) {
    if (SumKernelsFor(target).ordered == nullptr) continue;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      Random random(Seed() + seed);
      const int64_t most = random.Pick(std::vector<int64_t>{1, 2, 5, 64, 65, 400});
      Entries<Element> entries(random, random.Between(1, 300), most);
      body(random, entries, target);
      if (testing::Test::HasFailure()) FAIL() << "STREW_SEED=" << Seed() + seed;
      ++cases;
    }
  }
  if (cases == 0) GTEST_SKIP() << "no target of this CPU has kernels for ordered entries";
}

// Calls body(first, count) for blocks of random length that together have all groups.
template <class Body>
void ForEachBlock(Random& random, int64_t groups, const Body& body) {
  for (int64_t g = 0; g < groups;) {
    const int64_t count = std::min(random.Between(1, 300), groups - g);
    body(g, count);
    g += count;
  }
}

TEST(OrderedElements, AreCombinedInTheOutput) {
  using Element = int32_t;
  ForEachCase<Element>([](Random& random, Entries<Element>& entries, int32_t target) {
    const int64_t stride = random.Between(1, 2);
    const std::vector<Element> expected = entries.Sums(stride);
    const std::vector<Element> old = entries.output;
    const auto ordered = SumKernelsFor(target).ordered;
    ForEachBlock(random, entries.groups(), [&](int64_t first, int64_t count) {
      ordered(entries.Block(first, count, stride));
    });
    std::vector<Element> all = old;
    for (size_t g = 0; g < expected.size(); ++g) all[entries.destinations[g]] = expected[g];
    ASSERT_EQ(entries.output, all);
  });
}

TEST(OrderedElements, ReplaceOldValuesByTheBeginning) {
  using Element = int32_t;
  ForEachCase<Element>([](Random& random, Entries<Element>& entries, int32_t target) {
    std::vector<Element> beginning = {1000000};
    const std::vector<Element> sums = entries.Sums(1);
    std::vector<Element> all = entries.output;
    for (size_t g = 0; g < sums.size(); ++g) {
      Element& element = all[entries.destinations[g]];
      element = beginning[0] + sums[g] - element;
    }
    const auto ordered = SumKernelsFor(target).ordered;
    ForEachBlock(random, entries.groups(), [&](int64_t first, int64_t count) {
      OrderedElements block = entries.Block(first, count, 1);
      block.beginning = Bytes(beginning);
      ordered(block);
    });
    ASSERT_EQ(entries.output, all);
  });
}

template <class Element>
Element MeanOf(Element sum, uint32_t count) {
  const auto terms = static_cast<Element>(count);
  if constexpr (std::is_integral_v<Element>) return sum / terms - (sum % terms < 0 ? 1 : 0);
  return sum / terms;
}

// Sums of `Element` are exact here, so that their order does not matter.
template <class Element>
void TestMeans(strew_dtype dtype, bool excludes_self) {
  ForEachCase<Element>([&](Random& random, Entries<Element>& entries, int32_t target) {
    std::vector<Element> beginning = {0};
    const std::vector<Element> sums = entries.Sums(1);
    std::vector<Element> all = entries.output;
    for (size_t g = 0; g < sums.size(); ++g) {
      Element& element = all[entries.destinations[g]];
      const uint32_t count = entries.firsts[g + 1] - entries.firsts[g];
      element = excludes_self ? MeanOf<Element>(sums[g] - element, count)
                              : MeanOf<Element>(sums[g], count + 1);
    }
    const auto ordered = AccumulateKernelsFor(dtype, STREW_MEAN, target).ordered;
    ForEachBlock(random, entries.groups(), [&](int64_t first, int64_t count) {
      OrderedElements block = entries.Block(first, count, 1);
      if (excludes_self) block.beginning = Bytes(beginning);
      ordered(block);
    });
    ASSERT_EQ(entries.output, all);
  });
}

TEST(OrderedElements, AreAveraged) {
  TestMeans<int32_t>(STREW_INT32, /*excludes_self=*/false);
  TestMeans<int64_t>(STREW_INT64, /*excludes_self=*/false);
  TestMeans<float>(STREW_FLOAT32, /*excludes_self=*/false);
}

TEST(OrderedElements, AreAveragedWithoutOldValues) {
  TestMeans<int32_t>(STREW_INT32, /*excludes_self=*/true);
  TestMeans<int64_t>(STREW_INT64, /*excludes_self=*/true);
  TestMeans<float>(STREW_FLOAT32, /*excludes_self=*/true);
}

}  // namespace
}  // namespace strew_test
