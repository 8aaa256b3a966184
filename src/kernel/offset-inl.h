// SPDX-License-Identifier: Apache-2.0
// Kernels that read offsets: they select those in a range, and locate destinations in a bitmap.
#if defined(STREW_KERNEL_OFFSET_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_OFFSET_INL_H_
#undef STREW_KERNEL_OFFSET_INL_H_
#else
#define STREW_KERNEL_OFFSET_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "kernel/kernel.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// ---- Offsets in a range ----

#if HWY_TARGET == HWY_AVX3
// Returns the first column that is not done. Compress is one instruction on AVX3 and takes 0.75 x
// the time of the scalar loop. The shuffles that replace it on AVX2 took 2.5 x. The library
// contains no variants of AVX3.
HWY_INLINE int64_t SelectVectors(const SelectArguments& arguments, const int32_t* offsets,
                                 int32_t* kept, int64_t* count) {
  const hn::ScalableTag<int32_t> d;
  static_assert(hn::MaxLanes(d) <= kSelectMargin);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto first = hn::Set(d, static_cast<int32_t>(arguments.first));
  const auto last = hn::Set(d, static_cast<int32_t>(arguments.last));
  const auto shift = hn::Set(d, static_cast<int32_t>(arguments.shift));
  const auto step = hn::Set(d, static_cast<int32_t>(lanes));
  auto columns = hn::Iota(d, 0);
  int64_t c = 0;
  for (; c + lanes <= arguments.columns; c += lanes) {
    const auto offset = hn::LoadU(d, offsets + c);
    const auto inside = hn::Not(hn::Or(hn::Lt(offset, first), hn::Gt(offset, last)));
    hn::StoreU(hn::Compress(hn::Add(offset, shift), inside), d, kept + *count);
    hn::StoreU(hn::Compress(columns, inside), d, arguments.kept_columns + *count);
    *count += static_cast<int64_t>(hn::CountTrue(d, inside));
    columns = hn::Add(columns, step);
  }
  return c;
}
#endif

template <class Offset>
int64_t Select(const SelectArguments& all) {
  SelectArguments arguments = all;
  // Limits the range to the type of the offsets, except its lowest value, which marks dropped
  // entries.
  arguments.first = std::max(all.first, int64_t{kDropped<Offset>} + 1);
  arguments.last = std::min<int64_t>(all.last, std::numeric_limits<Offset>::max());
  if (arguments.first > arguments.last) return 0;
  const Offset* offsets = static_cast<const Offset*>(arguments.offsets);
  Offset* kept = static_cast<Offset*>(arguments.kept);
  int64_t count = 0;
  int64_t c = 0;
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(Offset) == 4) c = SelectVectors(arguments, offsets, kept, &count);
#endif
  // No branch, because the CPU could not predict it.
  for (; c < arguments.columns; ++c) {
    const int64_t offset = offsets[c];
    kept[count] = static_cast<Offset>(offset + arguments.shift);
    arguments.kept_columns[count] = static_cast<int32_t>(c);
    count += (offset >= arguments.first) & (offset <= arguments.last);
  }
  return count;
}

// ---- Bits of destinations ----

// Counts the set bits of a word below a bit: one instruction on SSE4 and newer targets, but not on
// the baseline CPU.
HWY_INLINE int64_t BitsBelow(uint64_t word, int64_t bit) {
  return static_cast<int64_t>(hwy::PopCount(word & ((uint64_t{1} << bit) - 1)));
}

// Locates whole vectors of offsets without the directory. If offsets have 32 bits, all positions
// that LocateKernel allows fit 31 bits. Returns the first column that is not done. A column takes
// 0.07 ns, one by one 0.5.
HWY_INLINE int64_t LocateVectors(const LocateArguments& arguments,
                                 const int32_t* HWY_RESTRICT offsets, int32_t* HWY_RESTRICT bits) {
  const hn::ScalableTag<int32_t> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto dropped = hn::Set(d, kDropped<int32_t>);
  const auto shift = hn::Set(d, static_cast<int32_t>(arguments.shift));
  const auto inverse = hn::Set(d, static_cast<int32_t>(arguments.inverse));
  int64_t c = 0;
  for (; c + lanes <= arguments.columns; c += lanes) {
    const auto offset = hn::LoadU(d, offsets + c);
    const auto steps = hn::ShiftRightSame(hn::Add(offset, shift), arguments.unused_bits);
    const auto bit = hn::Mul(steps, inverse);  // modulo 2^32
    hn::StoreU(hn::IfThenElse(hn::Eq(offset, dropped), dropped, bit), d, bits + c);
  }
  return c;
}

template <class Offset>
void Locate(const LocateArguments& all, int32_t* HWY_RESTRICT bits) {
  const LocateArguments arguments = all;
  const Offset* HWY_RESTRICT offsets = static_cast<const Offset*>(arguments.offsets);
  int64_t first = 0;
  if constexpr (sizeof(Offset) == 4) first = LocateVectors(arguments, offsets, bits);
  for (int64_t c = first; c < arguments.columns; ++c) {
    const int64_t bit = NumberAt(arguments, offsets[c]);
    const bool dropped = offsets[c] == kDropped<Offset>;
    bits[c] = dropped ? kDropped<int32_t> : static_cast<int32_t>(bit);
  }
  if (arguments.directory == nullptr) return;
  for (int64_t c = 0; c < arguments.columns; ++c) {
    if (bits[c] == kDropped<int32_t>) continue;
    const int64_t block = bits[c] / 64;
    const int64_t word = arguments.directory_ranks[block / 64] +
                         BitsBelow(arguments.directory[block / 64], block % 64);
    bits[c] = static_cast<int32_t>(word * 64 + bits[c] % 64);
  }
}

void Rank(const uint64_t* HWY_RESTRICT words, const uint32_t* HWY_RESTRICT ranks,
          int32_t* HWY_RESTRICT bits, int64_t columns) {
  for (int64_t c = 0; c < columns; ++c) {
    const int32_t bit = bits[c];
    if (bit < 0) continue;
    bits[c] = static_cast<int32_t>(ranks[bit / 64] + BitsBelow(words[bit / 64], bit % 64));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
