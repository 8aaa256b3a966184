// SPDX-License-Identifier: Apache-2.0
// Means: sums in memory, sums of a group that stay in registers, and single elements with a count
// for each.
#if defined(STREW_KERNEL_MEAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_MEAN_INL_H_
#undef STREW_KERNEL_MEAN_INL_H_
#else
#define STREW_KERNEL_MEAN_INL_H_
#endif

#include <hwy/highway.h>

#include <limits>
#include <type_traits>

#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/ops-inl.h"
#include "kernel/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// Calls body(i, bytes from the first element to the i-th). Elements that lie together have a loop
// that knows it.
template <class T, class Body>
HWY_INLINE void ForRun(int64_t first, int64_t stride, int64_t n, const Body& body) {
  if (stride == 1) {
    for (int64_t i = first; i < n; ++i) body(i, At<T>(i));
  } else {
    for (int64_t i = first; i < n; ++i) body(i, At<T>(i * stride));
  }
}

// Calls body(d, ds, first element) for vectors of elements and of their sums, from the element
// `first` on. Returns how many elements are done.
template <class T, class Sum, class Body>
HWY_INLINE int64_t ForVectors(int64_t first, int64_t n, const Body& body) {
  int64_t i = first;
  if constexpr (SumLanes<T, Sum>::kExist) {
    const typename SumLanes<T, Sum>::Elements d;
    const hn::Rebind<typename SumLanes<T, Sum>::Part, decltype(d)> ds;
    const int64_t step = static_cast<int64_t>(hn::Lanes(d) / SumLanes<T, Sum>::kPerElement);
    for (; i + step <= n; i += step) body(d, ds, i);
  }
  return i;
}

// ---- Sums in memory ----

template <class T>
HWY_NOINLINE void BeginSums(unsigned char* HWY_RESTRICT sums,
                            const unsigned char* HWY_RESTRICT elements, int64_t stride, int64_t n) {
  using Sum = SumOf<T>;
  if (stride == 0) {
    const Sum sum = MeanOf<T>::Widen(LoadElement<T>(elements));
    for (int64_t i = 0; i < n; ++i) StoreElement(sum, sums + At<Sum>(i));
    return;
  }
  int64_t done = 0;
  if (stride == 1) {
    done = ForVectors<T, Sum>(0, n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
      auto* const to = reinterpret_cast<hn::TFromD<decltype(ds)>*>(sums + At<Sum>(i));
      hn::StoreU(LoadWidened<T>(d, ds, elements + At<T>(i)), ds, to);
    });
  }
  ForRun<T>(done, stride, n, [&](int64_t i, int64_t at) HWY_ATTR {
    StoreElement(MeanOf<T>::Widen(LoadElement<T>(elements + at)), sums + At<Sum>(i));
  });
}

template <class T>
HWY_NOINLINE void AddToSums(unsigned char* HWY_RESTRICT sums,
                            const unsigned char* HWY_RESTRICT updates, int64_t stride, int64_t n) {
  using Sum = SumOf<T>;
  int64_t done = 0;
  if (stride == 1) {
    done = ForVectors<T, Sum>(0, n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
      auto* const sum = reinterpret_cast<hn::TFromD<decltype(ds)>*>(sums + At<Sum>(i));
      const auto update = LoadWidened<T>(d, ds, updates + At<T>(i));
      hn::StoreU(hn::Add(hn::LoadU(ds, sum), update), ds, sum);
    });
  }
  ForRun<T>(done, stride, n, [&](int64_t i, int64_t at) HWY_ATTR {
    unsigned char* const sum = sums + At<Sum>(i);
    StoreElement(MeanOf<T>::Add(LoadElement<Sum>(sum), LoadElement<T>(updates + at)), sum);
  });
}

