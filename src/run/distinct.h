// SPDX-License-Identifier: Apache-2.0
// About how many numbers are different: of a share of all, which is halved whenever it gets too
// large, each is kept once (adaptive sampling, Wegman 1984).
#ifndef STREW_RUN_DISTINCT_H_
#define STREW_RUN_DISTINCT_H_

#include <cstdint>
#include <cstring>

#include "run/seen.h"

namespace strew::run {

class Distinct {
 public:
  // So many at most: the standard error of the estimate is 0.6 % where half of them are, and 2.4 %
  // where each number came 40 times and a share was taken from the first one on.
  static constexpr int64_t kMostKept = 1 << 16;
  static constexpr int64_t kSlots = 2 * kMostKept;
  static constexpr int64_t kBytes = kSlots * static_cast<int64_t>(sizeof(uint64_t));

  // `memory` has room for kBytes. Of so many numbers a share is enough from the first one on.
  Distinct(unsigned char* memory, int64_t numbers) : slot_(reinterpret_cast<uint64_t*>(memory)) {
    std::memset(memory, 0, static_cast<size_t>(kBytes));
    while ((numbers >> shift_) > 2 * kMostKept) ++shift_;
    mask_ = (uint64_t{1} << shift_) - 1;
  }

  void Add(uint64_t number) {
    // 0 means an empty slot. Only 0 has it for a hash.
    const uint64_t hash = Hash(number + 1);
    if ((hash & mask_) != 0) return;
    if (!Insert(hash) || ++kept_ <= kMostKept) return;
    Halve();
  }

  int64_t Estimate() const { return kept_ << shift_; }

 private:
  bool Insert(uint64_t hash) {
    int64_t i = SlotOf(hash, kSlots);
    for (; slot_[i] != 0; i = (i + 1) % kSlots) {
      if (slot_[i] == hash) return false;
    }
    slot_[i] = hash;
    return true;
  }

  // Keeps the hashes that end with one more zero. Each slot is emptied before its hash is inserted
  // anew, from behind an empty slot on, so that none is overtaken.
  void Halve() {
    mask_ += mask_ + 1;
    ++shift_;
    kept_ = 0;
    int64_t first = 0;
    while (slot_[first] != 0) ++first;
    for (int64_t i = 0; i < kSlots; ++i) {
      uint64_t& slot = slot_[(first + i) % kSlots];
      const uint64_t hash = slot;
      slot = 0;
      if (hash == 0 || (hash & mask_) != 0) continue;
      Insert(hash);
      ++kept_;
    }
  }

  uint64_t* const slot_;
  uint64_t mask_ = 0;
  int shift_ = 0;
  int64_t kept_ = 0;
};

}  // namespace strew::run

#endif  // STREW_RUN_DISTINCT_H_
