// SPDX-License-Identifier: Apache-2.0
// Combines rows of updates at given offsets. Rows of one destination are combined in registers.
#if defined(STREW_KERNEL_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_ROWS_INL_H_
#undef STREW_KERNEL_ROWS_INL_H_
#else
#define STREW_KERNEL_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "base/compiler.h"
#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/ops-inl.h"
#include "kernel/strided-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// Combines rows of at least one vector (tag D), vector by vector.
template <class T, class Op, bool kWeighted, class D>
class RowsLoop {
 public:
  explicit RowsLoop(const GroupedRows& all)
      : all_(all),
        fetched_(HWY_MIN(At<T>(all.n), kMostFetched)),
        ahead_(HWY_MIN(HWY_MAX(kBytesAhead / fetched_, kLeastAhead), kMostAhead)) {}

  // Rows are prefetched before their group, and some rows beyond it. Prefetches within the loops
  // over columns would be repeated in each of these loops and make the library 0.2 MB larger.
  HWY_INLINE void Run() const {
    const int64_t fetchable = all_.fetches ? all_.begins[all_.groups] + all_.later : 0;
    int64_t fetched = all_.begins[0] + HWY_MIN(all_.fetched, ahead_);
    for (int64_t g = 0; g < all_.groups; ++g) {
      const int64_t first = all_.begins[g], end = all_.begins[g + 1];
      if (first == end) continue;
      const int64_t last = HWY_MIN(end + ahead_, fetchable);
      for (; fetched < last; ++fetched) Fetch(fetched);
      RunGroup(all_.output + At<T>(all_.destinations[g]), first, end);
    }
  }

 private:
  using Lane = typename Lanes<T>::Lane;
  using V = hn::Vec<D>;
  // Rows of less than a whole vector need no loop over four vectors.
  static constexpr bool kIsWhole = std::is_same_v<D, typename Lanes<T>::Tag>;

  // Most bytes of a row that are prefetched; the hardware prefetches the rest.
  static constexpr int64_t kMostFetched = 1024;
  // Prefetch distance in bytes: compared with a distance of 8 rows, 200,000 rows of 128 to
  // 256 bytes beyond the L2 cache took 0.53 to 0.7 x the time, rows in the L2 cache up to 1.06 x
  // (Zen 5).
  static constexpr int64_t kBytesAhead = 8192;
  static constexpr int64_t kLeastAhead = 8;  // rows
  static constexpr int64_t kMostAhead = 48;

  static HWY_INLINE int64_t Step() {
    return static_cast<int64_t>(hn::Lanes(D()) / Lanes<T>::kPerElement);
  }

  HWY_INLINE void Fetch(int64_t k) const {
    const unsigned char* const row = all_.updates + At<T>(all_.offsets[k]);
    for (int64_t byte = 0; byte < fetched_; byte += 64) Prefetch(row + byte);
    // Rows that do not begin at a cache line may end in one more line.
    Prefetch(row + fetched_ - 1);
    if constexpr (kWeighted) Prefetch(all_.weights + At<T>(all_.weight_offsets[k]));
  }

  // The last vector may overlap the one before it. It is computed first and stored last, so the
  // common columns are stored twice with the same values.
  HWY_INLINE void RunGroup(unsigned char* output, int64_t first, int64_t end) const {
    const int64_t step = Step();
    const int64_t last = all_.n - step;
    const bool overlaps = all_.n % step != 0;
    V tail = hn::Zero(D());
    if (overlaps) tail = Combine(output, last, first, end);
    int64_t i = 0;
    if constexpr (kIsWhole) {
      for (; i + 4 * step <= all_.n; i += 4 * step) CombineFour(output, i, first, end);
    }
    for (; i + step <= all_.n; i += step) {
      hn::StoreU(Combine(output, i, first, end), D(), LanesAt(output, i));
    }
    if (overlaps) hn::StoreU(tail, D(), LanesAt(output, last));
  }

