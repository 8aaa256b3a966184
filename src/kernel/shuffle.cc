// SPDX-License-Identifier: Apache-2.0
// Gathers the same columns of many short rows, by shuffles of vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/shuffle.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernel/kernel.h"
#include "kernel/tables.h"
#include "kernel/target.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Lane = uint32_t;
using D = hn::ScalableTag<Lane>;

// How lanes of the source become vectors of the output. After `vectors` of them, which are some
// whole rows, the same lanes of the next rows follow.
class Pattern {
 public:
  // Stores which lanes the vectors take. Returns false if one of them takes lanes that two vectors
  // of the source do not hold, or if there are too many.
  bool Fill(const ShuffleArguments& rows, int64_t lanes, int64_t lanes_of_element) {
    if (lanes < kLeastLanes || (lanes & (lanes - 1)) != 0) return false;
    // As many lanes as the least common multiple of a row and a vector.
    vectors_ = rows.n * lanes_of_element;
    for (int64_t n = lanes; n > 1 && vectors_ % 2 == 0; n /= 2) vectors_ /= 2;
    if (vectors_ * lanes > kMostLanes) return false;
    int64_t column = 0, part = 0, source = 0;
    for (int64_t v = 0; v < vectors_; ++v) {
      int32_t* const taken = lanes_ + v * lanes;
      for (int64_t i = 0; i < lanes; ++i) {
        taken[i] = static_cast<int32_t>(source + rows.columns[column] * lanes_of_element + part);
        if (++part < lanes_of_element) continue;
        part = 0;
        if (++column < rows.n) continue;
        column = 0;
        source += rows.row * lanes_of_element;
      }
      if (!MoveToFirst(taken, lanes, &firsts_[v])) return false;
      end_ = HWY_MAX(end_, firsts_[v] + 2 * lanes);
    }
    source_lanes_ = source;
    return true;
  }

  int64_t vectors() const { return vectors_; }
  // Lanes of the source from one pattern to the next, and those that a pattern reads.
  int64_t source_lanes() const { return source_lanes_; }
  int64_t end() const { return end_; }
  int64_t first(int64_t vector) const { return firsts_[vector]; }
  const int32_t* lanes(int64_t vector, int64_t lanes) const { return lanes_ + vector * lanes; }

 private:
  // Makes lanes relative to the first of them.
  static bool MoveToFirst(int32_t* taken, int64_t lanes, int64_t* first) {
    int32_t least = taken[0], most = taken[0];
    for (int64_t i = 1; i < lanes; ++i) {
      least = HWY_MIN(least, taken[i]);
      most = HWY_MAX(most, taken[i]);
    }
    for (int64_t i = 0; i < lanes; ++i) taken[i] -= least;
    *first = least;
    return most - least < 2 * lanes;
  }

  static constexpr int64_t kLeastLanes = 4;  // of a vector
  static constexpr int64_t kMostLanes = 1024;

  int64_t vectors_;
  int64_t source_lanes_;
  int64_t end_ = 0;
  int64_t firsts_[kMostLanes / kLeastLanes];
  alignas(64) int32_t lanes_[kMostLanes];
};

int64_t ShuffleRows(const ShuffleArguments& rows) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t lanes_of_element = rows.size / int64_t{sizeof(Lane)};
  Pattern pattern;
  if (!pattern.Fill(rows, lanes, lanes_of_element)) return 0;
  const hn::RebindToSigned<D> di;
  const auto last = hn::Set(di, static_cast<int32_t>(lanes - 1));
  const Lane* HWY_RESTRICT from = reinterpret_cast<const Lane*>(rows.source);
  Lane* HWY_RESTRICT to = reinterpret_cast<Lane*>(rows.output);
  const int64_t source_lanes = rows.rows * rows.row * lanes_of_element;
  int64_t done = 0;
  for (; done + pattern.end() <= source_lanes; done += pattern.source_lanes()) {
    for (int64_t v = 0; v < pattern.vectors(); ++v, to += lanes) {
      const Lane* const first = from + done + pattern.first(v);
      const auto taken = hn::LoadU(di, pattern.lanes(v, lanes));
      const auto indices = hn::IndicesFromVec(d, hn::And(taken, last));
      const auto low = hn::TableLookupLanes(hn::LoadU(d, first), indices);
      const auto high = hn::TableLookupLanes(hn::LoadU(d, first + lanes), indices);
      const auto is_high = hn::RebindMask(d, hn::Gt(taken, last));
      hn::StoreU(hn::IfThenElse(is_high, high, low), d, to);
    }
  }
  return done / (rows.row * lanes_of_element);
}

ShuffleKernel ShuffleHere() { return hn::MaxLanes(D()) >= 4 ? ShuffleRows : nullptr; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace strew::kernel {
namespace {
HWY_EXPORT(ShuffleHere);
}  // namespace

ShuffleKernel ShuffleKernelFor(int32_t target) {
  return STREW_TABLE_OF(ShuffleHere, TargetSlot(target));
}

}  // namespace strew::kernel
#endif
