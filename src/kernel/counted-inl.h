// SPDX-License-Identifier: Apache-2.0
// Slots of single elements, each with a sum and, if anyone needs it, the number of its updates:
// updates that are added to the slots that they name, and the division of sums.
#if defined(STREW_KERNEL_COUNTED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_COUNTED_INL_H_
#undef STREW_KERNEL_COUNTED_INL_H_
#else
#define STREW_KERNEL_COUNTED_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <type_traits>

#include "base/compiler.h"
#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/ops-inl.h"
#include "kernel/slot-inl.h"
#include "kernel/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// ---- The formats of a slot ----

template <class T>
constexpr bool kHasIntegerSums = std::is_integral_v<SumOf<T>>;

// Sums and counts are arrays of their own.
template <class T>
struct CountedSlots {
  using Sum = SumOf<T>;

  struct Slot {
    Sum sum;
    uint32_t count;
  };
  static HWY_INLINE Slot Load(const CountedSums& from, int64_t i) {
    return {LoadElement<Sum>(from.sums + At<Sum>(i)), from.counts[i]};
  }
  static HWY_INLINE void Store(const Slot& slot, const CountedSums& to, int64_t i) {
    StoreElement(slot.sum, to.sums + At<Sum>(i));
    to.counts[i] = slot.count;
  }
  static HWY_INLINE Slot Join(Sum sum, uint32_t count) { return {sum, count}; }
  // Adds an update in memory. Stored before the count is loaded, sums need no register.
  template <template <class> class Op>
  static HWY_INLINE void AddTo(unsigned char* HWY_RESTRICT sums, uint32_t* HWY_RESTRICT counts,
                               int64_t i, T update) {
    unsigned char* const sum = sums + At<Sum>(i);
    StoreElement(Accumulate<T, Op>(LoadElement<Sum>(sum), update), sum);
    ++counts[i];
  }
  static HWY_INLINE Sum SumIn(const Slot& slot) { return slot.sum; }
  static HWY_INLINE uint32_t CountIn(const Slot& slot) { return slot.count; }
};

// A slot is one word.
template <class WordType>
struct WordSlots {
  struct Slot {
    WordType word;
  };
  static HWY_INLINE Slot Load(const CountedSums& from, int64_t i) {
    return {LoadElement<WordType>(from.sums + At<WordType>(i))};
  }
  static HWY_INLINE void Store(const Slot& slot, const CountedSums& to, int64_t i) {
    StoreElement(slot.word, to.sums + At<WordType>(i));
  }
};

// A sum and a count share a word of 64 bits, so that an update has one store. Counts never grow
// into sums, because a slot has at most kMostUpdates. Means of 600,000 int8 and int16 with as many
// updates took 0.62 to 0.65 x the time, of 100,000 with 1 M 0.9 x, of 16 with 1 M 1.03 x (Zen 4).
template <class T>
struct PackedSlots : WordSlots<uint64_t> {
  using Sum = SumOf<T>;
  using Word = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  static constexpr int kCountBits = 24;
  static constexpr int64_t kMostUpdates = (int64_t{1} << kCountBits) - 1;

  static HWY_INLINE Slot Join(Sum sum, uint32_t count) {
    return {static_cast<uint64_t>(AboveCount<kCountBits>(sum)) + count};
  }
  template <template <class> class Op>
  static HWY_INLINE void AddTo(unsigned char* sums, uint32_t*, int64_t i, T update) {
    unsigned char* const word = sums + At<uint64_t>(i);
    StoreElement(LoadElement<uint64_t>(word) + Join(SumTraits<T>::Widen(update), 1).word, word);
  }
  static HWY_INLINE Sum SumIn(const Slot& slot) {
    return static_cast<Sum>(static_cast<Word>(slot.word) >> kCountBits);
  }
  static HWY_INLINE uint32_t CountIn(const Slot& slot) {
    return static_cast<uint32_t>(slot.word & static_cast<uint64_t>(kMostUpdates));
  }
};

// Sums alone, for short floats. Without updates they are rounded to what they began with, unless
// that is NaN.
template <class T>
struct BareSlots : WordSlots<SumOf<T>> {
  using Sum = SumOf<T>;
  using typename WordSlots<Sum>::Slot;

