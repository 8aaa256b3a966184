// SPDX-License-Identifier: Apache-2.0
// Means, and sums that are not divided: kernels for single elements that have a sum and a count
// each, and the tables of all accumulating kernels.
#if defined(STREW_KERNEL_MEAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_MEAN_INL_H_
#undef STREW_KERNEL_MEAN_INL_H_
#else
#define STREW_KERNEL_MEAN_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

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

// True if all numbers agree with `expected` in the bits that are set in `mask`.
HWY_INLINE bool Agree(const int32_t* numbers, int64_t n, int32_t expected, int32_t mask) {
  const hn::ScalableTag<int32_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto differing = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    differing = hn::Or(differing, hn::Xor(hn::LoadU(d, numbers + i), hn::Set(d, expected)));
  }
  int32_t rest = 0;
  for (; i < n; ++i) rest |= numbers[i] ^ expected;
  differing = hn::And(hn::Or(differing, hn::Set(d, rest)), hn::Set(d, mask));
  return hn::AllTrue(d, hn::Eq(differing, hn::Zero(d)));
}

template <class T, template <class> class Op>
void AddEach(const CountedSums& to, const SlotUpdates& all) {
  const int32_t* HWY_RESTRICT slots = all.slots;
  const unsigned char* HWY_RESTRICT updates = all.updates;
  unsigned char* HWY_RESTRICT sums = to.sums;
  uint32_t* HWY_RESTRICT counts = to.counts;
  const int64_t n = all.n;
  const int64_t step = At<T>(all.updates_stride);
  // If all slots are equal, their sum stays in a register: 3 M equal indices with float32 took
  // 0.67 x the time (Zen 4). For older CPUs this would make the library 9 KB larger.
  if (!STREW_OF_OLD_CPUS && slots[0] == slots[n - 1] && slots[0] != kDropped<int32_t> &&
      Agree(slots, n, slots[0], -1)) {
    SumOf<T> sum = LoadElement<SumOf<T>>(sums + At<SumOf<T>>(slots[0]));
    for (int64_t i = 0; i < n; ++i) {
      sum = Accumulate<T, Op>(sum, LoadElement<T>(updates + i * step));
    }
    StoreElement(sum, sums + At<SumOf<T>>(slots[0]));
    counts[slots[0]] += static_cast<uint32_t>(n);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const int32_t slot = slots[i];
    if (slot == kDropped<int32_t>) continue;
    unsigned char* const sum = sums + At<SumOf<T>>(slot);
    const T update = LoadElement<T>(updates + i * step);
    StoreElement(Accumulate<T, Op>(LoadElement<SumOf<T>>(sum), update), sum);
    ++counts[slot];
  }
}

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

// Returns sum / (count + more), or `old` if the count is 0. There is no branch on the count, which
// the CPU could not predict (el.last of float32: 23 ms instead of 73), except for wide sums, whose
// division takes long.
template <class T, bool kDivides>
HWY_INLINE T Result(SumOf<T> sum, uint32_t count, int64_t more, T old) {
  if constexpr (std::is_same_v<SumOf<T>, WideSum>) {
    return count == 0 ? old : SumTraits<T>::Divide(sum, int64_t{count} + more);
  } else {
    const int64_t terms = count == 0 || !kDivides ? 1 : int64_t{count} + more;
    const T result = SumTraits<T>::Divide(sum, terms);
    return count == 0 ? old : result;
  }
}

template <class T>
constexpr bool kHasIntegerSums = std::is_integral_v<SumOf<T>>;

// Quotients of sums: float32 for float32 sums, float64 for float64 and int64 sums. Without
// kDivides, the sums as they are.
template <bool kDivides, class DQuotient, class V, class VCounts>
HWY_INLINE hn::Vec<DQuotient> Quotients(DQuotient dq, V sums, VCounts counts, int64_t more) {
  const hn::Rebind<int32_t, DQuotient> d32;
  // At least 1, because 0 / 0 would be NaN, which does not convert to an integer.
  const auto terms =
      hn::Max(hn::Add(counts, hn::Set(d32, static_cast<int32_t>(more))), hn::Set(d32, 1));
  if constexpr (!kDivides) {
    return sums;
  } else if constexpr (sizeof(hn::TFromD<DQuotient>) == 4) {
    return hn::Div(sums, hn::ConvertTo(dq, terms));
  } else if constexpr (std::is_same_v<V, hn::Vec<DQuotient>>) {
    return hn::Div(sums, hn::PromoteTo(dq, terms));
  } else {
    return hn::Div(hn::ConvertTo(dq, sums), hn::PromoteTo(dq, terms));
  }
}

