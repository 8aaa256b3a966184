// SPDX-License-Identifier: Apache-2.0
//
// Entries in the order of their destinations: every one is combined, wherever destinations begin in
// the words of entries, and in blocks that end anywhere.
#include <algorithm>
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

using strew::kernel::AccumulateKernelsFor;
using strew::kernel::OrderedElements;
using strew::kernel::ReduceKernelsFor;

const strew::kernel::CombineKernels& SumKernelsFor(int32_t target) {
  return ReduceKernelsFor(STREW_INT32, strew::KernelOf(STREW_ADD), target);
}

unsigned char* Bytes(std::vector<int32_t>& elements) {
  return reinterpret_cast<unsigned char*>(elements.data());
}

// Entries of destinations that have 1 to `most` each.
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
    for (int32_t& element : output) element = static_cast<int32_t>(random.Between(-9999, 9999));
    for (size_t i = 0; i < 2 * order.size(); ++i) {
      updates.push_back(static_cast<int32_t>(random.Between(-9999, 9999)));
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
  std::vector<int32_t> Sums(int64_t stride) const {
    std::vector<int32_t> sums;
    for (size_t g = 0; g < destinations.size(); ++g) {
      int32_t sum = output[destinations[g]];
      for (uint32_t k = firsts[g]; k < firsts[g + 1]; ++k) {
        sum += updates[order[k] * static_cast<size_t>(stride)];
      }
      sums.push_back(sum);
    }
    return sums;
  }

  std::vector<uint32_t> firsts, destinations, order;
  std::vector<int32_t> output, updates;
};

// Calls body(random, entries, target) for random entries on each target that has kernels for them.
template <class Body>
void ForEachCase(const Body& body) {
  int64_t cases = 0;
  for (int32_t target = 0; target < strew::kernel::TargetCount(); ++target) {
    if (SumKernelsFor(target).ordered == nullptr) continue;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      Random random(Seed() + seed);
      const int64_t most = random.Pick(std::vector<int64_t>{1, 2, 5, 64, 65, 400});
      Entries entries(random, random.Between(1, 300), most);
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
  ForEachCase([](Random& random, Entries& entries, int32_t target) {
    const int64_t stride = random.Between(1, 2);
    const std::vector<int32_t> expected = entries.Sums(stride);
    const std::vector<int32_t> old = entries.output;
    const auto ordered = SumKernelsFor(target).ordered;
    ForEachBlock(random, entries.groups(), [&](int64_t first, int64_t count) {
      ordered(entries.Block(first, count, stride));
    });
    std::vector<int32_t> all = old;
    for (size_t g = 0; g < expected.size(); ++g) all[entries.destinations[g]] = expected[g];
    ASSERT_EQ(entries.output, all);
  });
}

TEST(OrderedElements, ReplaceOldValuesByTheBeginning) {
  ForEachCase([](Random& random, Entries& entries, int32_t target) {
    std::vector<int32_t> beginning = {1000000};
    const std::vector<int32_t> sums = entries.Sums(1);
    std::vector<int32_t> all = entries.output;
    for (size_t g = 0; g < sums.size(); ++g) {
      int32_t& element = all[entries.destinations[g]];
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

TEST(OrderedElements, AreSummed) {
  ForEachCase([](Random& random, Entries& entries, int32_t target) {
    const std::vector<int32_t> expected = entries.Sums(1);
    const std::vector<int32_t> old = entries.output;
    const auto ordered = AccumulateKernelsFor(STREW_INT32, STREW_MEAN, target).ordered;
    std::vector<int64_t> sums(expected.size());
    ForEachBlock(random, entries.groups(), [&](int64_t first, int64_t count) {
      ordered(entries.Block(first, count, 1), reinterpret_cast<unsigned char*>(&sums[first]));
    });
    ASSERT_EQ(entries.output, old);
    ASSERT_TRUE(std::equal(sums.begin(), sums.end(), expected.begin(), expected.end()));
  });
}

}  // namespace
}  // namespace strew_test
