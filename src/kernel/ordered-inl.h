// SPDX-License-Identifier: Apache-2.0
// Combines single elements in the order of their destinations, straight from the updates.
#if defined(STREW_KERNEL_ORDERED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_ORDERED_INL_H_
#undef STREW_KERNEL_ORDERED_INL_H_
#else
#define STREW_KERNEL_ORDERED_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "base/compiler.h"
#include "kernel/counted-inl.h"
#include "kernel/held-inl.h"
#include "kernel/kernel.h"
#include "kernel/ops-inl.h"
#include "kernel/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

struct OrderedEntry {
  uint64_t begins;  // 1 if the entry begins its destination, else 0
  int64_t slot;     // of its destination among those of the word
  int64_t place;    // offset of its destination in bytes
  const unsigned char* update;
};

// Returns `a` if `first` is 1, `b` if it is 0. Compilers would make a branch of a conditional
// expression.
HWY_INLINE const unsigned char* Choose(uint64_t first, const unsigned char* a,
                                       const unsigned char* b) {
  const auto from = reinterpret_cast<uintptr_t>(b);
  const uintptr_t distance = reinterpret_cast<uintptr_t>(a) - from;
  const uintptr_t mask = 0 - static_cast<uintptr_t>(first);
  return reinterpret_cast<const unsigned char*>(from + (distance & mask));
}

template <class Sum>
HWY_INLINE Sum ChooseSum(uint64_t first, Sum a, Sum b) {
  if constexpr (std::is_integral_v<Sum>) {
    return b ^ ((a ^ b) & -static_cast<Sum>(first));
  } else if constexpr (std::is_floating_point_v<Sum>) {
    const hn::CappedTag<Sum, 1> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    using Unsigned = hn::TFromD<decltype(du)>;
    const auto mask =
        hn::Set(du, static_cast<Unsigned>(Unsigned{0} - static_cast<Unsigned>(first)));
    return hn::GetLane(hn::IfVecThenElse(hn::BitCast(d, mask), hn::Set(d, a), hn::Set(d, b)));
  } else {
    return first != 0 ? a : b;
  }
}

// Entries of a word, whose bits tell which of them begin a destination.
constexpr int64_t kWordEntries = 64;

// Returns the bit of the entry with which a destination begins in the word of the entries from
// `base` on, or 0 if it is in another word. For the destination after the last one, that is the
// entry after the last one.
HWY_INLINE uint64_t BeginningOf(const OrderedElements& all, int64_t group, uint32_t base) {
  const uint32_t entry = all.firsts[HWY_MIN(group, all.groups)] - base;
  return uint64_t{entry < kWordEntries} << (entry % kWordEntries);
}

// The first word. Not inline, because copies in all loops made the library larger. A template,
// because targets without these kernels do not call it.
template <int64_t kEntries>
HWY_NOINLINE uint64_t FirstBeginnings(const OrderedElements& all) {
  uint64_t beginnings = 0;
  for (int64_t i = 0; i < kEntries; ++i) beginnings |= BeginningOf(all, i, all.firsts[0]);
  return beginnings;
}