  static HWY_INLINE Slot Join(Sum sum, uint32_t) { return {sum}; }
  template <template <class> class Op>
  static HWY_INLINE void AddTo(unsigned char* sums, uint32_t*, int64_t i, T update) {
    unsigned char* const sum = sums + At<Sum>(i);
    StoreElement(Accumulate<T, Op>(LoadElement<Sum>(sum), update), sum);
  }
  static HWY_INLINE Sum SumIn(const Slot& slot) { return slot.word; }
  static HWY_INLINE uint32_t CountIn(const Slot&) { return 0; }
};

// ---- Updates ----

template <class T, template <class> class Op, class Format>
void AddEach(const CountedSums& to, const SlotUpdates& all) {
  unsigned char* HWY_RESTRICT sums = to.sums;
  uint32_t* HWY_RESTRICT counts = to.counts;
  const int32_t* HWY_RESTRICT slots = all.slots;
  const unsigned char* HWY_RESTRICT updates = all.updates;
  const int64_t n = all.n;
  const int64_t step = At<T>(all.updates_stride);
  // Without this loop for older CPUs, the library is 12 KB smaller.
  if (!STREW_OF_OLD_CPUS && all.are_of_one) {
    const auto slot = Format::Load(to, slots[0]);
    SumOf<T> sum = Format::SumIn(slot);
    for (int64_t i = 0; i < n; ++i) {
      sum = Accumulate<T, Op>(sum, LoadElement<T>(updates + i * step));
    }
    const uint32_t count = Format::CountIn(slot) + static_cast<uint32_t>(n);
    return Format::Store(Format::Join(sum, count), to, slots[0]);
  }
  for (int64_t i = 0; i < n; ++i) {
    const int32_t slot = slots[i];
    if (slot == kDropped<int32_t>) continue;
    Format::template AddTo<Op>(sums, counts, slot, LoadElement<T>(updates + i * step));
  }
}

// ---- Quotients ----

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

// Loads a count for each 32-bit lane. The two parts of a complex number have the same one.
template <size_t kPerElement, class D>
HWY_INLINE hn::Vec<D> LoadCounts(D d, const uint32_t* counts) {
  if constexpr (kPerElement == 2) {
    const hn::Repartition<uint64_t, D> d64;
    const auto each = hn::PromoteTo(d64, hn::LoadU(hn::Rebind<uint32_t, decltype(d64)>(), counts));
    return hn::BitCast(d, hn::Or(each, hn::ShiftLeft<32>(each)));
  } else {
    return hn::LoadU(d, reinterpret_cast<const int32_t*>(counts));
  }
}

// Finishes contiguous elements of any dtype but integers of 64 bits and, to keep the library small,
// complex numbers on older CPUs. Returns the number of elements that are done. If a third of all
// float64 had updates, each took 1.4 ns, one by one 3.2, because compilers turn the choice between
// mean and old value into a branch (Zen 4).
template <class T, bool kDivides>
HWY_INLINE int64_t FinishVectors(const CountedSums& from, int64_t more, unsigned char* output,
                                 int64_t n) {
  using Sum = SumOf<T>;
  if constexpr (STREW_OF_OLD_CPUS && std::is_same_v<T, Sum> && !std::is_floating_point_v<T>) {
    return 0;
  } else {
    return ForVectors<T, Sum>(0, n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
      const hn::Rebind<QuotientPart<hn::TFromD<decltype(ds)>>, decltype(ds)> dq;
      const hn::Rebind<int32_t, decltype(ds)> d32;
      const auto counts = LoadCounts<SumLanes<T, Sum>::kPerElement>(d32, from.counts + i);
      const auto sums = LoadLanes<Sum>(ds, from.sums + At<Sum>(i));
      const auto results = FromQuotients<T>(d, dq, Quotients<kDivides>(dq, sums, counts, more));
      const auto touched = hn::VecFromMask(d32, hn::Gt(counts, hn::Zero(d32)));
      auto* const to = reinterpret_cast<hn::TFromD<decltype(d)>*>(output + At<T>(i));
      const auto chosen = hn::IfVecThenElse(ResizedMask(d, touched), results, hn::LoadU(d, to));
      hn::StoreU(chosen, d, to);
    });
  }
}

