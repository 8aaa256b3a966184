// SPDX-License-Identifier: Apache-2.0
#include "prepared/element_sums.h"

#include <cstring>

namespace strew::prepared {
namespace {

accumulate::Accumulator AccumulatorOf(const Call& call, const TensorView& output,
                                      strew_reduction reduction, int64_t updates) {
  return {call, output.dtype, reduction, updates, /*counts_updates=*/false};
}

}  // namespace

ElementSums::ElementSums(const Call& call, const TensorView& output, strew_reduction reduction,
                         int64_t updates, int64_t elements, unsigned char* memory)
    : output_(output),
      accumulator_(AccumulatorOf(call, output, reduction, updates)),
      sums_(memory),
      counts_(reinterpret_cast<uint32_t*>(memory + elements * accumulator_.sums.sum_size)) {}

void ElementSums::Begin(int64_t first, int64_t n) {
  first_ = first;
  count_ = n;
  if (!accumulator_.are_compact()) {
    std::memset(counts_, 0, static_cast<size_t>(n * accumulator_.count_size()));
  }
  accumulator_.BeginSlots(sums_, ElementAt(first), 1, n);
}

void ElementSums::Add(int64_t origin, const int32_t* distances, const unsigned char* updates,
                      int64_t stride, int64_t n) const {
  const int64_t slot = origin - first_;
  unsigned char* const sums = sums_ + slot * accumulator_.sums.sum_size;
  uint32_t* const counts = accumulator_.are_compact() ? nullptr : counts_ + slot;
  kernel::WalkSlots(accumulator_.slots, output_.element_size, {sums, counts},
                    {distances, updates, stride, n});
}

void ElementSums::Finish() const {
  accumulator_.FinishEach({sums_, counts_}, ElementAt(first_), count_);
}

}  // namespace strew::prepared