// Calls combine(entry) for each entry, and end_word(destinations, n) after each word of entries
// with the list of those that it has. Places are multiples of `step`. There is no branch on whether
// an entry begins a destination, which the CPU could not predict: with a loop over the entries of
// each destination, sums of 4 M float64 in 3.7 M of 16 M places took 1.3 x the time (Zen 4). Nor
// does an entry wait until it is known where the destination of the one before begins: that is
// found a word of entries earlier, without which sums of 4 M float32 took 1.2 x the time, in the
// caches 1.8 x. It is found one entry at a time, because the CPU does not fetch firsts[] early
// enough if it is read a word at a time, in 1.5 x the time, and updates are prefetched one at a
// time: 16 at once took 1.4 to 2.4 x (Zen 5).
template <class T, class Combine, class EndWord>
HWY_INLINE void ForEachOrdered(const OrderedElements& arguments, int64_t step,
                               const Combine& combine, const EndWord& end_word) {
  const OrderedElements all = arguments;
  const int64_t updates_step = At<T>(all.updates_stride);
  uint32_t base = all.firsts[0];
  uint64_t beginnings = FirstBeginnings<kWordEntries>(arguments);
  int64_t group = -1;
  int64_t later = 0;
  for (int64_t k = 0; k < all.n; k += kWordEntries) {
    const int64_t n = HWY_MIN(kWordEntries, all.n - k);
    const uint32_t* const order = all.order + k;
    // The last word prefetches some updates once more, so that none needs a comparison.
    const uint32_t* const ahead = all.order + HWY_MIN(k + all.prefetch, all.last + 1 - n);
    const int64_t first = group + static_cast<int64_t>(beginnings & 1);
    later += static_cast<int64_t>(hwy::PopCount(beginnings));
    uint64_t next = 0;
    base += kWordEntries;
    for (int64_t i = 0; i < n; ++i) {
      Prefetch(all.updates + ahead[i] * updates_step);
      next |= BeginningOf(all, later + i, base);
      const uint64_t begins = beginnings & 1;
      beginnings >>= 1;
      group += static_cast<int64_t>(begins);
      combine(OrderedEntry{begins, group - first, all.destinations[group] * step,
                           all.updates + order[i] * updates_step});
    }
    end_word(all.destinations + first, group + 1 - first);
    beginnings = next;
  }
}

// The same without an end of words.
template <class T, class Combine>
HWY_INLINE void ForEachOrdered(const OrderedElements& all, const Combine& combine) {
  ForEachOrdered<T>(all, At<T>(all.output_stride), combine, [](const uint32_t*, int64_t) {});
}

template <class T, class Op>
void CombineOrdered(const OrderedElements& all) {
  unsigned char* const output = all.output;
  // The choice of the old value slows sums of float64 that keep it by a sixth (Zen 4).
  if (all.beginning == nullptr) {
    return ForEachOrdered<T>(all, [&](const OrderedEntry& entry) HWY_ATTR {
      unsigned char* const to = output + entry.place;
      CombineElement<T, Op>(to, to, entry.update);
    });
  }
  if constexpr (!kMoves<T, Op>) {
    const unsigned char* const beginning = all.beginning;
    ForEachOrdered<T>(all, [&](const OrderedEntry& entry) HWY_ATTR {
      unsigned char* const to = output + entry.place;
      CombineElement<T, Op>(to, Choose(entry.begins, beginning, to), entry.update);
    });
  }
}

// Each sum stays in a register, and every entry stores the result so far: a second pass, which
// divided and stored blocks of sums, took 1.1 to 1.4 x the time (Zen 5). An entry that does not
// begin a destination reads no old value, because it would wait for the quotient that the one
// before stores.
template <class T, template <class> class Op, bool kDivides, bool kKeepsOld>
void AccumulateInOutput(const OrderedElements& all) {
  unsigned char* const output = all.output;
  const T other = kKeepsOld ? T{} : LoadElement<T>(all.beginning);
  const auto* const none = reinterpret_cast<const unsigned char*>(&other);
  T sum = {};
  uint32_t terms = 0;
  ForEachOrdered<T>(all, [&](const OrderedEntry& entry) HWY_ATTR {
    unsigned char* const to = output + entry.place;
    const T old = kKeepsOld ? LoadElement<T>(Choose(entry.begins, to, none)) : other;
    const auto begins = static_cast<uint32_t>(entry.begins);
    sum = Accumulate<T, Op>(ChooseSum(entry.begins, old, sum), LoadElement<T>(entry.update));
    terms = (terms & (begins - 1)) + (kKeepsOld ? begins : 0) + 1;
    StoreElement(SumTraits<T>::Divide(sum, kDivides ? terms : 1), to);
  });
}

