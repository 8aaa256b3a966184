// SPDX-License-Identifier: Apache-2.0
// The contents of a strew_plan: an index tensor that was checked and put in order.
//
//   entry   number of an index value or tuple, in row-major order. Values that repeat along dims of
//           scatter_elements that are not the axis count once: these dims are inner turns.
//   place   what an entry names, without regard to its batch: an element of the axis, or for tuples
//           the row-major number of an element of the indexed axes
//   group   the entries of one destination, in their order
#ifndef STREW_PREPARED_PLAN_H_
#define STREW_PREPARED_PLAN_H_

#include <cstdint>

#include "base/reduction.h"
#include "base/tensor_view.h"
#include "prepared/numbers.h"
#include "prepared/partner.h"
#include "strew/strew.h"

namespace strew::prepared {

// The operator whose indices they are.
enum class Kind { kElements, kTuples, kUpdate };

struct Plan {
  Kind kind;
  int32_t rank;  // of the indices
  int64_t shape[kMaxRank];
  bool is_inner[kMaxRank] = {};  // dims of kElements along which indices do not change
  int axis;                      // of kElements, in indices
  int64_t given_axis;            // of kUpdate, to be resolved against the rank of each tensor
  int32_t components;            // number of axes that are indexed
  int64_t extents[kMaxRank];     // of these in data
  int64_t all_entries = 0;       // as strew_plan_entries() tells them
  int64_t dropped_entries = 0;   // among all
  int64_t entries = 0;           // among which repeated values count once

  Numbers places;  // of each entry; none() for one that is dropped
  // In order of destination, without those that are dropped. `order` has the entries; it does not
  // exist if they ascend already.
  int64_t kept = 0;
  Numbers order;
  // The destination of each group: its row-major number in a tensor of the kept dims of indices,
  // with the extent in place of the axis, or of the extents.
  Numbers destinations;
  // The beginnings of the groups in the order, and a sentinel; empty if each group has one entry.
  Numbers firsts;

  Token* token = nullptr;
  mutable Partner partner;  // nobody outside sees that it changes

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

  // True if no dim of the indices follows that of the axis, or of the tuples.
  bool IsLastAxis() const {
    for (int i = axis + 1; kind == Kind::kElements && i < rank; ++i) {
      if (shape[i] > 1) return false;
    }
    return true;
  }

  bool has_dropped() const { return dropped_entries != 0; }
  int64_t groups() const { return destinations.count(); }
  int64_t FirstOf(int64_t group) const { return firsts.exists() ? firsts.At(group) : group; }
  // The same reduction in the fewest steps.
  strew_reduction Simplified(strew_reduction reduction, strew_dtype dtype) const {
    return firsts.exists() ? WithWideIfNeeded(reduction, dtype) : OfSingleUpdates(reduction, dtype);
  }
  int64_t bytes() const {
    return int64_t{sizeof(*this)} + places.bytes() + order.bytes() + destinations.bytes() +
           firsts.bytes() + partner.bytes();
  }
};

}  // namespace strew::prepared

struct strew_plan {
  strew::prepared::Plan plan;
};

#endif  // STREW_PREPARED_PLAN_H_
