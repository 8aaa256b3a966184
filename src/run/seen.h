// SPDX-License-Identifier: Apache-2.0
// A set of numbers that only grows: a bit for each that there may be, or a hash table.
#ifndef STREW_RUN_SEEN_H_
#define STREW_RUN_SEEN_H_

#include <cstdint>
#include <cstring>

namespace strew::run {

// Spreads numbers over all bits, the upper ones best (Fibonacci hashing on both halves).
inline uint64_t Hash(uint64_t number) {
  number = (number ^ (number >> 32)) * 0x9E3779B97F4A7C15u;
  return (number ^ (number >> 29)) * 0x9E3779B97F4A7C15u;
}

// Which of `slots` slots a hash belongs to. Without a division while there are fewer than 2^32.
inline int64_t SlotOf(uint64_t hash, int64_t slots) {
  const uint64_t count = static_cast<uint64_t>(slots);
  // GCOVR_EXCL_START: a table of so many slots takes 32 GiB.
  if (count >> 32 == 0) return static_cast<int64_t>(((hash >> 32) * count) >> 32);
  return static_cast<int64_t>(hash % count);
  // GCOVR_EXCL_STOP
}

class Seen {
 public:
  // For `most` of the numbers in [0, numbers): entries that share their memory may be more.
  Seen(int64_t numbers, int64_t most)
      : bits_(numbers / (8 * kSlotBytes * kSlotsOfNumber) < most),
        slots_(bits_ ? numbers / 64 + 1 : most * kSlotsOfNumber) {}

  // 16 for each of `most` at most.
  int64_t bytes() const { return slots_ * kSlotBytes; }

  // Makes it empty. `memory` has room for it.
  void Begin(unsigned char* memory) {
    slot_ = reinterpret_cast<uint64_t*>(memory);
    std::memset(memory, 0, static_cast<size_t>(bytes()));
  }

  // False where the number is in it already.
  bool Add(uint64_t number) {
    if (!bits_) return AddToTable(number + 1);
    const uint64_t bit = uint64_t{1} << (number % 64);
    uint64_t& word = slot_[number / 64];
    if ((word & bit) != 0) return false;
    word |= bit;
    return true;
  }

 private:
  static constexpr int64_t kSlotBytes = sizeof(uint64_t);
  // Half of a table stays empty.
  static constexpr int64_t kSlotsOfNumber = 2;

  bool AddToTable(uint64_t key) {
    int64_t i = SlotOf(Hash(key), slots_);
    while (slot_[i] != 0) {
      if (slot_[i] == key) return false;
      if (++i == slots_) i = 0;
    }
    slot_[i] = key;
    return true;
  }

  bool bits_;
  int64_t slots_;
  uint64_t* slot_ = nullptr;
};

}  // namespace strew::run

#endif  // STREW_RUN_SEEN_H_
