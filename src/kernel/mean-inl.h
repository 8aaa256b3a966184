// SPDX-License-Identifier: Apache-2.0
// Means: sums of a dtype in accumulators, which are exact for integers and of the computing type for
// floats, and their division.
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
#include "kernel/wide_sum.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// ---- One element: Sum, Widen(element), Add(sum, element), Divide(sum, count) ----

// Integers. 2^47 of those of 16 bits fit 64.
template <class T>
struct MeanOf {
  using Sum = std::conditional_t<(sizeof(T) <= 2), int64_t, WideSum>;
  static HWY_INLINE Sum Widen(T element) { return Sum(element); }
  static HWY_INLINE Sum Add(Sum sum, T element) { return sum + Sum(element); }
  static HWY_INLINE T Divide(Sum sum, int64_t count) {
    return static_cast<T>(FloorDivide(sum, count));
  }
};

template <class T>
struct MeanOfFloat {
  using Sum = T;
  static HWY_INLINE Sum Widen(T element) { return element; }
  static HWY_INLINE Sum Add(Sum sum, T element) { return sum + element; }
  static HWY_INLINE T Divide(Sum sum, int64_t count) { return sum / static_cast<T>(count); }
};
template <>
struct MeanOf<float> : MeanOfFloat<float> {};
template <>
struct MeanOf<double> : MeanOfFloat<double> {};

template <class Part>
struct MeanOf<Complex<Part>> {
  using Sum = Complex<Part>;
  static HWY_INLINE Sum Widen(Sum element) { return element; }
  static HWY_INLINE Sum Add(Sum sum, Sum element) {
    return {sum.real + element.real, sum.imaginary + element.imaginary};
  }
  static HWY_INLINE Sum Divide(Sum sum, int64_t count) {
    const Part terms = static_cast<Part>(count);
    return {sum.real / terms, sum.imaginary / terms};
  }
};

template <int kExponent, int kFraction, bool kHasInfinity>
struct MeanOf<ShortFloat<kExponent, kFraction, kHasInfinity>> {
  using T = ShortFloat<kExponent, kFraction, kHasInfinity>;
  using Sum = float;
  using One = hn::CappedTag<typename T::Lane, 1>;
  static HWY_INLINE Sum Widen(T element) {
    const One d;
    return hn::GetLane(HWY_NAMESPACE::Widen(T(), d, hn::Set(d, element.bits)));
  }
  static HWY_INLINE Sum Add(Sum sum, T element) { return sum + Widen(element); }
  static HWY_INLINE T Divide(Sum sum, int64_t count) {
    const One d;
    const WideFloat<One> df;
    return T{hn::GetLane(Narrow(T(), d, hn::Set(df, sum / static_cast<float>(count))))};
  }
};

// ---- Runs ----

template <class T>
using SumOf = typename MeanOf<T>::Sum;

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

// Whether sums are floats, or pairs of them: then there are vectors of sums. And how their lanes
// lie: those of elements are as many, and may be shorter.
template <class T>
constexpr bool kHasVectorSums = !std::is_integral_v<T>;
template <class T>
struct SumLanes {
  using Part = T;
};
template <class Real>
struct SumLanes<Complex<Real>> {
  using Part = Real;
};
template <int kExponent, int kFraction, bool kHasInfinity>
struct SumLanes<ShortFloat<kExponent, kFraction, kHasInfinity>> {
  using Part = float;
};

template <class T, class D, class DSum>
HWY_INLINE hn::Vec<DSum> LoadWidened(D d, DSum, const unsigned char* elements) {
  const auto lanes = hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(elements));
  if constexpr (kIsShortFloat<T>) {
    return Widen(T(), d, lanes);
  } else {
    return lanes;
  }
}

template <class T, class D, class V>
HWY_INLINE void StoreNarrowed(D d, V means, unsigned char* elements) {
  auto* const to = reinterpret_cast<hn::TFromD<D>*>(elements);
  if constexpr (kIsShortFloat<T>) {
    hn::StoreU(Narrow(T(), d, means), d, to);
  } else {
    hn::StoreU(means, d, to);
  }
}

