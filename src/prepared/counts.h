// SPDX-License-Identifier: Apache-2.0
// Stores the number of updates of every destination that a plan can have, in their order. Means
// that are sums then need no list of destinations to be divided.
#ifndef STREW_PREPARED_COUNTS_H_
#define STREW_PREPARED_COUNTS_H_

#include <cstdint>

#include "prepared/numbers.h"
#include "prepared/stored_once.h"

namespace strew::prepared {

struct Plan;

class Counts {
 public:
  // The counts of `plan`, which owns this object. The first call stores them. Returns NULL if the
  // plan would become larger than strew.h promises, or if memory is refused.
  const Numbers* Of(const Plan& plan);
  int64_t bytes() const;

 private:
  StoredOnce<Numbers> counts_;
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_COUNTS_H_
