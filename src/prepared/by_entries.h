// SPDX-License-Identifier: Apache-2.0
// gather_scatter of single elements, short rows, and slices that are few or long, in the order of
// the entries, which costs less for each element than the order of destinations.
#ifndef STREW_PREPARED_BY_ENTRIES_H_
#define STREW_PREPARED_BY_ENTRIES_H_

#include <cstdint>

#include "base/status.h"
#include "prepared/element_sums.h"
#include "prepared/passage.h"
#include "prepared/schedule.h"

namespace strew::prepared {

// Applies the updates to an output to which data was copied, by a schedule for this way and these
// loops over updates. `sums` are the accumulators of the schedule, or NULL if it has none. *applied
// receives the number of updates.
Status PassByEntries(const Passage& passage, const UpdateNest& nest, const PlanSchedule& schedule,
                     ElementSums* sums, int64_t* applied);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_BY_ENTRIES_H_