// Sums may lie where the output does.
template <class T>
HWY_NOINLINE void FinishSums(const FinishArguments& all) {
  using Sum = SumOf<T>;
  const FinishArguments to = all;
  int64_t done = 0;
  if constexpr (SumLanes<T, Sum>::kExist) {
    using ByTerms =
        Divisor<T,
                hn::Rebind<typename SumLanes<T, Sum>::Part, typename SumLanes<T, Sum>::Elements>>;
    if (to.output_stride == 1 && to.sums_stride == 1 && to.count <= ByTerms::MostTerms()) {
      const ByTerms divisor(to.count);
      done = ForVectors<T, Sum>(0, to.n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
        divisor.Store(d, ds, LoadLanes<Sum>(ds, to.sums + At<Sum>(i)), to.output + At<T>(i));
      });
    }
  }
  for (int64_t i = done; i < to.n; ++i) {
    const Sum sum = LoadElement<Sum>(to.sums + At<Sum>(i * to.sums_stride));
    StoreElement(MeanOf<T>::Divide(sum, to.count), to.output + At<T>(i * to.output_stride));
  }
}

// Wide sums have no vectors, and are compiled once.
template <class T>
constexpr SumKernels SumKernelsOf() {
  if constexpr (std::is_same_v<SumOf<T>, WideSum>) {
    return WideSums<T>::Kernels();
  } else {
    return {sizeof(SumOf<T>), BeginSums<T>, AddToSums<T>, FinishSums<T>};
  }
}

// ---- Sums of a group ----

// Runs, in vectors. Returns how many elements are done.
template <class T>
HWY_INLINE int64_t GroupVectors(const GroupArguments& group) {
  using Sum = ShortSumOf<T>;
  int64_t i = 0;
  if constexpr (SumLanes<T, Sum>::kExist) {
    using Elements = typename SumLanes<T, Sum>::Elements;
    using Sums = hn::Rebind<typename SumLanes<T, Sum>::Part, Elements>;
    const int64_t terms = group.count + (group.excludes_self ? 0 : 1);
    if (group.output_stride != 1 || group.updates_stride != 1) return 0;
    if (terms > Divisor<T, Sums>::MostTerms()) return 0;
    const Divisor<T, Sums> divisor(terms);
    const Elements d;
    const Sums ds;
    const int64_t step = static_cast<int64_t>(hn::Lanes(d) / SumLanes<T, Sum>::kPerElement);
    const int64_t* const begin = group.order + (group.excludes_self ? 1 : 0);
    const int64_t* const end = group.order + group.count;
    const auto first = [&](int64_t at) HWY_ATTR {
      return group.excludes_self ? group.updates + At<T>(group.order[0] + at)
                                 : group.output + At<T>(at);
    };
    // Four vectors of sums: what is added to one waits for its last sum. Older CPUs do without, which
    // keeps 60 KB out of the library.
    constexpr bool kUnrolls = !HWY_ARCH_X86 || HWY_TARGET <= HWY_AVX2;
    for (; kUnrolls && i + 4 * step <= group.n; i += 4 * step) {
      const unsigned char* from = first(i);
      auto sum0 = LoadWidened<T>(d, ds, from);
      auto sum1 = LoadWidened<T>(d, ds, from + At<T>(step));
      auto sum2 = LoadWidened<T>(d, ds, from + At<T>(2 * step));
      auto sum3 = LoadWidened<T>(d, ds, from + At<T>(3 * step));
      for (const int64_t* update = begin; update < end; ++update) {
        from = group.updates + At<T>(*update + i);
        sum0 = hn::Add(sum0, LoadWidened<T>(d, ds, from));
        sum1 = hn::Add(sum1, LoadWidened<T>(d, ds, from + At<T>(step)));
        sum2 = hn::Add(sum2, LoadWidened<T>(d, ds, from + At<T>(2 * step)));
        sum3 = hn::Add(sum3, LoadWidened<T>(d, ds, from + At<T>(3 * step)));
      }
      unsigned char* const output = group.output + At<T>(i);
      divisor.Store(d, ds, sum0, output);
      divisor.Store(d, ds, sum1, output + At<T>(step));
      divisor.Store(d, ds, sum2, output + At<T>(2 * step));
      divisor.Store(d, ds, sum3, output + At<T>(3 * step));
    }
    for (; i + step <= group.n; i += step) {
      auto sum = LoadWidened<T>(d, ds, first(i));
      for (const int64_t* update = begin; update < end; ++update) {
        sum = hn::Add(sum, LoadWidened<T>(d, ds, group.updates + At<T>(*update + i)));
      }
      divisor.Store(d, ds, sum, group.output + At<T>(i));
    }
  }
  return i;
}

