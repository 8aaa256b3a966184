// SPDX-License-Identifier: Apache-2.0
// Sorts entries by destination.
#ifndef STREW_PREPARED_SORT_H_
#define STREW_PREPARED_SORT_H_

#include <cstdint>

namespace strew::prepared {

// An entry on its way to its destination.
template <class Number>
struct Item {
  Number destination;
  Number entry;
};

// The digit of a destination by which items are moved first, the highest.
inline constexpr int kMostBits = 9;
inline constexpr int64_t kMostDigits = int64_t{1} << kMostBits;

// Turns the counts of digits into first positions.
void Accumulate(int64_t* counts, int64_t digits);

// Sorts items by destination, keeping the order of equal ones, by the `bits` lowest bits, in which
// alone they differ. `other` has room for as many.
template <class Number>
void Sort(Item<Number>* items, Item<Number>* other, int64_t count, int bits);

extern template void Sort(Item<uint32_t>* items, Item<uint32_t>* other, int64_t count, int bits);
extern template void Sort(Item<uint64_t>* items, Item<uint64_t>* other, int64_t count, int bits);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_SORT_H_