// Calls body(d, ds, first lane) for vectors of elements and of their sums. Returns how many elements
// are done.
template <class T, class Body>
HWY_INLINE int64_t ForVectors(int64_t n, const Body& body) {
  if constexpr (kHasVectorSums<T> && hn::MaxLanes(typename Lanes<T>::Tag()) >= 2) {
    using Part = typename SumLanes<T>::Part;
    const typename Lanes<T>::Tag d;
    const hn::Rebind<Part, decltype(d)> ds;
    const int64_t step = static_cast<int64_t>(hn::Lanes(d) / Lanes<T>::kPerElement);
    int64_t i = 0;
    for (; i + step <= n; i += step) body(d, ds, i);
    return i;
  } else {
    return 0;
  }
}

// Whether integers are so short that their sums, and quotients of less than 2^31 of them, are exact
// enough in float64: a quotient is at least 2^-31 from the next integer above it, or is one.
template <class T>
constexpr bool kDividesAsFloat = std::is_integral_v<T> && sizeof(T) <= 2;

// The floors of quotients of short integers. Divisions of integers took 7 x the time.
template <class T, class DWide, class V>
HWY_INLINE hn::Vec<hn::Rebind<T, DWide>> FloorQuotients(DWide d, const unsigned char* sums,
                                                        V terms) {
  const hn::Rebind<int64_t, DWide> d64;
  const hn::Rebind<int32_t, DWide> d32;
  const auto sum = hn::LoadU(d64, reinterpret_cast<const int64_t*>(sums));
  const auto quotients = hn::Floor(hn::Div(hn::ConvertTo(d, sum), terms));
  return hn::DemoteTo(hn::Rebind<T, DWide>(), hn::DemoteTo(d32, quotients));
}

template <class T>
HWY_INLINE auto* SumAt(unsigned char* sums, int64_t i) {
  return reinterpret_cast<typename SumLanes<T>::Part*>(sums + At<SumOf<T>>(i));
}

template <class T>
HWY_NOINLINE void BeginSums(unsigned char* HWY_RESTRICT sums,
                            const unsigned char* HWY_RESTRICT elements, int64_t stride, int64_t n) {
  if (stride == 0) {
    const SumOf<T> sum = MeanOf<T>::Widen(LoadElement<T>(elements));
    for (int64_t i = 0; i < n; ++i) StoreElement(sum, sums + At<SumOf<T>>(i));
    return;
  }
  int64_t done = 0;
  if (stride == 1) {
    done = ForVectors<T>(n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
      hn::StoreU(LoadWidened<T>(d, ds, elements + At<T>(i)), ds, SumAt<T>(sums, i));
    });
  }
  ForRun<T>(done, stride, n, [&](int64_t i, int64_t at) HWY_ATTR {
    StoreElement(MeanOf<T>::Widen(LoadElement<T>(elements + at)), sums + At<SumOf<T>>(i));
  });
}

template <class T>
HWY_NOINLINE void AddToSums(unsigned char* HWY_RESTRICT sums,
                            const unsigned char* HWY_RESTRICT updates, int64_t stride, int64_t n) {
  int64_t done = 0;
  if (stride == 1) {
    done = ForVectors<T>(n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
      auto* const sum = SumAt<T>(sums, i);
      const auto update = LoadWidened<T>(d, ds, updates + At<T>(i));
      hn::StoreU(hn::Add(hn::LoadU(ds, sum), update), ds, sum);
    });
  }
  ForRun<T>(done, stride, n, [&](int64_t i, int64_t at) HWY_ATTR {
    unsigned char* const sum = sums + At<SumOf<T>>(i);
    StoreElement(MeanOf<T>::Add(LoadElement<SumOf<T>>(sum), LoadElement<T>(updates + at)), sum);
  });
}