template <class T>
void Group(const GroupArguments& all) {
  constexpr SumKernels kKernels = SumKernelsOf<T>();
  constexpr int64_t kSums = 128;
  const GroupArguments group = all;
  unsigned char sums[kSums * sizeof(SumOf<T>)];
  const int64_t terms = group.count + (group.excludes_self ? 0 : 1);
  for (int64_t i = GroupVectors<T>(group); i < group.n; i += kSums) {
    const int64_t n = HWY_MIN(kSums, group.n - i);
    unsigned char* const output = group.output + At<T>(i * group.output_stride);
    const int64_t column = i * group.updates_stride;
    int64_t k = 0;
    if (group.excludes_self) {
      const unsigned char* const update = group.updates + At<T>(group.order[k++] + column);
      kKernels.begin(sums, update, group.updates_stride, n);
    } else {
      kKernels.begin(sums, output, group.output_stride, n);
    }
    for (; k < group.count; ++k) {
      const unsigned char* const update = group.updates + At<T>(group.order[k] + column);
      kKernels.add(sums, update, group.updates_stride, n);
    }
    kKernels.finish({output, group.output_stride, sums, 1, n, terms});
  }
}

// One old value and one update.
template <class T>
void MeanOfPairs(unsigned char* output, int64_t output_stride, const unsigned char* updates,
                 int64_t updates_stride, int64_t n) {
  const int64_t first = 0;
  Group<T>({output, output_stride, updates, updates_stride, &first, 1, n, false});
}

// ---- Single elements with a count for each ----

template <class T>
void AddEach(const CountedSums& to, const PlacedUpdates& all) {
  constexpr int32_t kDropped = std::numeric_limits<int32_t>::min();
  const int32_t* HWY_RESTRICT places = all.places;
  const unsigned char* HWY_RESTRICT updates = all.updates;
  unsigned char* HWY_RESTRICT sums = to.sums;
  uint32_t* HWY_RESTRICT counts = to.counts;
  const int64_t n = all.n;
  const int64_t step = At<T>(all.updates_stride);
  for (int64_t i = 0; i < n; ++i) {
    const int32_t place = places[i];
    if (place == kDropped) continue;
    unsigned char* const sum = sums + At<SumOf<T>>(place);
    const T update = LoadElement<T>(updates + i * step);
    StoreElement(MeanOf<T>::Add(LoadElement<SumOf<T>>(sum), update), sum);
    ++counts[place];
  }
}

// Without a branch on the count, which no CPU could foresee (el.last of float32 73 ms, so 23), but
// where a division is long.
template <class T>
HWY_INLINE T CountedMean(SumOf<T> sum, uint32_t count, int64_t more, T old) {
  if constexpr (std::is_same_v<SumOf<T>, WideSum>) {
    return count == 0 ? old : MeanOf<T>::Divide(sum, int64_t{count} + more);
  } else {
    const T mean = MeanOf<T>::Divide(sum, count == 0 ? 1 : int64_t{count} + more);
    return count == 0 ? old : mean;
  }
}

template <class T>
constexpr bool kHasIntegerSums = std::is_integral_v<SumOf<T>>;

