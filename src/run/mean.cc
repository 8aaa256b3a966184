// SPDX-License-Identifier: Apache-2.0
#include "run/mean.h"

#include "run/mean_lanes.h"
#include "run/mean_table.h"

namespace strew::run {

Status ApplyMean(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                 bool in_place) {
  const LaneMeans lanes(call, scatter, plan);
  if (lanes.IsPossible()) return lanes.Run(in_place);
  return MeanTable(call, scatter, plan).Run(in_place);
}

}  // namespace strew::run