// Sums may lie where the output does.
template <class T>
HWY_NOINLINE void FinishSums(const FinishArguments& all) {
  const FinishArguments to = all;
  int64_t done = 0;
  if constexpr (kHasVectorSums<T>) {
    using Part = typename SumLanes<T>::Part;
    const Part terms = static_cast<Part>(to.count);
    // A product with half of a number is as exact as its division by 2, and takes an eighth of it.
    const bool is_power_of_two = (to.count & (to.count - 1)) == 0;
    const Part factor = 1 / terms;
    if (to.output_stride == 1 && to.sums_stride == 1) {
      done = ForVectors<T>(to.n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
        const auto* const from = reinterpret_cast<const Part*>(to.sums + At<SumOf<T>>(i));
        const auto sum = hn::LoadU(ds, from);
        const auto mean =
            is_power_of_two ? hn::Mul(sum, hn::Set(ds, factor)) : hn::Div(sum, hn::Set(ds, terms));
        StoreNarrowed<T>(d, mean, to.output + At<T>(i));
      });
    }
  }
  if constexpr (kDividesAsFloat<T>) {
    const hn::ScalableTag<double> d;
    const int64_t step = static_cast<int64_t>(hn::Lanes(d));
    const bool is_short = to.count <= std::numeric_limits<int32_t>::max();
    if (is_short && to.output_stride == 1 && to.sums_stride == 1) {
      const auto terms = hn::Set(d, static_cast<double>(to.count));
      for (; done + step <= to.n; done += step) {
        const auto means = FloorQuotients<T>(d, to.sums + At<int64_t>(done), terms);
        hn::StoreU(means, hn::Rebind<T, decltype(d)>(),
                   reinterpret_cast<T*>(to.output + At<T>(done)));
      }
    }
  }
  for (int64_t i = done; i < to.n; ++i) {
    const SumOf<T> sum = LoadElement<SumOf<T>>(to.sums + At<SumOf<T>>(i * to.sums_stride));
    StoreElement(MeanOf<T>::Divide(sum, to.count), to.output + At<T>(i * to.output_stride));
  }
}

// ---- Single elements with a count for each ----

template <class T>
void AddEach(const CountedSums& to, const SheetArguments& row) {
  constexpr int32_t kDropped = std::numeric_limits<int32_t>::min();
  const int32_t* HWY_RESTRICT offsets = static_cast<const int32_t*>(row.offsets);
  const unsigned char* HWY_RESTRICT updates = row.updates;
  unsigned char* HWY_RESTRICT sums = to.sums;
  uint32_t* HWY_RESTRICT counts = to.counts;
  const int64_t columns = row.columns;
  const int64_t step = At<T>(row.updates_column_stride);
  for (int64_t c = 0; c < columns; ++c) {
    const int32_t offset = offsets[c];
    if (offset == kDropped) continue;
    unsigned char* const sum = sums + At<SumOf<T>>(offset);
    const T update = LoadElement<T>(updates + c * step);
    StoreElement(MeanOf<T>::Add(LoadElement<SumOf<T>>(sum), update), sum);
    ++counts[offset];
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

// Of short integers that lie together; counts are less than 2^31. Returns how many are done.
template <class T>
HWY_INLINE int64_t FinishShort(const CountedSums& from, int64_t more, unsigned char* output,
                               int64_t n) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<int32_t, decltype(d)> d32;
  const hn::Rebind<T, decltype(d)> dt;
  const hn::RebindToSigned<decltype(dt)> ds;
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    const auto counts = hn::LoadU(d32, reinterpret_cast<const int32_t*>(from.counts + i));
    // At least 1: NaN, as 0 / 0, is no integer.
    const auto added = hn::Add(counts, hn::Set(d32, static_cast<int32_t>(more)));
    const auto terms = hn::PromoteTo(d, hn::Max(added, hn::Set(d32, 1)));
    const auto means = FloorQuotients<T>(d, from.sums + At<int64_t>(i), terms);
    const auto touched = hn::VecFromMask(d32, hn::Gt(counts, hn::Zero(d32)));
    const auto chosen = hn::BitCast(dt, hn::DemoteTo(ds, touched));
    T* const to = reinterpret_cast<T*>(output + At<T>(i));
    const auto old = hn::LoadU(dt, to);
    hn::StoreU(hn::Or(hn::And(chosen, means), hn::AndNot(chosen, old)), dt, to);
  }
  return i;
}

