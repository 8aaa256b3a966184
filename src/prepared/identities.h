// SPDX-License-Identifier: Apache-2.0
// Stores the identity of a reduction, instead of old values, at the destinations of a plan.
#ifndef STREW_PREPARED_IDENTITIES_H_
#define STREW_PREPARED_IDENTITIES_H_

#include <algorithm>
#include <cstdint>

#include "base/call.h"
#include "base/identity.h"
#include "base/reduction.h"
#include "base/tensor_view.h"
#include "kernel/kernel.h"
#include "plan/unit.h"
#include "prepared/operands.h"
#include "prepared/ordered.h"
#include "prepared/plan.h"
#include "walk/kernels.h"

namespace strew::prepared {

class Identities {
 public:
  // `destinations` are those of single units of the output, `run` a loop at each of them.
  Identities(const Call& call, const Plan& plan, const TensorView& output,
             const Numbering& destinations, const plan::Loop<1>& run, strew_reduction reduction)
      : plan_(plan),
        destinations_(destinations),
        move_(walk::IndexedKernelsFor(call, output, STREW_NONE)),
        run_(run),
        step_(StoreIdentities(output.dtype, ReductionKind(reduction), run.count, kBytes,
                              identities_)) {}

  // Stores it in the run at each destination. Calls for_each_origin(store) for some groups at a
  // time, which calls store(origin) for each element from which the destinations are counted.
  template <class ForEachOrigin>
  void Store(const Groups& groups, const ForEachOrigin& for_each_origin) const {
    constexpr int64_t kBlock = 256;
    for (int64_t g = groups.first; g < groups.end; g += kBlock) {
      const int64_t n = std::min(kBlock, groups.end - g);
      int64_t offsets[kBlock];
      destinations_.Locate(plan_.destinations, g, n, offsets);
      for_each_origin([&](unsigned char* origin) {
        kernel::TileArguments tile = kernel::RowTile(origin, identities_, offsets, n, 0);
        tile.updates_column_stride = 0;
        if (run_.count == 1) return move_.elements[kernel::kOffset64](tile, {});
        kernel::WalkRows(
            move_.run, move_.element_size, kernel::kOffset64,
            {tile, run_.count, run_.stride[0], step_, /*streams=*/false, /*moves=*/true, nullptr});
      });
    }
  }

 private:
  // Bytes of a run of identities. Longer runs read one identity again and again, for which kernels
  // are slower: sums of 198,000 rows of 56 bytes took 1.5 x the time (Zen 5).
  static constexpr int64_t kBytes = 1024;

  const Plan& plan_;
  const Numbering& destinations_;
  const kernel::CombineKernels& move_;
  const plan::Loop<1> run_;
  alignas(64) unsigned char identities_[kBytes];
  const int64_t step_;  // from one element of a run of identities to the next
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_IDENTITIES_H_
