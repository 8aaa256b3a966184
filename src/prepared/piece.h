// SPDX-License-Identifier: Apache-2.0
// Consecutive groups of a plan whose entries are looked at together.
#ifndef STREW_PREPARED_PIECE_H_
#define STREW_PREPARED_PIECE_H_

#include <cstdint>

#include "prepared/ordered.h"

namespace strew::prepared {

// Some groups as a whole, or a part of one that is larger than a piece.
class Piece {
 public:
  static constexpr int64_t kMost = 256;  // entries, and groups

  explicit Piece(const OrderedScatter& scatter) : scatter_(scatter) {}

  // Takes entries [first, first + count) of the order, which belong to the groups from `group` on.
  void Take(int64_t group, int64_t groups, int64_t first, int64_t count);
  // Locates the updates of an inner turn.
  void Locate(const int64_t* turn);

  int64_t groups() const { return groups_; }
  int64_t entries() const { return entries_; }  // that have an update
  // Offset of a group in the output, in units.
  int64_t destination(int64_t group) const { return destinations_[group]; }
  const int64_t* destinations() const { return destinations_; }
  int64_t begin(int64_t group) const { return begins_[group]; }
  int64_t end(int64_t group) const { return begins_[group + 1]; }
  const int64_t* updates() const { return updates_; }
  const int64_t* weights() const { return weights_; }

 private:
  const OrderedScatter& scatter_;
  int64_t groups_ = 0;
  int64_t first_ = 0;
  int64_t all_ = 0;
  int64_t entries_ = 0;
  int64_t all_begins_[kMost + 1];
  int64_t begins_[kMost + 1];
  int64_t destinations_[kMost];
  int64_t updates_[kMost];
  int64_t weights_[kMost];
};

// Calls body(group, groups, first, count) for the groups [group, end), as many as fit a piece at a
// time, or a larger one alone.
template <class Body>
void ForEachUnit(const Plan& plan, int64_t group, int64_t end, const Body& body) {
  while (group < end) {
    const int64_t first = plan.FirstOf(group);
    int64_t next = group + 1, count = plan.FirstOf(next) - first;
    while (next < end && next - group < Piece::kMost) {
      const int64_t longer = plan.FirstOf(next + 1) - first;
      if (longer > Piece::kMost) break;
      count = longer;
      ++next;
    }
    body(group, next - group, first, count);
    group = next;
  }
}

}  // namespace strew::prepared

#endif  // STREW_PREPARED_PIECE_H_
