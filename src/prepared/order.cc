// SPDX-License-Identifier: Apache-2.0
#include "prepared/order.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/scratch.h"

namespace strew::prepared {
namespace {

// An entry on its way to its destination.
template <class Number>
struct Item {
  Number destination;
  Number entry;
};

// Entries of kElements lie in outer turns around the axis and inner ones within it.
struct Turns {
  int64_t outer = 1, axis = 1, inner = 1;
};

Turns TurnsOf(const Plan& plan) {
  Turns turns;
  turns.axis = plan.entries;
  if (plan.kind != Kind::kElements || plan.entries == 0) return turns;
  for (int i = 0; i < plan.rank; ++i) {
    if (i == plan.axis || plan.is_inner[i]) continue;
    (i < plan.axis ? turns.outer : turns.inner) *= plan.shape[i];
  }
  turns.axis = plan.shape[plan.axis];
  return turns;
}

// Calls body(destination, entry) for each entry that is not dropped, in order.
template <class Body>
void ForEachItem(const Plan& plan, const Body& body) {
  const Turns turns = TurnsOf(plan);
  // Places are destinations already if there are no batches.
  const int64_t extent = plan.kind == Kind::kElements ? plan.extents[0] : 0;
  plan.places.Visit([&](const auto* places) {
    const auto none = static_cast<std::decay_t<decltype(places[0])>>(plan.places.none());
    int64_t entry = 0;
    for (int64_t o = 0; o < turns.outer; ++o) {
      const int64_t first = o * extent * turns.inner;
      for (int64_t a = 0; a < turns.axis; ++a) {
        for (int64_t i = 0; i < turns.inner; ++i, ++entry) {
          if (places[entry] == none) continue;
          body(first + static_cast<int64_t>(places[entry]) * turns.inner + i, entry);
        }
      }
    }
  });
}

// The highest digit of a destination, by which items are moved first.
constexpr int kMostBits = 9;
constexpr int64_t kMostDigits = int64_t{1} << kMostBits;

// How the destinations of kept entries follow one another.
struct Sequence {
  bool ascends = true;
  int64_t count = 0;
  int64_t counts[kMostDigits] = {};  // of each highest digit
};

void Look(const Plan& plan, int shift, Sequence* sequence) {
  bool ascends = true;
  int64_t last = 0, count = 0;
  ForEachItem(plan, [&](int64_t destination, int64_t) {
    ++sequence->counts[destination >> shift];
    ascends &= destination >= last;
    last = destination;
    ++count;
  });
  sequence->ascends = ascends;
  sequence->count = count;
}

// Sorts items by destination, keeping the order of equal ones, by the `bits` lowest bits, in which
// alone they differ. `other` has room for as many.
template <class Number>
class Sorter {
 public:
  static void Sort(Item<Number>* items, Item<Number>* other, int64_t count, int bits) {
    if (count < 2 || bits == 0) return;
    if (count <= kFew) return SortFew(items, count);
    if (count <= kNear) return SortNear(items, other, count, bits);
    // The highest bits first, so that the rest happens in the cache: 4 million random items take
    // 0.7 x the time of three passes over all of them.
    const int shift = std::max(bits - kMostBits, 0);
    int64_t ends[kMostDigits];
    Distribute(items, other, count, shift, std::min(bits, kMostBits), ends);
    for (int64_t first = 0, d = 0; d < int64_t{1} << std::min(bits, kMostBits); ++d) {
      Sort(items + first, other + first, ends[d] - first, shift);
      first = ends[d];
    }
  }

 private:
  // Items that with their copy are in the L2 cache, and so few that a sort by comparison is faster.
  static constexpr int64_t kNear = (int64_t{1} << 18) / int64_t{sizeof(Item<Number>)};
  static constexpr int64_t kFew = 24;

  static int64_t DigitOf(const Item<Number>& item, int shift, int width) {
    return static_cast<int64_t>(item.destination >> shift) & ((int64_t{1} << width) - 1);
  }

