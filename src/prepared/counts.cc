// SPDX-License-Identifier: Apache-2.0
#include "prepared/counts.h"

#include <algorithm>
#include <cstring>

#include "prepared/order.h"
#include "prepared/plan.h"

namespace strew::prepared {
namespace {

// Calls body(first group, number of groups, counts of these) for all groups, in blocks.
template <class Body>
void ForEachBlock(const Plan& plan, const Body& body) {
  constexpr int64_t kBlock = 512;
  int64_t counts[kBlock];
  for (int64_t g = 0; g < plan.groups(); g += kBlock) {
    const int64_t n = std::min(kBlock, plan.groups() - g);
    plan.CountUpdates(g, n, counts);
    body(g, n, counts);
  }
}

int64_t MostUpdates(const Plan& plan) {
  int64_t most = 0;
  ForEachBlock(plan, [&](int64_t, int64_t n, const int64_t* counts) {
    most = std::max(most, *std::max_element(counts, counts + n));
  });
  return most;
}

void Store(const Plan& plan, Numbers* to) {
  std::memset(to->data(), 0, static_cast<size_t>(to->bytes()));
  to->Visit([&](auto* stored) {
    using Count = std::decay_t<decltype(stored[0])>;
    ForEachBlock(plan, [&](int64_t first, int64_t n, const int64_t* counts) {
      plan.destinations.Visit([&](const auto* numbers) {
        for (int64_t i = 0; i < n; ++i) stored[numbers[first + i]] = static_cast<Count>(counts[i]);
      });
    });
  });
}

}  // namespace

const Numbers* Counts::Of(const Plan& plan) {
  const Numbers* const stored = counts_.get();
  if (stored != nullptr) return stored;
  const int64_t destinations = DestinationsOf(plan);
  const int32_t width = Numbers::WidthFor(MostUpdates(plan) + 1);
  if (!plan.MayGrowBy(destinations * width)) return nullptr;
  Numbers* const made = StoredOnce<Numbers>::New();
  if (made == nullptr) return nullptr;
  if (!made->Allocate(destinations, width)) {
    StoredOnce<Numbers>::Free(made);
    return nullptr;
  }
  Store(plan, made);
  return counts_.Store(made);
}

int64_t Counts::bytes() const {
  const Numbers* const counts = counts_.get();
  return counts == nullptr ? 0 : int64_t{sizeof(Numbers)} + counts->bytes();
}

}  // namespace strew::prepared
