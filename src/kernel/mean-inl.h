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

// Vectors of short floats that lie together: combine(sums, widened). Returns how many are done.
template <class T, class Combine>
HWY_INLINE int64_t WidenVectors(unsigned char* sums, const unsigned char* elements, int64_t stride,
                                int64_t n, const Combine& combine) {
  int64_t i = 0;
  if constexpr (kIsShortFloat<T>) {
    const typename Lanes<T>::Tag d;
    const WideFloat<typename Lanes<T>::Tag> df;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    if (stride != 1) return 0;
    for (; i + lanes <= n; i += lanes) {
      float* const sum = reinterpret_cast<float*>(sums + At<float>(i));
      const auto* const from =
          reinterpret_cast<const typename Lanes<T>::Lane*>(elements + At<T>(i));
      hn::StoreU(combine(df, sum, Widen(T(), d, hn::LoadU(d, from))), df, sum);
    }
  }
  return i;
}

template <class T>
HWY_NOINLINE void BeginSums(unsigned char* sums, const unsigned char* elements, int64_t stride,
                            int64_t n) {
  if (stride == 0) {
    const SumOf<T> sum = MeanOf<T>::Widen(LoadElement<T>(elements));
    for (int64_t i = 0; i < n; ++i) StoreElement(sum, sums + At<SumOf<T>>(i));
    return;
  }
  const auto take = [](auto, const float*, auto widened) HWY_ATTR { return widened; };
  const int64_t done = WidenVectors<T>(sums, elements, stride, n, take);
  ForRun<T>(done, stride, n, [&](int64_t i, int64_t at) HWY_ATTR {
    StoreElement(MeanOf<T>::Widen(LoadElement<T>(elements + at)), sums + At<SumOf<T>>(i));
  });
}

template <class T>
HWY_NOINLINE void AddToSums(unsigned char* sums, const unsigned char* updates, int64_t stride,
                            int64_t n) {
  const auto add = [](auto df, const float* sum, auto widened)
                       HWY_ATTR { return hn::Add(hn::LoadU(df, sum), widened); };
  const int64_t done = WidenVectors<T>(sums, updates, stride, n, add);
  ForRun<T>(done, stride, n, [&](int64_t i, int64_t at) HWY_ATTR {
    unsigned char* const sum = sums + At<SumOf<T>>(i);
    StoreElement(MeanOf<T>::Add(LoadElement<SumOf<T>>(sum), LoadElement<T>(updates + at)), sum);
  });
}

template <class T>
HWY_NOINLINE void FinishSums(const FinishArguments& all) {
  const FinishArguments to = all;
  const auto finish = [&](int64_t output, int64_t sum) HWY_ATTR {
    const SumOf<T> total = LoadElement<SumOf<T>>(to.sums + At<SumOf<T>>(sum));
    StoreElement(MeanOf<T>::Divide(total, to.count), to.output + At<T>(output));
  };
  if (to.output_stride == 1 && to.sums_stride == 1) {
    for (int64_t i = 0; i < to.n; ++i) finish(i, i);
  } else {
    for (int64_t i = 0; i < to.n; ++i) finish(i * to.output_stride, i * to.sums_stride);
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

// Of float32 and of short floats that lie together; counts are less than 2^31. Returns how many are
// done.
template <class T>
HWY_INLINE int64_t FinishVectors(const CountedSums& from, int64_t more, unsigned char* output,
                                 int64_t stride, int64_t n) {
  int64_t i = 0;
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
