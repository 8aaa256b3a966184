// SPDX-License-Identifier: Apache-2.0
// Means, and sums that are not divided: the tables of all accumulating kernels.
#if defined(STREW_KERNEL_MEAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_MEAN_INL_H_
#undef STREW_KERNEL_MEAN_INL_H_
#else
#define STREW_KERNEL_MEAN_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernel/counted-inl.h"
#include "kernel/element.h"
#include "kernel/group-inl.h"
#include "kernel/kernel.h"
#include "kernel/ops-inl.h"
#include "kernel/ordered-inl.h"
#include "kernel/slot-inl.h"
#include "kernel/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// Each sum stays in a register, whereas equal slots in AddEach() would wait for each other.
template <class T, template <class> class Op>
void AddGroups(unsigned char* sums, const unsigned char* updates, const int64_t* begins,
               int64_t groups) {
  int64_t i = begins[0];
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t end = begins[g + 1];
    SumOf<T> sum = LoadElement<SumOf<T>>(sums + At<SumOf<T>>(g));
    for (; i < end; ++i) sum = Accumulate<T, Op>(sum, LoadElement<T>(updates + At<T>(i)));
    StoreElement(sum, sums + At<SumOf<T>>(g));
  }
}

template <class T, template <class> class Op, bool kDivides>
constexpr AccumulateKernels AccumulateKernelsOf() {
  AccumulateKernels kernels = {};
  kernels.sums = SumKernelsOf<T, Op>();
  kernels.long_sums = kernels.sums;
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
    kernels.long_sums = WideSums<T>::Kernels();
  }
  kernels.group = ReduceGroup<T, Op>;
  kernels.counted = CountedKernelsOf<T, Op, kDivides>();
  kernels.compact = CompactKernelsOf<T, Op, kDivides>();
  kernels.add_groups = AddGroups<T, Op>;
  kernels.ordered = OrderedSumsKernelOf<T, Op, kDivides>();
  return kernels;
}

template <class T>
constexpr AccumulateKernels MeanKernelsOf() {
  if constexpr (std::is_same_v<T, Logical>) {
    return {};
  } else {
    AccumulateKernels kernels = AccumulateKernelsOf<T, Add, /*kDivides=*/true>();
    kernels.run = MeanOfPairs<T>;
    return kernels;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
