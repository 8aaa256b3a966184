// SPDX-License-Identifier: Apache-2.0
#include "prepared/piece.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace strew::prepared {

void Piece::Take(int64_t group, int64_t groups, int64_t first, int64_t count) {
  const Plan& plan = scatter_.plan;
  groups_ = groups;
  first_ = first;
  all_ = count;
  plan.destinations.Visit(
      [&](const auto* numbers) { std::copy_n(numbers + group, groups, destinations_); });
  scatter_.destinations.Resolve(destinations_, groups);
  for (int64_t g = 0; g <= groups; ++g) {
    all_begins_[g] = std::clamp<int64_t>(plan.FirstOf(group + g) - first, 0, count);
  }
}

void Piece::Locate(const int64_t* turn) {
  const Numbers& order = scatter_.plan.order;
  if (order.exists()) {
    order.Visit([&](const auto* numbers) { std::copy_n(numbers + first_, all_, updates_); });
  } else {
    std::iota(updates_, updates_ + all_, first_);
  }
  const bool has_weights = scatter_.source.weights != nullptr;
  scatter_.source.locate(scatter_.source.self, turn, all_, updates_, weights_);
  // Leaves out entries without an update.
  int64_t kept = 0;
  for (int64_t g = 0; g < groups_; ++g) {
    begins_[g] = kept;
    for (int64_t i = all_begins_[g]; i < all_begins_[g + 1]; ++i) {
      if (updates_[i] == std::numeric_limits<int64_t>::min()) continue;
      if (has_weights) weights_[kept] = weights_[i];
      updates_[kept++] = updates_[i];
    }
  }
  begins_[groups_] = kept;
  entries_ = kept;
}

}  // namespace strew::prepared
