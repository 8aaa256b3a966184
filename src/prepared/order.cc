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

// How the destinations of kept entries follow one another.
struct Sequence {
  bool ascends = true;
  bool is_distinct = true;  // if it ascends
  int64_t count = 0;
};

template <class Number>
Sequence ListItems(const Plan& plan, Item<Number>* items) {
  const Turns turns = TurnsOf(plan);
  // Places are destinations already if there are no batches.
  const int64_t extent = plan.kind == Kind::kElements ? plan.extents[0] : 0;
  Sequence sequence;
  plan.places.Visit([&](const auto* places) {
    const auto none = static_cast<decltype(+places[0])>(plan.places.none());
    Item<Number>* next = items;
    int64_t last = -1, entry = 0;
    bool ascends = true, is_distinct = true;
    for (int64_t o = 0; o < turns.outer; ++o) {
      const int64_t first = o * extent * turns.inner;
      for (int64_t a = 0; a < turns.axis; ++a) {
        for (int64_t i = 0; i < turns.inner; ++i, ++entry) {
          const auto place = places[entry];
          if (place == none) continue;
          const int64_t destination = first + static_cast<int64_t>(place) * turns.inner + i;
          *next++ = {static_cast<Number>(destination), static_cast<Number>(entry)};
          ascends &= destination >= last;
          is_distinct &= destination != last;
          last = destination;
        }
      }
    }
    sequence = {ascends, is_distinct, next - items};
  });
  return sequence;
}

// Sorts by destination, keeping the order of equal ones, digit by digit from the lowest. Both
// arrays have room for all items; returns the one that has them in the end.
template <class Number>
Item<Number>* Sort(Item<Number>* items, Item<Number>* other, int64_t count, int64_t end) {
  constexpr int kMostBits = 9;
  const int bits =
      64 - __builtin_clzll(static_cast<unsigned long long>(std::max<int64_t>(end, 2)) - 1);
  const int passes = (bits - 1) / kMostBits + 1;
  const int width = (bits - 1) / passes + 1;
  int64_t at[1 << kMostBits];
  const Number mask = static_cast<Number>((1 << width) - 1);
  for (int shift = 0; shift < bits; shift += width) {
    std::fill_n(at, 1 << width, 0);
    for (int64_t i = 0; i < count; ++i) ++at[items[i].destination >> shift & mask];
    int64_t sum = 0;
    for (int64_t b = 0; b < 1 << width; ++b) sum += std::exchange(at[b], sum);
    for (int64_t i = 0; i < count; ++i) {
      other[at[items[i].destination >> shift & mask]++] = items[i];
    }
    std::swap(items, other);
  }
  return items;
}

template <class Number>
int64_t CountGroups(const Item<Number>* items, int64_t count) {
  int64_t groups = count > 0 ? 1 : 0;
  for (int64_t i = 1; i < count; ++i) groups += items[i].destination != items[i - 1].destination;
  return groups;
}

// Keeps what the sequence does not tell.
template <class Number>
bool Keep(const Item<Number>* items, const Sequence& sequence, Plan* plan) {
  const int64_t count = sequence.count;
  const int64_t groups = CountGroups(items, count);
  const bool all_stay = sequence.ascends && count == plan->entries;
  constexpr int32_t kWidth = sizeof(Number);
  if (!plan->destinations.Allocate(groups, kWidth)) return false;
  if (!all_stay && !plan->order.Allocate(count, kWidth)) return false;
  if (groups != count && !plan->firsts.Allocate(groups + 1, kWidth)) return false;
  Number* const destinations = reinterpret_cast<Number*>(plan->destinations.data());
  Number* const firsts = reinterpret_cast<Number*>(plan->firsts.data());
  Number* const order = reinterpret_cast<Number*>(plan->order.data());
  int64_t group = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (order != nullptr) order[i] = items[i].entry;
    if (i > 0 && items[i].destination == items[i - 1].destination) continue;
    if (firsts != nullptr) firsts[group] = static_cast<Number>(i);
    destinations[group++] = items[i].destination;
  }
  if (firsts != nullptr) firsts[groups] = static_cast<Number>(count);
  return true;
}

template <class Number>
Status OrderAs(const Call& call, int64_t end, Plan* plan) {
  const Status refused = STREW_OUT_OF_MEMORY;
  const auto room = [&](Scratch* scratch) {
    int64_t bytes;
    if (!CheckedMultiply(std::max<int64_t>(plan->entries, 1), sizeof(Item<Number>), &bytes)) {
      return static_cast<Item<Number>*>(nullptr);
    }
    Scratch(call, static_cast<size_t>(bytes)).Swap(scratch);
    return reinterpret_cast<Item<Number>*>(scratch->memory());
  };
  Scratch of_items, of_others;
  Item<Number>* items = room(&of_items);
  if (items == nullptr) return refused;
  const Sequence sequence = ListItems(*plan, items);
  if (!sequence.ascends) {
    Item<Number>* const others = room(&of_others);
    if (others == nullptr) return refused;
    items = Sort(items, others, sequence.count, end);
  }
  plan->kept = sequence.count;
  return Keep(items, sequence, plan) ? Status(STREW_OK) : refused;
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
  const Status status =
      is_narrow ? OrderAs<uint32_t>(call, end, plan) : OrderAs<uint64_t>(call, end, plan);
  if (status.ok()) return STREW_OK;
  return call.Fail(STREW_OUT_OF_MEMORY, "memory to put the entries in order was refused");
}

}  // namespace strew::prepared