// Converts a mask of 32-bit lanes to lanes of another size.
template <class D, class V>
HWY_INLINE hn::Vec<D> ResizedMask(D d, V mask) {
  const hn::RebindToSigned<D> di;
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::BitCast(d, mask);
  } else if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::BitCast(d, hn::PromoteTo(di, mask));
  } else {
    return hn::BitCast(d, hn::DemoteTo(di, mask));
  }
}

// Finishes contiguous elements of float32, float64, short floats and integers of up to 32 bits.
// Returns the number of elements that are done. If a third of all float64 had updates, each took
// 1.4 ns, one by one 3.2, because compilers turn the choice between mean and old value into a
// branch (Zen 4).
template <class T, bool kDivides>
HWY_INLINE int64_t FinishVectors(const CountedSums& from, int64_t more, unsigned char* output,
                                 int64_t n) {
  using Sum = SumOf<T>;
  constexpr bool kIsReal = std::is_same_v<Sum, float> || std::is_same_v<Sum, double>;
  if constexpr (kIsReal || kHasIntegerSums<T>) {
    return ForVectors<T, Sum>(0, n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
      const hn::Rebind<QuotientPart<Sum>, decltype(ds)> dq;
      const hn::Rebind<int32_t, decltype(ds)> d32;
      const auto counts = hn::LoadU(d32, reinterpret_cast<const int32_t*>(from.counts + i));
      const auto sums = LoadLanes<Sum>(ds, from.sums + At<Sum>(i));
      const auto results = FromQuotients<T>(d, dq, Quotients<kDivides>(dq, sums, counts, more));
      const auto touched = hn::VecFromMask(d32, hn::Gt(counts, hn::Zero(d32)));
      auto* const to = reinterpret_cast<hn::TFromD<decltype(d)>*>(output + At<T>(i));
      const auto chosen = hn::IfVecThenElse(ResizedMask(d, touched), results, hn::LoadU(d, to));
      hn::StoreU(chosen, d, to);
    });
  }
  return 0;
}

// True if float64 represents all sums of integers exactly; then their quotients are exact enough.
template <class T>
HWY_INLINE bool SumsAreShort(const CountedSums& from, int64_t n) {
  if constexpr (kHasIntegerSums<T> && sizeof(T) == 4) {
    constexpr int32_t kMost = (1 << (53 - 32)) - 1;
    return Agree(reinterpret_cast<const int32_t*>(from.counts), n, 0, ~kMost);
  } else {
    return true;
  }
}

template <class T, bool kDivides>
void FinishEach(const CountedSums& all, int64_t more, unsigned char* output, int64_t n) {
  const CountedSums from = all;
  int64_t done = 0;
  if constexpr (std::is_same_v<SumOf<T>, WideSum>) {
    done = FinishWideVectors<T>(from, more, output, n);
  } else {
    if (SumsAreShort<T>(from, n)) done = FinishVectors<T, kDivides>(from, more, output, n);
  }
  for (int64_t i = done; i < n; ++i) {
    const SumOf<T> sum = LoadElement<SumOf<T>>(from.sums + At<SumOf<T>>(i));
    const T old = LoadElement<T>(output + At<T>(i));
    StoreElement(Result<T, kDivides>(sum, from.counts[i], more, old), output + At<T>(i));
  }
}

// ---- The tables ----

template <class T, template <class> class Op, bool kDivides>
constexpr AccumulateKernels AccumulateKernelsOf() {
  AccumulateKernels kernels = {};
  kernels.sums = SumKernelsOf<T, Op>();
  kernels.long_sums = kernels.sums;
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
    kernels.long_sums = WideSums<T>::Kernels();
  }
  kernels.group = ReduceGroup<T, Op>;
  kernels.add_each = AddEach<T, Op>;
  // With runs, means of 1 M sorted float32 in runs of 33 and 100 took 0.4 x the time, of int32 in
  // runs of 100 1.1 x (Zen 5).
  kernels.least_repeats = kHasIntegerSums<T> ? 0 : 10;
  kernels.add_groups = AddGroups<T, Op>;
  kernels.ordered = OrderedSumsKernelOf<T, Op>();
  kernels.finish_each = FinishEach<T, kDivides>;
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
