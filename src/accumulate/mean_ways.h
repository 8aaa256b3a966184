// SPDX-License-Identifier: Apache-2.0
// The ways in which means bring the updates of a destination together. See mean.cc.
#ifndef STREW_ACCUMULATE_MEAN_WAYS_H_
#define STREW_ACCUMULATE_MEAN_WAYS_H_

#include "accumulate/mean_sums.h"
#include "base/call.h"
#include "base/status.h"
#include "kernel/kernel.h"
#include "plan/index_space.h"
#include "share/boxes.h"
#include "walk/entries.h"
#include "walk/scatter.h"

namespace strew::accumulate {

// What a touched element may take, besides what every call may.
inline constexpr int64_t kMeanBytes = 40;

struct Mean {
  const Call& call;
  const walk::IndexedScatter& scatter;
  const plan::IndexSpace& space;
  const MeanSums& sums;
  bool in_place;

  // Where a destination, in units from where the index space begins, lies in the output.
  unsigned char* OutputOf(int64_t destination) const {
    const int64_t unit = space.outer.base[plan::kOutput] + destination;
    return scatter.output.data + unit * scatter.output.element_size;
  }
  const unsigned char* UpdateOf(int64_t update) const {
    return scatter.updates.data + update * scatter.updates.element_size;
  }
  Status CopyData() const {
    return in_place ? Status(STREW_OK) : share::Copy(call, scatter.data, scatter.output);
  }
  Status Refuse() const {
    return call.Fail(STREW_OUT_OF_MEMORY, "memory to bring updates of means together was refused");
  }
};

// Both do nothing and answer false in *done where they are no way.
Status CombineLanes(const Mean& mean, bool* done);
Status CombineBuckets(const Mean& mean, bool* done);
Status CombineRanks(const Mean& mean);

// Groups, behind which the end of the last one stands, and where their updates lie, in units. The
// output has data already.
Status CombineGroups(const Mean& mean, const kernel::Group* groups, int64_t count,
                     const int64_t* order);

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_MEAN_WAYS_H_
