// SPDX-License-Identifier: Apache-2.0
// Consecutive groups of a plan whose entries are processed together.
#ifndef STREW_PREPARED_PIECE_H_
#define STREW_PREPARED_PIECE_H_

#include <cstdint>

#include "prepared/ordered.h"

namespace strew::prepared {

// Several whole groups, or a part of a group that is larger than a piece.
class Piece {
 public:
  static constexpr int64_t kMost = 256;  // entries, and groups
  // Entries after a piece that may be located with it, to prefetch their updates.
  static constexpr int64_t kMostLater = 32;
  static constexpr int64_t kMostLocated = kMost + kMostLater;

  explicit Piece(const OrderedScatter& scatter) : scatter_(scatter) {}

  // Takes as many of the groups [group, end) as fit, or the first one alone if it does not fit.
  // Returns the end of the groups that are taken.
  int64_t TakeGroups(int64_t group, int64_t end);
  // Number of entries of the groups that are taken. If there are more than kMost, TakePart() and
  // then Locate() must be called for each part of them.
  int64_t count() const { return count_; }
  void TakePart(int64_t first, int64_t count);
  // Repeats the groups that are taken for as many turns of a loop as fit. Returns this number.
  int64_t RepeatGroups(const TurnLoop& loop);
  // Locates the updates of the part at a turn, or at as many turns as RepeatGroups() returned. At a
  // single turn, entries after these may be located with them.
  void Locate(const Turns& turns, bool with_later);

  int64_t groups() const { return groups_; }
  int64_t updated() const { return updated_; }  // entries that have an update
  // How many of them are applied: moves need only the last one of each group.
  int64_t entries() const { return entries_; }
  // How many entries after them are located with them.
  int64_t later() const { return later_; }
  // Offset of a group in the output, in units.
  int64_t destination(int64_t group) const { return destinations_[group]; }
  const int64_t* destinations() const { return destinations_; }
  const int64_t* begins() const { return begins_; }
  int64_t begin(int64_t group) const { return begins_[group]; }
  int64_t end(int64_t group) const { return begins_[group + 1]; }
  const int64_t* updates() const { return updates_; }
  const int64_t* weights() const { return weights_; }

 private:
  void LeaveOut(bool moves);

  const OrderedScatter& scatter_;
  int64_t groups_ = 0;
  int64_t groups_of_turn_ = 0;
  int64_t first_ = 0;  // in the order
  int64_t count_ = 0;
  int64_t part_ = 0;  // the first entry of the part
  int64_t part_count_ = 0;
  int64_t updated_ = 0;
  int64_t entries_ = 0;
  int64_t end_ = -1;  // of the entries, in the order
  int64_t later_ = 0;
  // The beginnings of groups in the part: of all entries, and of those that are applied.
  int64_t all_begins_[kMost + 1];
  int64_t begins_[kMost + 1];
  int64_t destinations_[kMost];
  int64_t updates_[kMostLocated];
  int64_t weights_[kMostLocated];
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_PIECE_H_