// True if no count has a bit beyond the lowest kBits.
template <int kBits>
HWY_INLINE bool AreShort(const uint32_t* counts, int64_t n) {
  const hn::ScalableTag<uint32_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto all = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) all = hn::Or(all, hn::LoadU(d, counts + i));
  uint32_t rest = 0;
  for (; i < n; ++i) rest |= counts[i];
  all = hn::Or(all, hn::Set(d, rest));
  return hn::AllTrue(d, hn::Eq(hn::ShiftRight<kBits>(all), hn::Zero(d)));
}

// True if float64 represents all sums of integers exactly; then their quotients are exact enough.
template <class T>
HWY_INLINE bool SumsAreShort(const CountedSums& from, int64_t n) {
  if constexpr (kHasIntegerSums<T> && sizeof(T) == 4) return AreShort<53 - 32>(from.counts, n);
  return true;
}

template <class T, class Format, bool kDivides>
HWY_INLINE void FinishSlots(const CountedSums& from, int64_t more, unsigned char* output,
                            int64_t first, int64_t end) {
  for (int64_t i = first; i < end; ++i) {
    const auto slot = Format::Load(from, i);
    const T old = LoadElement<T>(output + At<T>(i));
    const T result = Result<T, kDivides>(Format::SumIn(slot), Format::CountIn(slot), more, old);
    StoreElement(result, output + At<T>(i));
  }
}

template <class T, bool kDivides>
HWY_NOINLINE void FinishEach(const CountedSums& all, int64_t more, unsigned char* output,
                             int64_t n) {
  const CountedSums from = all;
  int64_t done = 0;
  if constexpr (std::is_same_v<SumOf<T>, WideSum>) {
    done = FinishWideVectors<T>(from, more, output, n);
  } else {
    if (SumsAreShort<T>(from, n)) done = FinishVectors<T, kDivides>(from, more, output, n);
  }
  FinishSlots<T, CountedSlots<T>, kDivides>(from, more, output, done, n);
}

// Vectors of words have halves of 32 bits: the lower one has the count and the lower 8 bits of the
// sum. Quotients are those of float32, which has twice as many lanes as float64, if it represents
// all sums of a vector exactly.
template <class T>
void FinishPacked(const CountedSums& all, int64_t more, unsigned char* output, int64_t n) {
  using Format = PackedSlots<T>;
  const CountedSums from = all;
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<float, decltype(d32)> df;
  const hn::Rebind<T, decltype(d32)> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d32));
  const auto finish_slots = [&](int64_t first, int64_t end) HWY_ATTR {
    FinishSlots<T, Format, /*kDivides=*/true>(from, more, output, first, end);
  };
  constexpr int32_t kMost = 1 << 15;  // of the upper halves: sums have 24 bits
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::Vec<decltype(d32)> lower, upper;
    hn::LoadInterleaved2(d32, reinterpret_cast<const int32_t*>(from.sums + At<uint64_t>(i)), lower,
                         upper);
    const auto shifted = hn::Add(upper, hn::Set(d32, kMost));
    const auto high = hn::And(shifted, hn::Set(d32, -2 * kMost));
    if (!hn::AllTrue(d32, hn::Eq(high, hn::Zero(d32)))) {
      finish_slots(i, i + lanes);
      continue;
    }
    const hn::RebindToUnsigned<decltype(d32)> du;
    const auto low_bits = hn::ShiftRight<Format::kCountBits>(hn::BitCast(du, lower));
    const auto sums =
        hn::Or(hn::ShiftLeft<32 - Format::kCountBits>(upper), hn::BitCast(d32, low_bits));
    const auto counts = hn::And(lower, hn::Set(d32, static_cast<int32_t>(Format::kMostUpdates)));
    // At least 1, because 0 / 0 would be NaN, which does not convert to an integer.
    const auto terms =
        hn::Max(hn::Add(counts, hn::Set(d32, static_cast<int32_t>(more))), hn::Set(d32, 1));
    const auto quotients = hn::Div(hn::ConvertTo(df, sums), hn::ConvertTo(df, terms));
    const auto results = FromQuotients<T>(d, df, quotients);
    const auto touched = hn::VecFromMask(d32, hn::Gt(counts, hn::Zero(d32)));
    T* const to = reinterpret_cast<T*>(output + At<T>(i));
    hn::StoreU(hn::IfVecThenElse(ResizedMask(d, touched), results, hn::LoadU(d, to)), d, to);
  }
  finish_slots(i, n);
}