// counts[g] = firsts[g + 1] - firsts[g] for g < n
HWY_INLINE void CountEntries(const uint32_t* firsts, int64_t n, uint32_t* counts) {
  const hn::ScalableTag<uint32_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto count = [&](int64_t g) HWY_ATTR {
    hn::StoreU(hn::Sub(hn::LoadU(d, firsts + g + 1), hn::LoadU(d, firsts + g)), d, counts + g);
  };
  if (n < lanes) {
    for (int64_t g = 0; g < n; ++g) counts[g] = firsts[g + 1] - firsts[g];
    return;
  }
  for (int64_t g = 0; g + lanes < n; g += lanes) count(g);
  count(n - lanes);
}

// Sums that have another type than elements are finished and stored after each word, in vectors.
// The result of a destination that the next word continues is stored there again. Blocks of four
// words, between which nothing is prefetched, took up to 1.2 x the time (Zen 5).
template <class T, template <class> class Op, bool kDivides>
void AccumulateInWords(const OrderedElements& all) {
  using Sum = SumOf<T>;
  alignas(64) unsigned char sums[kWordEntries * sizeof(Sum)] = {};
  alignas(64) unsigned char results[kWordEntries * sizeof(T)] = {};
  alignas(64) uint32_t counts[kWordEntries] = {};
  const bool keeps_old = all.beginning == nullptr;
  const unsigned char* const old = keeps_old ? all.output : all.beginning;
  const int64_t output_step = At<T>(all.output_stride);
  Sum sum = {};
  const auto combine = [&](const OrderedEntry& entry) HWY_ATTR {
    const Sum first = SumTraits<T>::Widen(LoadElement<T>(old + entry.place));
    sum = Accumulate<T, Op>(ChooseSum(entry.begins, first, sum), LoadElement<T>(entry.update));
    StoreElement(sum, sums + At<Sum>(entry.slot));
  };
  const auto finish = [&](const uint32_t* destinations, int64_t n) HWY_ATTR {
    CountEntries(all.firsts + (destinations - all.destinations), n, counts);
    // Whole vectors, because single quotients take longer. Their other results are not stored.
    constexpr int64_t kLanes = 16;
    FinishEach<T, kDivides>({sums, counts}, keeps_old ? 1 : 0, results,
                            (n + kLanes - 1) / kLanes * kLanes);
    for (int64_t i = 0; i < n; ++i) {
      StoreElement(LoadElement<T>(results + At<T>(i)), all.output + destinations[i] * output_step);
    }
  };
  ForEachOrdered<T>(all, keeps_old ? output_step : 0, combine, finish);
}

template <class T, template <class> class Op, bool kDivides>
void AccumulateOrdered(const OrderedElements& all) {
  if constexpr (!std::is_same_v<T, SumOf<T>>) {
    AccumulateInWords<T, Op, kDivides>(all);
  } else if (all.beginning == nullptr) {
    AccumulateInOutput<T, Op, kDivides, /*kKeepsOld=*/true>(all);
  } else {
    AccumulateInOutput<T, Op, kDivides, /*kKeepsOld=*/false>(all);
  }
}

// Older CPUs, and float8, have no kernels, which would make the library 30 KB larger.
template <class T>
constexpr bool kHasOrderedKernels = !STREW_OF_OLD_CPUS && !kIsFloat8<T>;

// Products and differences have none either, nor have logical values, which took 60 KB.
template <class T, class Op>
constexpr OrderedElementsKernel OrderedKernelOf() {
  constexpr bool kIsUsual = kMoves<T, Op> || std::is_same_v<Op, Add<T>> || kIsExtremum<T, Op>;
  if constexpr (kHasOrderedKernels<T> && kIsUsual && !std::is_same_v<T, Logical>) {
    return CombineOrdered<T, Op>;
  }
  return nullptr;
}

// Means, and sums that are not divided.
template <class T, template <class> class Op, bool kDivides>
constexpr OrderedElementsKernel OrderedSumsKernelOf() {
  if constexpr (kHasOrderedKernels<T>) return AccumulateOrdered<T, Op, kDivides>;
  return nullptr;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
