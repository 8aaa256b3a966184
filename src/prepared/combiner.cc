// SPDX-License-Identifier: Apache-2.0
#include "prepared/combiner.h"

#include "base/reduction.h"
#include "walk/kernels.h"

namespace strew::prepared {

Combiner::Combiner(const Passage& passage)
    : output_(passage.output),
      kernels_(
          walk::IndexedKernelsFor(passage.call, passage.output, ReductionKind(passage.reduction))),
      replaces_(ReductionKind(passage.reduction) == STREW_NONE),
      size_(passage.output.element_size) {}

void Combiner::Combine(kernel::OffsetWidth width, int64_t output, const unsigned char* products,
                       const void* to, int64_t n) const {
  unsigned char* const origin = output_.data + output * size_;
  if (width == kernel::kOffset32) {
    return CombineRuns(width, origin, products, static_cast<const int32_t*>(to), n);
  }
  CombineRuns(width, origin, products, static_cast<const int64_t*>(to), n);
}

// Entries of one destination that follow each other are combined in a register. Through memory
// each waits for the one before: sums of 1 M float32 in one place and in 1000 sorted ones took 0.5
// x the time in a register, others 0.98 to 1.02 x (Zen 4).
template <class Offset>
void Combiner::CombineRuns(kernel::OffsetWidth width, unsigned char* origin,
                           const unsigned char* products, const Offset* offsets, int64_t n) const {
  constexpr int64_t kLeast = 32;
  const auto combine = [&](int64_t first, int64_t end) {
    kernels_.elements[width](
        kernel::RowTile(origin, products + first * size_, offsets + first, end - first, 0), {});
  };
  int64_t done = 0;
  for (int64_t i = 0; !replaces_ && i + kLeast <= n;) {
    const Offset place = offsets[i];
    int64_t end = i;
    if (place == offsets[i + kLeast - 1]) {
      while (end < n && offsets[end] == place) ++end;
    }
    if (end - i < kLeast) {
      i += kLeast;
      continue;
    }
    if (done < i) combine(done, i);
    kernels_.run(origin + place * size_, 0, products + i * size_, 1, end - i);
    i = done = end;
  }
  if (done < n) combine(done, n);
}

int64_t SpanOf(const TensorView& tensor) {
  int64_t span = 0;
  for (int i = 0; i < tensor.rank; ++i) {
    span += static_cast<int64_t>(Magnitude(StrideOf(tensor, i))) * (tensor.shape[i] - 1);
  }
  return span;
}

kernel::ResolveKernel ResolveKernelOf(const Passage& passage, const Plan& plan,
                                      kernel::OffsetWidth width) {
  return kernel::IndexKernelsFor(plan.places.dtype(), passage.call.settings().simd_target)
      .resolve[width];
}

}  // namespace strew::prepared