// The same of float32 and of short floats.
template <class T>
HWY_INLINE int64_t FinishVectors(const CountedSums& from, int64_t more, unsigned char* output,
                                 int64_t stride, int64_t n) {
  int64_t i = 0;
  if constexpr (kDividesAsFloat<T>) {
    if (stride == 1) return FinishShort<T>(from, more, output, n);
  }
  if constexpr (std::is_same_v<SumOf<T>, float>) {
    const typename Lanes<T>::Tag d;
    const hn::Rebind<float, decltype(d)> df;
    const hn::Rebind<int32_t, decltype(d)> di;
    const hn::Rebind<uint32_t, decltype(d)> du;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    if (stride != 1) return 0;
    for (; i + lanes <= n; i += lanes) {
      const auto counts = hn::LoadU(di, reinterpret_cast<const int32_t*>(from.counts + i));
      const auto terms =
          hn::ConvertTo(df, hn::Add(counts, hn::Set(di, static_cast<int32_t>(more))));
      const auto sums = hn::LoadU(df, reinterpret_cast<const float*>(from.sums + At<float>(i)));
      const auto means = hn::Div(sums, terms);
      const auto touched = hn::Gt(counts, hn::Zero(di));
      auto* const to = reinterpret_cast<typename Lanes<T>::Lane*>(output + At<T>(i));
      const auto old = hn::LoadU(d, to);
      if constexpr (kIsShortFloat<T>) {
        const auto bits = hn::BitCast(du, hn::VecFromMask(di, touched));
        const auto chosen = hn::TruncateTo(d, bits);
        const auto rounded = Narrow(T(), d, means);
        hn::StoreU(hn::Or(hn::And(chosen, rounded), hn::AndNot(chosen, old)), d, to);
      } else {
        hn::StoreU(hn::IfThenElse(hn::RebindMask(d, touched), means, old), d, to);
      }
    }
  }
  return i;
}

template <class T>
void FinishEach(const CountedSums& all, int64_t more, unsigned char* output, int64_t stride,
                int64_t n) {
  const CountedSums from = all;
  const int64_t done = FinishVectors<T>(from, more, output, stride, n);
  ForRun<T>(done, stride, n, [&](int64_t i, int64_t at) HWY_ATTR {
    const SumOf<T> sum = LoadElement<SumOf<T>>(from.sums + At<SumOf<T>>(i));
    const T old = LoadElement<T>(output + at);
    StoreElement(CountedMean<T>(sum, from.counts[i], more, old), output + at);
  });
}

// ---- One old value and one update ----

template <class T>
void MeanOfPairs(unsigned char* output, int64_t output_stride, const unsigned char* updates,
                 int64_t updates_stride, int64_t n) {
  constexpr int64_t kSums = 128;
  unsigned char sums[kSums * sizeof(SumOf<T>)];
  for (int64_t i = 0; i < n; i += kSums) {
    unsigned char* const elements = output + At<T>(i * output_stride);
    const int64_t count = HWY_MIN(kSums, n - i);
    BeginSums<T>(sums, elements, output_stride, count);
    AddToSums<T>(sums, updates + At<T>(i * updates_stride), updates_stride, count);
    FinishSums<T>({elements, output_stride, sums, 1, count, 2});
  }
}

template <class T>
constexpr MeanKernels MeanKernelsOf() {
  if constexpr (std::is_same_v<T, Logical>) {
    return {};
  } else {
    MeanKernels kernels = {};
    kernels.sum_size = sizeof(SumOf<T>);
    kernels.sums_are_elements = std::is_same_v<SumOf<T>, T>;
    kernels.begin = BeginSums<T>;
    kernels.add = AddToSums<T>;
    kernels.finish = FinishSums<T>;
    kernels.add_each = AddEach<T>;
    kernels.finish_each = FinishEach<T>;
    kernels.pairs.element_size = sizeof(T);
    kernels.pairs.heavy = true;
    kernels.pairs.run = MeanOfPairs<T>;
    return kernels;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