  static HWY_INLINE Lane* LanesAt(unsigned char* row, int64_t i) {
    return reinterpret_cast<Lane*>(row + At<T>(i));
  }
  static HWY_INLINE V Load(const unsigned char* row, int64_t i) {
    return hn::LoadU(D(), reinterpret_cast<const Lane*>(row + At<T>(i)));
  }
  HWY_INLINE V Old(const unsigned char* output, int64_t i) const {
    if (all_.beginning != nullptr) return hn::Set(D(), LoadElement<Lane>(all_.beginning));
    return Load(output, i);
  }
  HWY_INLINE V Weight(int64_t k) const {
    if constexpr (kWeighted) {
      return hn::Set(D(), LoadElement<Lane>(all_.weights + At<T>(all_.weight_offsets[k])));
    }
    return hn::Zero(D());
  }
  static HWY_INLINE V Combined(V old, V update, V weight) {
    if constexpr (kWeighted) update = Mul<T>::OnLanes(D(), update, weight);
    return Op::OnLanes(D(), old, update);
  }
  HWY_INLINE const unsigned char* RowOf(int64_t k) const {
    return all_.updates + At<T>(all_.offsets[k]);
  }

  HWY_INLINE V Combine(const unsigned char* output, int64_t i, int64_t first, int64_t end) const {
    V result = Old(output, i);
    for (int64_t k = first; k < end; ++k) {
      result = Combined(result, Load(RowOf(k), i), Weight(k));
    }
    return result;
  }

  HWY_INLINE void CombineFour(unsigned char* output, int64_t i, int64_t begin, int64_t end) const {
    const int64_t step = Step();
    V first = Old(output, i);
    V second = Old(output, i + step);
    V third = Old(output, i + 2 * step);
    V fourth = Old(output, i + 3 * step);
    for (int64_t k = begin; k < end; ++k) {
      const unsigned char* const row = RowOf(k);
      const V weight = Weight(k);
      first = Combined(first, Load(row, i), weight);
      second = Combined(second, Load(row, i + step), weight);
      third = Combined(third, Load(row, i + 2 * step), weight);
      fourth = Combined(fourth, Load(row, i + 3 * step), weight);
    }
    hn::StoreU(first, D(), LanesAt(output, i));
    hn::StoreU(second, D(), LanesAt(output, i + step));
    hn::StoreU(third, D(), LanesAt(output, i + 2 * step));
    hn::StoreU(fourth, D(), LanesAt(output, i + 3 * step));
  }

  const GroupedRows& all_;
  const int64_t fetched_;
  const int64_t ahead_;
};

template <class T, class Op, bool kWeighted>
void CombineRows(const GroupedRows& all) {
  using Tag = typename Lanes<T>::Tag;
  using Lane = typename Lanes<T>::Lane;
  constexpr size_t kElement = Lanes<T>::kPerElement;
  const GroupedRows rows = all;
  const auto fits = [&](auto d) HWY_ATTR {
    return rows.n * static_cast<int64_t>(kElement) >= static_cast<int64_t>(hn::Lanes(d));
  };
  if (fits(Tag())) return RowsLoop<T, Op, kWeighted, Tag>(rows).Run();
  constexpr size_t kQuarter = HWY_MAX(hn::MaxLanes(Tag()) / 4, kElement);
  const hn::CappedTag<Lane, kQuarter> quarter;
  if (fits(quarter)) return RowsLoop<T, Op, kWeighted, decltype(quarter)>(rows).Run();
  RowsLoop<T, Op, kWeighted, hn::CappedTag<Lane, kElement>>(rows).Run();
}

template <class T>
constexpr bool kGroupsRows = kHasVectors<T> && !STREW_OF_OLD_CPUS;

// Sums, minima and maxima have kernels for rows, and sums for weighted rows: these are the
// aggregations of graphs. Other reductions use a run for each update, because more kernels would
// make the library larger.
template <class T, class Op>
constexpr GroupedRowsKernel GroupedRowsKernelOf() {
  if constexpr (kGroupsRows<T> && (std::is_same_v<Op, Add<T>> || kIsExtremum<T, Op>)) {
    return CombineRows<T, Op, false>;
  }
  return nullptr;
}
// Kernels for 8-bit elements are left out: there is no product of single 8-bit lanes, and those for
// float8 are rarely used and took 20 KB.
template <class T, class Op>
constexpr GroupedRowsKernel WeightedRowsKernelOf() {
  constexpr bool kMultiplies = Lanes<T>::kPerElement == 1 && sizeof(T) > 1;
  if constexpr (kGroupsRows<T> && kMultiplies && std::is_same_v<Op, Add<T>>) {
    return CombineRows<T, Op, true>;
  }
  return nullptr;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
