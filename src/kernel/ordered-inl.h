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
#include "kernel/held-inl.h"
#include "kernel/kernel.h"
#include "kernel/ops-inl.h"
#include "kernel/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

struct OrderedEntry {
  int64_t group;
  bool begins;  // the group
  unsigned char* output;
  const unsigned char* old;  // value of the group if the entry begins it
  const unsigned char* update;
};

// Returns `a` if `first`, else `b`. Compilers would make a branch of a conditional expression.
template <class Unsigned>
HWY_INLINE Unsigned ChooseBits(bool first, Unsigned a, Unsigned b) {
  const auto mask = static_cast<Unsigned>(Unsigned{0} - static_cast<Unsigned>(first));
  return (a & mask) | (b & static_cast<Unsigned>(~mask));
}

HWY_INLINE const unsigned char* Choose(bool first, const unsigned char* a, const unsigned char* b) {
  return reinterpret_cast<const unsigned char*>(
      ChooseBits(first, reinterpret_cast<uintptr_t>(a), reinterpret_cast<uintptr_t>(b)));
}

template <class Sum>
HWY_INLINE Sum ChooseSum(bool first, Sum a, Sum b) {
  if constexpr (std::is_integral_v<Sum>) {
    using Unsigned = std::make_unsigned_t<Sum>;
    return static_cast<Sum>(ChooseBits(first, static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
  } else if constexpr (std::is_floating_point_v<Sum>) {
    const hn::CappedTag<Sum, 1> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    using Unsigned = hn::TFromD<decltype(du)>;
    const auto mask = hn::Set(du, static_cast<Unsigned>(Unsigned{0} - Unsigned{first}));
    return hn::GetLane(hn::IfVecThenElse(hn::BitCast(d, mask), hn::Set(d, a), hn::Set(d, b)));
  } else {
    return first ? a : b;
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

// Calls combine(entry) for each entry. There is no branch on whether an entry begins a destination,
// which the CPU could not predict: with a loop over the entries of each destination, sums of 4 M
// float64 in 3.7 M of 16 M places took 1.3 x the time (Zen 4). Nor does an entry wait until it is
// known where the destination of the one before begins: that is found a word of entries earlier,
// without which sums of 4 M float32 took 1.2 x the time, in the caches 1.8 x. It is found one entry
// at a time, because the CPU does not fetch firsts[] early enough if it is read a word at a time,
// in 1.5 x the time (Zen 5). The prefetch has no branch either, for which the compiler would make a
// second loop.
template <class T, bool kHasBeginning, class Combine>
HWY_INLINE void ForEachOrdered(const OrderedElements& arguments, const Combine& combine) {
  const OrderedElements all = arguments;
  const int64_t output_step = At<T>(all.output_stride);
  const int64_t updates_step = At<T>(all.updates_stride);
  uint32_t base = all.firsts[0];
  uint64_t beginnings = FirstBeginnings<kWordEntries>(arguments);
  int64_t g = -1;
  for (int64_t k = 0; k < all.n;) {
    const int64_t end = HWY_MIN(k + kWordEntries, all.n);
    int64_t later = g + 1 + static_cast<int64_t>(hwy::PopCount(beginnings));
    uint64_t next = 0;
    base += kWordEntries;
    for (; k < end; ++k, ++later) {
      const int64_t ahead = HWY_MIN(k + all.prefetch, all.last);
      Prefetch(all.updates + all.order[ahead] * updates_step);
      next |= BeginningOf(all, later, base);
      const bool begins = (beginnings & 1) != 0;
      beginnings >>= 1;
      g += begins ? 1 : 0;
      unsigned char* const output = all.output + all.destinations[g] * output_step;
      const unsigned char* const old =
          kHasBeginning ? Choose(begins, all.beginning, output) : output;
      combine(OrderedEntry{g, begins, output, old, all.updates + all.order[k] * updates_step});
    }
    beginnings = next;
  }
}

template <class T, class Op>
void CombineOrdered(const OrderedElements& all) {
  const auto combine = [](const OrderedEntry& entry) HWY_ATTR {
    CombineElement<T, Op>(entry.output, entry.old, entry.update);
  };
  // The choice of the old value slows sums of float64 that keep it by a sixth (Zen 4).
  if (all.beginning == nullptr) return ForEachOrdered<T, false>(all, combine);
  if constexpr (!kMoves<T, Op>) ForEachOrdered<T, true>(all, combine);
}

// Each sum stays in a register until its last update. Gathering all old values of a block before
// took 1.5 x the time (int32, 4 M in 16 M places, Zen 4).
template <class T, template <class> class Op>
void SumOrdered(const OrderedElements& all, unsigned char* sums) {
  using Sum = SumOf<T>;
  Sum sum = {};
  const bool keeps_old = all.beginning == nullptr;
  ForEachOrdered<T, true>(all, [&](const OrderedEntry& entry) HWY_ATTR {
    Prefetch(entry.output);  // for its result, even if its old value is not read
    const Sum old = SumTraits<T>::Widen(LoadElement<T>(keeps_old ? entry.output : entry.old));
    sum = Accumulate<T, Op>(ChooseSum(entry.begins, old, sum), LoadElement<T>(entry.update));
    StoreElement(sum, sums + At<Sum>(entry.group));
  });
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

template <class T, template <class> class Op>
constexpr OrderedSumsKernel OrderedSumsKernelOf() {
  if constexpr (kHasOrderedKernels<T>) return SumOrdered<T, Op>;
  return nullptr;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
