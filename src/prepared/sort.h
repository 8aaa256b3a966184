// SPDX-License-Identifier: Apache-2.0
// Sorts entries by destination.
#ifndef STREW_PREPARED_SORT_H_
#define STREW_PREPARED_SORT_H_

#include <cstdint>

namespace strew::prepared {

// An entry to sort, and its destination.
template <class Number>
struct Item {
  Number destination;
  Number entry;
};

// Limits on the digit by which items are moved first, which is the highest of a destination.
inline constexpr int kMostBits = 9;
inline constexpr int64_t kMostDigits = int64_t{1} << kMostBits;

// Turns the counts of digits into first positions.
void ToFirsts(int64_t* counts, int64_t digits);

// Sorts items by destination, and keeps the order of equal ones. Destinations may differ only in
// their `bits` lowest bits. `other` has room for `count` items.
template <class Number>
void Sort(Item<Number>* items, Item<Number>* other, int64_t count, int bits);

extern template void Sort(Item<uint32_t>* items, Item<uint32_t>* other, int64_t count, int bits);
extern template void Sort(Item<uint64_t>* items, Item<uint64_t>* other, int64_t count, int bits);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_SORT_H_