  static void SortFew(Item<Number>* items, int64_t count) {
    for (int64_t i = 1; i < count; ++i) {
      const Item<Number> item = items[i];
      int64_t k = i;
      for (; k > 0 && items[k - 1].destination > item.destination; --k) items[k] = items[k - 1];
      items[k] = item;
    }
  }

  // Moves items to `other` by a digit. *next has the first position of each digit, and then the end.
  static void Scatter(const Item<Number>* items, Item<Number>* other, int64_t count, int shift,
                      int width, int64_t* next) {
    for (int64_t i = 0; i < count; ++i) other[next[DigitOf(items[i], shift, width)]++] = items[i];
  }

  // Turns counts into first positions.
  static void Accumulate(int64_t* counts, int width) {
    int64_t sum = 0;
    for (int64_t d = 0; d < int64_t{1} << width; ++d) sum += std::exchange(counts[d], sum);
  }

  // Sorts by one digit, which may ascend already, as that of rows does.
  static void Distribute(Item<Number>* items, Item<Number>* other, int64_t count, int shift,
                         int width, int64_t* ends) {
    std::fill_n(ends, int64_t{1} << width, 0);
    bool ascends = true;
    int64_t last = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t digit = DigitOf(items[i], shift, width);
      ++ends[digit];
      ascends &= digit >= last;
      last = digit;
    }
    Accumulate(ends, width);
    if (ascends) {
      for (int64_t d = 0; d + 1 < int64_t{1} << width; ++d) ends[d] = ends[d + 1];
      ends[(int64_t{1} << width) - 1] = count;
      return;
    }
    Scatter(items, other, count, shift, width, ends);
    std::copy_n(other, count, items);
  }

