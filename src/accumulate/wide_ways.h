// SPDX-License-Identifier: Apache-2.0
// The ways to accumulate, among which wide.cc chooses.
#ifndef STREW_ACCUMULATE_WIDE_WAYS_H_
#define STREW_ACCUMULATE_WIDE_WAYS_H_

#include <algorithm>
#include <cstdint>

#include "accumulate/touched.h"
#include "accumulate/wide_sums.h"
#include "base/cache_size.h"
#include "base/checked.h"
#include "base/status.h"
#include "plan/entry_loops.h"
#include "plan/pass.h"
#include "plan/schedule.h"
#include "share/parts.h"
#include "share/share.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// A scatter whose updates are combined in wide accumulators.
struct WideScatter {
  const walk::Scatter& scatter;
  const SlotSums& sums;

  // Address in the output of a destination, which counts units from the origin of the loops.
  unsigned char* OutputOf(int64_t destination) const {
    return scatter.OutputAt(scatter.loops.outer.base[plan::kOutput] + destination);
  }
  // Number of tasks that write `destinations` destinations.
  int64_t TasksFor(int64_t destinations) const {
    const double touched = static_cast<double>(destinations);
    const double bytes = touched * static_cast<double>(scatter.loops.EntryUnits() * scatter.width);
    const plan::Tuning& tuning = scatter.tuning;
    return plan::TasksFor(plan::Machine(scatter.call),
                          touched * tuning.ns_of_touched + bytes * tuning.ns_of_byte);
  }
  int64_t PartsFor(int64_t tasks) const {
    return plan::PartsFor(plan::Machine(scatter.call), tasks);
  }
  // True if so many destinations, `step` units apart, lie in more cache lines for each entry than
  // column_lines_of_entry, so that it costs less to find the touched ones than to sum in all.
  bool AreFarApart(int64_t destinations, int64_t step, int64_t entries) const {
    const uint64_t bytes = std::min<uint64_t>(Magnitude(step * scatter.width), kCacheLine);
    const double lines =
        static_cast<double>(destinations) * (static_cast<double>(bytes) / kCacheLine);
    return lines > static_cast<double>(entries) * scatter.tuning.column_lines_of_entry;
  }
  // Most destinations for each entry with which every destination has a sum.
  int64_t DestinationsOfEntry() const {
    const plan::Tuning& tuning = scatter.tuning;
    return sums.accumulator().slots.has_counts ? tuning.destinations_of_entry
                                               : tuning.destinations_of_uncounted_entry;
  }
  Status CopyData() const {
    return share::Copy(scatter.call, scatter.operands.data, scatter.operands.output);
  }
  Status Refuse() const {
    return scatter.call.Fail(STREW_OUT_OF_MEMORY,
                             "memory to bring updates of an element together was refused");
  }
};

enum class WideWay { kBatches, kBuckets, kRanks };

// Combines all updates in the way that wide.cc chooses, and says which.
Status Combine(const WideScatter& work, WideWay* way);

// True if entries of columns go to buckets, if these are allowed, rather than through several
// passes over the same cache lines.
bool PrefersBuckets(const WideScatter& work);

// These ways write nothing if another way is better; *done is then false.
Status CombineBatches(const WideScatter& work, bool* done);
// CombineBuckets() stores in *touched what it finds out of the destinations.
Status CombineBuckets(const WideScatter& work, TouchedRange* touched, bool* done);
// Batches one by one, with more sums than CombineBatches() takes: for calls of so many entries that
// scratch has no room for them in buckets. `touched` is what CombineBuckets() stored, if it did.
Status CombineLargeBatches(const WideScatter& work, const TouchedRange& touched, bool* done);
// This way is for all calls.
Status CombineRanks(const WideScatter& work);

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_WIDE_WAYS_H_
