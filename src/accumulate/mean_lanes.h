// SPDX-License-Identifier: Apache-2.0
// Means where indices name places of lanes that are short: some lanes at a time have a sum and a
// count for each place, near the CPU.
#ifndef STREW_ACCUMULATE_MEAN_LANES_H_
#define STREW_ACCUMULATE_MEAN_LANES_H_

#include "base/call.h"
#include "base/status.h"
#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/entry_loops.h"
#include "walk/scatter.h"

namespace strew::accumulate {

class LaneMeans {
 public:
  LaneMeans(const walk::Scatter& scatter);

  // Whether the places of a lane fit scratch, and are no more than the updates can pay for.
  bool IsPossible() const { return lanes_of_part_ > 0; }
  Status Run(bool in_place) const;

 private:
  plan::Cut CutLanes(int64_t* lanes_of_part) const;
  void RunPart(const plan::Cut& cut, int64_t part, unsigned char* scratch) const;

  const walk::Scatter& scatter_;
  const kernel::AccumulateKernels& kernels_;
  int64_t tasks_ = 1;
  int64_t lanes_of_part_ = 0;
};

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_MEAN_LANES_H_
