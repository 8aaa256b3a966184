// SPDX-License-Identifier: Apache-2.0
// Means, and sums that are not divided, of destinations whose updates are listed together. The sums
// stay in registers.
#if defined(STREW_KERNEL_GROUP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STREW_KERNEL_GROUP_INL_H_
#undef STREW_KERNEL_GROUP_INL_H_
#else
#define STREW_KERNEL_GROUP_INL_H_
#endif

#include <hwy/highway.h>

#include "kernel/element.h"
#include "kernel/kernel.h"
#include "kernel/slot-inl.h"
#include "kernel/sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace strew::kernel {
namespace HWY_NAMESPACE {
namespace {

// Computes contiguous elements of a group, one vector of elements (tag D) at a time.
template <class T, template <class> class Op, class D>
class GroupLoop {
 public:
  GroupLoop(const GroupArguments& group, int64_t terms)
      : group_(group),
        divisor_(terms),
        begin_(group.order + (group.excludes_self ? 1 : 0)),
        end_(group.order + group.count) {}

  // Starts at element `i`. Returns the first element that is not done.
  HWY_INLINE int64_t Run(int64_t i) const {
    for (; i + Step() <= group_.n; i += Step()) {
      auto sum = Load(First(i));
      for (const int64_t* update = begin_; update < end_; ++update) {
        sum = Combine(sum, group_.updates + At<T>(*update + i));
      }
      divisor_.Store(D(), Sums(), sum, group_.output + At<T>(i));
    }
    return i;
  }

  // The same with four independent vectors of sums, because updates of one sum wait for each other.
  HWY_INLINE int64_t RunFour(int64_t i) const {
    const int64_t step = Step();
    for (; i + 4 * step <= group_.n; i += 4 * step) {
      const unsigned char* from = First(i);
      auto sum0 = Load(from);
      auto sum1 = Load(from + At<T>(step));
      auto sum2 = Load(from + At<T>(2 * step));
      auto sum3 = Load(from + At<T>(3 * step));
      for (const int64_t* update = begin_; update < end_; ++update) {
        from = group_.updates + At<T>(*update + i);
        sum0 = Combine(sum0, from);
        sum1 = Combine(sum1, from + At<T>(step));
        sum2 = Combine(sum2, from + At<T>(2 * step));
        sum3 = Combine(sum3, from + At<T>(3 * step));
      }
      unsigned char* const output = group_.output + At<T>(i);
      divisor_.Store(D(), Sums(), sum0, output);
      divisor_.Store(D(), Sums(), sum1, output + At<T>(step));
      divisor_.Store(D(), Sums(), sum2, output + At<T>(2 * step));
      divisor_.Store(D(), Sums(), sum3, output + At<T>(3 * step));
    }
    return i;
  }

 private:
  using Lanes = SumLanes<T, ShortSumOf<T>>;
  using Sums = hn::Rebind<typename Lanes::Part, D>;

  static HWY_INLINE int64_t Step() {
    return static_cast<int64_t>(hn::Lanes(D()) / Lanes::kPerElement);
  }
  static HWY_INLINE hn::Vec<Sums> Load(const unsigned char* elements) {
    return LoadWidened<T>(D(), Sums(), elements);
  }
  static HWY_INLINE hn::Vec<Sums> Combine(hn::Vec<Sums> sums, const unsigned char* updates) {
    return Op<hn::TFromD<Sums>>::OnLanes(Sums(), sums, Load(updates));
  }
  HWY_INLINE const unsigned char* First(int64_t i) const {
    return group_.excludes_self ? group_.updates + At<T>(group_.order[0] + i)
                                : group_.output + At<T>(i);
  }

  const GroupArguments& group_;
  const Divisor<T, Sums> divisor_;
  const int64_t* const begin_;
  const int64_t* const end_;
};

// Returns the number of elements that are done.
template <class T, template <class> class Op>
HWY_INLINE int64_t GroupVectors(const GroupArguments& group, int64_t terms) {
  using Lanes = SumLanes<T, ShortSumOf<T>>;
  int64_t i = 0;
  if constexpr (Lanes::kExist) {
    using D = typename Lanes::Elements;
    using Lane = hn::TFromD<D>;
    const bool lie_together = group.output_stride == 1 && group.updates_stride == 1;
    if (group.n > 1 && !lie_together) return 0;
    if (terms > Divisor<T, hn::Rebind<typename Lanes::Part, D>>::MostTerms()) return 0;
    const GroupLoop<T, Op, D> whole(group, terms);
    // Conversions of float8 take longer than sums wait for each other.
    if constexpr (!kHasFewLoops<T>) i = whole.RunFour(i);
    i = whole.Run(i);
    if constexpr (!kHasFewLoops<T>) {
      // A tag of elements must not have more lanes than a vector of sums.
      constexpr size_t kFew = HWY_MIN(4, hn::MaxLanes(D()));
      i = GroupLoop<T, Op, hn::CappedTag<Lane, kFew>>(group, terms).Run(i);
      i = GroupLoop<T, Op, hn::CappedTag<Lane, Lanes::kPerElement>>(group, terms).Run(i);
    }
  }
  return i;
}

template <class T, template <class> class Op>
HWY_NOINLINE void ReduceGroup(const GroupArguments& all) {
  constexpr SumKernels kKernels = SumKernelsOf<T, Op>();
  constexpr int64_t kSums = 128;
  constexpr int64_t kLeastFilled = 32;
  const GroupArguments group = all;
  unsigned char sums[kSums * sizeof(SumOf<T>)];
  unsigned char results[kSums * sizeof(T)];
  const int64_t terms = group.divides ? group.count + (group.excludes_self ? 0 : 1) : 1;
  for (int64_t i = GroupVectors<T, Op>(group, terms); i < group.n; i += kSums) {
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
    const bool fills = group.updates_stride == 0 && n >= kLeastFilled;
    for (; k < group.count; ++k) {
      const unsigned char* const update = group.updates + At<T>(group.order[k] + column);
      if (fills) {
        Fill(LoadElement<T>(update), results, n);
        kKernels.add(sums, results, 1, n);
      } else {
        kKernels.add(sums, update, group.updates_stride, n);
      }
    }
    if (group.output_stride == 1) {
      kKernels.finish({output, 1, sums, 1, n, terms});
      continue;
    }
    // Finishes sums into contiguous memory first, because vectors divide faster.
    kKernels.finish({results, 1, sums, 1, n, terms});
    for (int64_t j = 0; j < n; ++j) {
      StoreElement(LoadElement<T>(results + At<T>(j)), output + At<T>(j * group.output_stride));
    }
  }
}

// The means of one old value and one update each.
template <class T>
void MeanOfPairs(unsigned char* output, int64_t output_stride, const unsigned char* updates,
                 int64_t updates_stride, int64_t n) {
  const int64_t first = 0;
  ReduceGroup<T, Add>({output, output_stride, updates, updates_stride, &first, 1, n, false, true});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace strew::kernel
HWY_AFTER_NAMESPACE();

#endif  // toggle