  // Digit by digit from the lowest.
  static void SortNear(Item<Number>* items, Item<Number>* other, int64_t count, int bits) {
    // An even number of passes ends where it began.
    constexpr int kMostNear = 8;
    const int passes = ((bits - 1) / kMostNear / 2 + 1) * 2;
    const int width = (bits - 1) / passes + 1;
    int64_t next[int64_t{1} << kMostNear];
    for (int pass = 0; pass < passes; ++pass) {
      std::fill_n(next, int64_t{1} << width, 0);
      for (int64_t i = 0; i < count; ++i) ++next[DigitOf(items[i], pass * width, width)];
      Accumulate(next, width);
      Scatter(items, other, count, pass * width, width, next);
      std::swap(items, other);
    }
  }
};

// Keeps what the sequence does not tell. for_each(body) calls body(destination, entry) in the order
// of destinations.
template <class Number, class Entry, class ForEach>
bool KeepAs(bool all_stay, const ForEach& for_each, Plan* plan) {
  int64_t groups = 0, last = -1;
  for_each([&](int64_t destination, int64_t) {
    groups += destination != last;
    last = destination;
  });
  if (!plan->destinations.Allocate(groups, sizeof(Number))) return false;
  if (!all_stay && !plan->order.Allocate(plan->kept, sizeof(Entry))) return false;
  if (groups != plan->kept && !plan->firsts.Allocate(groups + 1, sizeof(Entry))) return false;
  Number* const destinations = reinterpret_cast<Number*>(plan->destinations.data());
  Entry* const firsts = reinterpret_cast<Entry*>(plan->firsts.data());
  Entry* const order = reinterpret_cast<Entry*>(plan->order.data());
  int64_t group = 0, i = 0;
  last = -1;
  for_each([&](int64_t destination, int64_t entry) {
    if (order != nullptr) order[i] = static_cast<Entry>(entry);
    if (destination != last) {
      if (firsts != nullptr) firsts[group] = static_cast<Entry>(i);
      destinations[group++] = static_cast<Number>(destination);
      last = destination;
    }
    ++i;
  });
  if (firsts != nullptr) firsts[groups] = static_cast<Entry>(i);
  return true;
}

// Entries are numbered by a type of their own: with numbers of 64 bits for all of them a plan would
// have 32 bytes for each.
template <class Number, class ForEach>
bool Keep(bool all_stay, const ForEach& for_each, Plan* plan) {
  return plan->entries <= int64_t{UINT32_MAX} ? KeepAs<Number, uint32_t>(all_stay, for_each, plan)
                                              : KeepAs<Number, uint64_t>(all_stay, for_each, plan);
}

// Bits of the numbers in [0, end).
int BitsOf(int64_t end) {
  return end < 2 ? 0 : 64 - __builtin_clzll(static_cast<unsigned long long>(end) - 1);
}

template <class Number>
Item<Number>* Allocate(const Call& call, int64_t count, Scratch* scratch) {
  int64_t bytes;
  if (!CheckedMultiply(count, sizeof(Item<Number>), &bytes)) return nullptr;
  Scratch(call, static_cast<size_t>(bytes)).Swap(scratch);
  return reinterpret_cast<Item<Number>*>(scratch->memory());
}

// Returns false if an allocation fails.
template <class Number>
bool SortAndKeep(const Call& call, int bits, int shift, Sequence* sequence, Plan* plan) {
  Scratch of_items, of_others;
  const int64_t largest = *std::max_element(sequence->counts, sequence->counts + kMostDigits);
  Item<Number>* const items = Allocate<Number>(call, sequence->count, &of_items);
  Item<Number>* const others = Allocate<Number>(call, largest, &of_others);
  if (items == nullptr || others == nullptr) return false;
  int64_t* const ends = sequence->counts;
  int64_t sum = 0;
  for (int64_t d = 0; d < kMostDigits; ++d) sum += std::exchange(ends[d], sum);
  ForEachItem(*plan, [&](int64_t destination, int64_t entry) {
    items[ends[destination >> shift]++] = {static_cast<Number>(destination),
                                           static_cast<Number>(entry)};
  });
  int64_t first = 0;
  for (int64_t d = 0; d < kMostDigits; ++d) {
    Sorter<Number>::Sort(items + first, others, ends[d] - first, std::min(bits, shift));
    first = ends[d];
  }
  const auto for_each = [&](const auto& body) {
    for (int64_t i = 0; i < sequence->count; ++i) {
      body(static_cast<int64_t>(items[i].destination), static_cast<int64_t>(items[i].entry));
    }
  };
  return Keep<Number>(false, for_each, plan);
}

template <class Number>
bool OrderAs(const Call& call, int64_t end, Plan* plan) {
  const int bits = BitsOf(end);
  const int shift = std::max(bits - kMostBits, 0);
  Sequence sequence;
  Look(*plan, shift, &sequence);
  plan->kept = sequence.count;
  if (!sequence.ascends) return SortAndKeep<Number>(call, bits, shift, &sequence, plan);
  const auto for_each = [&](const auto& body) { ForEachItem(*plan, body); };
  return Keep<Number>(sequence.count == plan->entries, for_each, plan);
}

}  // namespace

int64_t DestinationsOf(const Plan& plan) {
  int64_t count = 1;
  bool fits = true;
  for (int c = 0; c < plan.components; ++c) {
    if (plan.extents[c] == 0) return 0;
    fits = fits && CheckedMultiply(count, plan.extents[c], &count);
  }
  for (int i = 0; plan.kind == Kind::kElements && i < plan.rank; ++i) {
    if (i == plan.axis || plan.is_inner[i]) continue;
    if (plan.shape[i] == 0) return 0;
    fits = fits && CheckedMultiply(count, plan.shape[i], &count);
  }
  return fits ? count : -1;
}

Status OrderEntries(const Call& call, Plan* plan) {
  const int64_t end = DestinationsOf(*plan);
  const bool is_narrow = end <= int64_t{UINT32_MAX} && plan->entries <= int64_t{UINT32_MAX};
  const bool done =
      is_narrow ? OrderAs<uint32_t>(call, end, plan) : OrderAs<uint64_t>(call, end, plan);
  if (done) return STREW_OK;
  return call.Fail(STREW_OUT_OF_MEMORY, "memory to put the entries in order was refused");
}

}  // namespace strew::prepared
