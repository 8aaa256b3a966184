// SPDX-License-Identifier: Apache-2.0
#include "prepared/combiner.h"

#include "base/reduction.h"
#include "walk/kernels.h"

namespace strew::prepared {

Combiner::Combiner(const Passage& passage, strew_reduction reduction)
    : output_(passage.output),
      kernels_(walk::IndexedKernelsFor(passage.call, passage.output, ReductionKind(reduction))),
      size_(passage.output.element_size) {}

void Combiner::Combine(kernel::OffsetWidth width, int64_t output, const unsigned char* products,
                       const void* to, int64_t n) const {
  kernel::CombineEntries(kernels_, width,
                         kernel::RowTile(output_.data + output * size_, products, to, n, 0), {});
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
