// SPDX-License-Identifier: Apache-2.0
// The contents of a strew_plan: the entries of an index tensor, checked and sorted by destination.
//
//   entry   an index value or tuple, as its row-major number. Values that repeat along a dim of
//           scatter_elements other than the axis count once: the turns of that dim are inner turns.
//   place   the element that an entry names, regardless of its batch: its position on the axis, or
//           for tuples its row-major number in the indexed axes
//   group   the entries of one destination, in their order
//   slice   one turn of the outermost loop inside an entry, with everything inside it, for all
//           entries; used if these turns lie at least a cache line apart
#ifndef STREW_PREPARED_PLAN_H_
#define STREW_PREPARED_PLAN_H_

#include <algorithm>
#include <cstdint>

#include "base/reduction.h"
#include "base/tensor_view.h"
#include "prepared/counts.h"
#include "prepared/numbers.h"
#include "prepared/partner.h"
#include "strew/strew.h"

namespace strew::prepared {

// The operator that the indices are for.
enum class Kind { kElements, kTuples, kUpdate };

struct Plan {
  Kind kind;
  int32_t rank;  // of the indices
  int64_t shape[kMaxRank];
  bool is_inner[kMaxRank] = {};  // dims of kElements along which indices do not change
  int axis;                      // of kElements, in indices
  int64_t given_axis;            // of kUpdate, to be resolved against the rank of each tensor
  int32_t components;            // number of indexed axes
  int64_t extents[kMaxRank];     // of the indexed axes in data
  int64_t all_entries = 0;       // what strew_plan_entries() returns
  int64_t dropped_entries = 0;   // among all_entries
  int64_t entries = 0;           // with repeated values counted once

  Numbers places;                // of each entry; Numbers::kNone for a dropped one
  bool names_one_place = false;  // all entries do, by an index, and none is dropped
  // `order` has the `kept` entries that are not dropped, in order of destination. It does not exist
  // if that is their own order and none is dropped.
  int64_t kept = 0;
  Numbers order;
  // The destination of each group, as a row-major number. For kElements it counts in the dims of
  // indices that are not inner, with the extent in place of the axis; else in the extents.
  Numbers destinations;
  // The position of each group's first entry in the order, and a sentinel. It does not exist if
  // each group has one entry.
  Numbers firsts;

  Token* token = nullptr;
  // Caches, which calls with a const plan may fill.
  mutable Partner partner;
  mutable Counts counts;

  Plan() = default;
  ~Plan() {
    if (token != nullptr) token->Release();
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // The number of places that an entry can name. If an axis is empty, the product of the others may
  // overflow.
  int64_t NumberOfPlaces() const {
    for (int c = 0; c < components; ++c) {
      if (extents[c] == 0) return 0;
    }
    int64_t product = 1;
    for (int c = 0; c < components; ++c) product *= extents[c];
    return product;
  }

  // The dims of the indices that count entries.
  int entry_dims() const { return kind == Kind::kTuples ? rank - 1 : rank; }

  // For kElements, the number of elements in the dims after the axis; else 1.
  int64_t Columns() const {
    int64_t columns = 1;
    for (int i = axis + 1; kind == Kind::kElements && i < rank; ++i) columns *= shape[i];
    return columns;
  }
  bool IsLastAxis() const { return Columns() == 1; }

  bool has_dropped() const { return dropped_entries != 0; }
  int64_t groups() const { return destinations.count(); }
  int64_t FirstOf(int64_t group) const { return firsts.exists() ? firsts.At(group) : group; }
  // Stores the numbers of updates of groups [first, first + n).
  template <class Count>
  void CountUpdates(int64_t first, int64_t n, Count* to) const {
    if (!firsts.exists()) return void(std::fill_n(to, n, Count{1}));
    firsts.Visit([&](const auto* begins) {
      for (int64_t i = first; i < first + n; ++i) {
        to[i - first] = static_cast<Count>(begins[i + 1] - begins[i]);
      }
    });
  }
  // An equivalent reduction with the fewest steps.
  strew_reduction Simplified(strew_reduction reduction, strew_dtype dtype) const {
    return firsts.exists() ? WithNeededFlags(reduction, dtype) : OfSingleUpdates(reduction, dtype);
  }
  int64_t bytes() const {
    return int64_t{sizeof(*this)} + places.bytes() + order.bytes() + destinations.bytes() +
           firsts.bytes() + partner.bytes() + counts.bytes();
  }
  // False if the plan would become larger than strew.h promises.
  bool MayGrowBy(int64_t more) const {
    constexpr int64_t kMostBytes = 24;  // of an entry
    return (bytes() + more) / kMostBytes <= all_entries;
  }
};

}  // namespace strew::prepared

struct strew_plan {
  strew::prepared::Plan plan;
};

#endif  // STREW_PREPARED_PLAN_H_
