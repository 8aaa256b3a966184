// SPDX-License-Identifier: Apache-2.0
// The accumulator of means and of reductions with STREW_WIDE: how sums of elements begin, and by
// what they are divided.
#ifndef STREW_ACCUMULATE_ACCUMULATOR_H_
#define STREW_ACCUMULATE_ACCUMULATOR_H_

#include <cstdint>

#include "accumulate/accumulate.h"
#include "base/call.h"
#include "base/identity.h"
#include "base/reduction.h"
#include "kernel/kernel.h"
#include "plan/unit.h"

namespace strew::accumulate {

struct Accumulator {
  // A destination has at most `most_updates`. Unless that is kernel::kMostTerms or more, single
  // elements may have slots. These count updates if anyone needs to know the counts.
  Accumulator(const Call& call, strew_dtype dtype, strew_reduction reduction,
              int64_t most_updates = kernel::kMostTerms - 1, bool counts_updates = true)
      : kernels(kernel::AccumulateKernelsFor(dtype, ReductionKind(reduction),
                                             call.settings().simd_target)),
        sums(most_updates >= kernel::kMostTerms ? kernels.long_sums : kernels.sums),
        slots(HasCompactSlots(most_updates, counts_updates || ExcludesSelf(reduction))
                  ? *kernels.compact
                  : kernels.counted),
        excludes_self(ExcludesSelf(reduction)),
        divides(ReductionKind(reduction) == STREW_MEAN) {
    StoreIdentity(dtype, ReductionKind(reduction), identity_);
  }

  // Begins n sums with the old values of elements that lie `stride` apart, or with the identity.
  void Begin(unsigned char* of_elements, const unsigned char* elements, int64_t stride,
             int64_t n) const {
    sums.begin(of_elements, excludes_self ? identity_ : elements, excludes_self ? 0 : stride, n);
  }
  // The same for slots.
  void BeginSlots(unsigned char* of_elements, const unsigned char* elements, int64_t stride,
                  int64_t n) const {
    slots.begin(of_elements, excludes_self ? identity_ : elements, excludes_self ? 0 : stride, n);
  }
  // True if the slots have no counts of their own.
  bool are_compact() const { return &slots == kernels.compact; }
  // Bytes of the count of a slot.
  int64_t count_size() const { return are_compact() ? 0 : kCountBytes; }
  int64_t slot_bytes() const { return sums.sum_size + count_size(); }
  // Number by which a sum of so many updates is divided.
  int64_t Terms(int64_t updates) const { return divides ? updates + old_terms() : 1; }
  // Stores the sums of n slots in contiguous elements. Those without updates stay as they are.
  void FinishEach(const kernel::CountedSums& from, unsigned char* elements, int64_t n) const {
    slots.finish_each(from, old_terms(), elements, n);
  }

  const kernel::AccumulateKernels& kernels;
  const kernel::SumKernels& sums;
  const kernel::SlotKernels& slots;
  const bool excludes_self;
  const bool divides;

 private:
  bool HasCompactSlots(int64_t most_updates, bool needs_counts) const {
    return kernels.compact != nullptr && most_updates <= kernels.compact->most_updates &&
           (kernels.compact->has_counts || !needs_counts);
  }
  int64_t old_terms() const { return excludes_self ? 0 : 1; }

  alignas(plan::kMostWidth) unsigned char identity_[plan::kMostWidth];
};

}  // namespace strew::accumulate

#endif  // STREW_ACCUMULATE_ACCUMULATOR_H_
