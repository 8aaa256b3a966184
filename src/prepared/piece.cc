// SPDX-License-Identifier: Apache-2.0
#include "prepared/piece.h"

#include <algorithm>
#include <numeric>

namespace strew::prepared {

int64_t Piece::TakeGroups(int64_t group, int64_t end) {
  const Plan& plan = scatter_.plan;
  const int64_t most = std::min(kMost, end - group);
  if (plan.firsts.exists()) {
    plan.firsts.Visit([&](const auto* firsts) {
      const int64_t first = static_cast<int64_t>(firsts[group]);
      first_ = first;
      all_begins_[0] = 0;
      groups_ = 0;
      while (groups_ < most) {
        const int64_t begin = static_cast<int64_t>(firsts[group + groups_ + 1]) - first;
        if (groups_ > 0 && begin > kMost) break;
        all_begins_[++groups_] = begin;
      }
    });
  } else {
    first_ = group;
    groups_ = most;
    std::iota(all_begins_, all_begins_ + groups_ + 1, 0);
  }
  groups_of_turn_ = groups_;
  count_ = all_begins_[groups_];
  scatter_.destinations.Locate(plan.destinations, group, groups_, destinations_);
  if (count_ <= kMost) TakePart(0, count_);
  return group + groups_;
}

void Piece::TakePart(int64_t first, int64_t count) {
  part_ = first_ + first;
  part_count_ = count;
  if (count != count_) all_begins_[1] = count;
}

int64_t Piece::RepeatGroups(const TurnLoop& loop) {
  const int64_t groups = groups_of_turn_;
  const int64_t turns = std::min(kMost / std::max(groups, count_), loop.count);
  for (int64_t g = groups; g < turns * groups; ++g) {
    all_begins_[g + 1] = all_begins_[g + 1 - groups] + count_;
    destinations_[g] = destinations_[g - groups] + loop.stride[kTurnOutput];
  }
  return turns;
}

void Piece::Locate(const Turns& turns, bool with_later) {
  const UpdateSource& source = scatter_.source;
  const int64_t located = part_ == end_ ? later_ : 0;  // with the piece before
  std::copy_n(updates_ + entries_, located, updates_);
  std::copy_n(weights_ + entries_, located, weights_);
  groups_ = turns.count * groups_of_turn_;
  entries_ = turns.count * part_count_;
  const bool moves = scatter_.schedule.reduction == STREW_NONE;
  const bool leaves_out = source.may_have_no_update || (moves && entries_ > groups_);
  end_ = part_ + part_count_;
  later_ = with_later && !leaves_out ? std::min(kMostLater, scatter_.plan.kept - end_) : 0;
  source.locate(source.self, turns,
                {scatter_.plan, part_ + located, part_count_ + later_ - located},
                updates_ + located, weights_ + located);
  if (leaves_out) return LeaveOut(moves);
  std::copy_n(all_begins_, groups_ + 1, begins_);
  updated_ = entries_;
}

// Leaves out entries without an update and, for moves, all others but the last one of each group.
void Piece::LeaveOut(bool moves) {
  const bool has_weights = scatter_.source.weights != nullptr;
  int64_t kept = 0;
  updated_ = 0;
  for (int64_t g = 0; g < groups_; ++g) {
    begins_[g] = kept;
    for (int64_t i = all_begins_[g]; i < all_begins_[g + 1]; ++i) {
      if (updates_[i] == kNoUpdate) continue;
      ++updated_;
      if (moves) kept = begins_[g];
      if (has_weights) weights_[kept] = weights_[i];
      updates_[kept++] = updates_[i];
    }
  }
  begins_[groups_] = kept;
  entries_ = kept;
}

}  // namespace strew::prepared