// NaN stays as it is, updated or not. Old values are read only where a sum is NaN: wide sums of
// 40,000 bfloat16 and float16 with a tenth as many updates took 0.8 and 0.85 x the time (Zen 4).
template <class T>
void FinishBare(const CountedSums& all, int64_t, unsigned char* output, int64_t n) {
  using Sum = SumOf<T>;
  const unsigned char* const sums = all.sums;
  const int64_t done = ForVectors<T, Sum>(0, n, [&](auto d, auto ds, int64_t i) HWY_ATTR {
    const hn::RebindToSigned<decltype(ds)> d32;
    const auto wide = LoadLanes<Sum>(ds, sums + At<Sum>(i));
    auto results = FromQuotients<T>(d, ds, wide);
    auto* const to = reinterpret_cast<hn::TFromD<decltype(d)>*>(output + At<T>(i));
    if (HWY_UNLIKELY(!hn::AllFalse(ds, hn::IsNaN(wide)))) {
      const auto old = LoadWidened<T>(d, ds, output + At<T>(i));
      const auto stays = hn::BitCast(d32, hn::VecFromMask(ds, hn::IsNaN(old)));
      results = hn::IfVecThenElse(ResizedMask(d, stays), hn::LoadU(d, to), results);
    }
    hn::StoreU(results, d, to);
  });
  for (int64_t i = done; i < n; ++i) {
    const T old = LoadElement<T>(output + At<T>(i));
    if (std::isnan(SumTraits<T>::Widen(old))) continue;
    StoreElement(SumTraits<T>::Divide(LoadElement<Sum>(sums + At<Sum>(i)), 1), output + At<T>(i));
  }
}

// ---- The tables ----

// With runs, means of 1 M sorted float32 in runs of 33 and 100 took 0.4 x the time, of int32 in
// runs of 100 1.1 x (Zen 5).
template <class T>
constexpr int64_t kLeastSlotRepeats = kHasIntegerSums<T> ? 0 : 10;

template <class T, template <class> class Op, bool kDivides>
constexpr SlotKernels CountedKernelsOf() {
  return {kMostTerms - 1,
          /*has_counts=*/true,  SumKernelsOf<T, Op>().begin, AddEach<T, Op, CountedSlots<T>>,
          kLeastSlotRepeats<T>, FinishEach<T, kDivides>};
}

// Packed slots are for means of short integers. There are none for older CPUs, to keep the library
// small, and none without vectors.
template <class T>
constexpr bool kHasPackedSlots = kHasIntegerSums<T> && sizeof(T) <= 2 && !STREW_OF_OLD_CPUS &&
                                 !STREW_BIG_ENDIAN && hn::MaxLanes(hn::ScalableTag<int32_t>()) >= 4;

template <class T>
constexpr SlotKernels kPackedKernels = {PackedSlots<T>::kMostUpdates,
                                        /*has_counts=*/true,
                                        BeginSums<T, PackedSlots<T>::kCountBits>,
                                        AddEach<T, Add, PackedSlots<T>>,
                                        kLeastSlotRepeats<T>,
                                        FinishPacked<T>};

// Bare slots are for sums that are not divided. Wide sums of 3000 to 1.5 M elements of 16 bits took
// 0.5 to 0.88 x the time (Zen 5). There are none of 8 bits, to keep the library small.
template <class T>
constexpr bool kHasBareSlots = kIsShortFloat<T> && !kIsFloat8<T> && !STREW_OF_OLD_CPUS;

template <class T, template <class> class Op>
constexpr SlotKernels kBareKernels = {kMostTerms - 1,
                                      /*has_counts=*/false,
                                      SumKernelsOf<T, Op>().begin,
                                      AddEach<T, Op, BareSlots<T>>,
                                      kLeastSlotRepeats<T>,
                                      FinishBare<T>};

// NULL for none.
template <class T, template <class> class Op, bool kDivides>
constexpr const SlotKernels* CompactKernelsOf() {
  if constexpr (kDivides && kHasPackedSlots<T>) return &kPackedKernels<T>;
  if constexpr (!kDivides && kHasBareSlots<T>) return &kBareKernels<T, Op>;
  return nullptr;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