// Float32 from float32, or float64 from int64.
template <class DQuotient, class V, class VTerms>
HWY_INLINE hn::Vec<DQuotient> Quotients(DQuotient dq, V sums, VTerms terms) {
  if constexpr (std::is_same_v<V, hn::Vec<DQuotient>>) {
    return hn::Div(sums, hn::ConvertTo(dq, terms));
  } else {
    return hn::Div(hn::ConvertTo(dq, sums), hn::PromoteTo(dq, terms));
  }
}

// Those that lie together, of float32, short floats and integers of up to 32 bits. Returns how many
// are done.
template <class T>
HWY_INLINE int64_t FinishVectors(const CountedSums& from, int64_t more, unsigned char* output,
                                 int64_t n) {
  using Sum = SumOf<T>;
  if constexpr (std::is_same_v<Sum, float> || kHasIntegerSums<T>) {
    return ForVectors<T, Sum>(0, n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
      const hn::Rebind<QuotientPart<Sum>, decltype(ds)> dq;
      const hn::Rebind<int32_t, decltype(ds)> d32;
      const hn::RebindToSigned<decltype(d)> di;
      const auto counts = hn::LoadU(d32, reinterpret_cast<const int32_t*>(from.counts + i));
      // At least 1: NaN, as 0 / 0, is no integer.
      const auto terms =
          hn::Max(hn::Add(counts, hn::Set(d32, static_cast<int32_t>(more))), hn::Set(d32, 1));
      const auto sums = LoadLanes<Sum>(ds, from.sums + At<Sum>(i));
      const auto means = FromQuotients<T>(d, dq, Quotients(dq, sums, terms));
      const auto touched = hn::VecFromMask(d32, hn::Gt(counts, hn::Zero(d32)));
      auto* const to = reinterpret_cast<hn::TFromD<decltype(d)>*>(output + At<T>(i));
      const auto old = hn::LoadU(d, to);
      if constexpr (sizeof(T) == 4) {
        hn::StoreU(hn::IfVecThenElse(hn::BitCast(d, touched), means, old), d, to);
      } else {
        hn::StoreU(hn::IfVecThenElse(hn::BitCast(d, hn::DemoteTo(di, touched)), means, old), d, to);
      }
    });
  }
  return 0;
}

// Whether float64 holds all sums of integers exactly; then their quotients are exact enough.
template <class T>
HWY_INLINE bool SumsAreShort(const CountedSums& from, int64_t n) {
  if constexpr (kHasIntegerSums<T> && sizeof(T) == 4) {
    uint32_t most = 0;
    for (int64_t i = 0; i < n; ++i) most = HWY_MAX(most, from.counts[i]);
    return most < 1 << (53 - 32);
  } else {
    return true;
  }
}

template <class T>
void FinishEach(const CountedSums& all, int64_t more, unsigned char* output, int64_t stride,
                int64_t n) {
  const CountedSums from = all;
  int64_t done = 0;
  if (stride == 1 && SumsAreShort<T>(from, n)) done = FinishVectors<T>(from, more, output, n);
  ForRun<T>(done, stride, n, [&](int64_t i, int64_t at) HWY_ATTR {
    const SumOf<T> sum = LoadElement<SumOf<T>>(from.sums + At<SumOf<T>>(i));
    const T old = LoadElement<T>(output + at);
    StoreElement(CountedMean<T>(sum, from.counts[i], more, old), output + at);
  });
}

// ---- All ----

template <class T>
constexpr AccumulateKernels AccumulateKernelsOf() {
  if constexpr (std::is_same_v<T, Logical>) {
    return {};
  } else {
    AccumulateKernels kernels = {};
    kernels.sums_are_elements = std::is_same_v<SumOf<T>, T>;
    kernels.sums = SumKernelsOf<T>();
    kernels.long_sums = kernels.sums;
    if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
      kernels.long_sums = WideSums<T>::Kernels();
    }
    kernels.run = MeanOfPairs<T>;
    kernels.group = Group<T>;
    kernels.add_each = AddEach<T>;
    kernels.finish_each = FinishEach<T>;
    return kernels;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
