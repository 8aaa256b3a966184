// SPDX-License-Identifier: Apache-2.0
// Divides the entries of a plan into parts for several tasks, and finds their destinations.
#ifndef STREW_PREPARED_ENTRY_PARTS_H_
#define STREW_PREPARED_ENTRY_PARTS_H_

#include <algorithm>
#include <cstdint>

#include "prepared/plan.h"

namespace strew::prepared {

class EntryParts {
 public:
  // Requires that the plan has places.
  EntryParts(const Plan& plan, int64_t count) : plan_(plan), count_(count), columns_(plan.entries) {
    if (plan.kind != Kind::kElements || plan.entries == 0) return;
    extent_ = plan.extents[0];
    for (int i = plan.axis + 1; i < plan.rank; ++i) inner_ *= plan.is_inner[i] ? 1 : plan.shape[i];
    columns_ = inner_ == 1 ? plan.shape[plan.axis] : inner_;
    step_ = inner_ == 1 ? 0 : 1;
    rows_of_batch_ = inner_ == 1 ? 1 : plan.shape[plan.axis];
  }

  int64_t count() const { return count_; }

  // Calls body(destination, entry) for each entry of a part that is not dropped, in order.
  template <class Body>
  void ForEach(int64_t part, const Body& body) const {
    const int64_t end = FirstOf(part + 1);
    int64_t entry = FirstOf(part);
    if (entry == end) return;
    int64_t row = entry / columns_, column = entry % columns_;
    plan_.places.Visit([&](const auto* places) {
      for (; entry < end; ++row, column = 0) {
        int64_t first = row / rows_of_batch_ * extent_ * inner_ + column * step_;
        const int64_t end_of_row = std::min(entry + columns_ - column, end);
        for (; entry < end_of_row; ++entry, first += step_) {
          if (Numbers::IsNone(places[entry])) continue;
          body(first + static_cast<int64_t>(places[entry]) * inner_, entry);
        }
      }
    });
  }

 private:
  int64_t FirstOf(int64_t part) const {
    return plan_.entries / count_ * part + std::min(part, plan_.entries % count_);
  }

  const Plan& plan_;
  const int64_t count_;
  // Entries of kElements have batches outside the axis and turns inside it. A row has the entries
  // that differ only in their turn or, if there is one turn, all entries of a batch.
  int64_t columns_;
  int64_t extent_ = 0, inner_ = 1, rows_of_batch_ = 1;
  int64_t step_ = 0;  // between destinations of neighbouring columns that have the same place
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_ENTRY_PARTS_H_
