// SPDX-License-Identifier: Apache-2.0
// Combines updates with elements of the output, for gather_scatter in the order of the entries.
#ifndef STREW_PREPARED_COMBINER_H_
#define STREW_PREPARED_COMBINER_H_

#include <cstdint>

#include "kernel/kernel.h"
#include "prepared/passage.h"

namespace strew::prepared {

// Combines contiguous updates of one element each with elements of the output.
class Combiner {
 public:
  Combiner(const Passage& passage, strew_reduction reduction);

  // `to` has n offsets in elements, from element `output` of the output.
  void Combine(kernel::OffsetWidth width, int64_t output, const unsigned char* products,
               const void* to, int64_t n) const;

 private:
  const TensorView& output_;
  const kernel::CombineKernels& kernels_;
  const int64_t size_;
};

// Distance from the first to the last element in memory, in elements.
int64_t SpanOf(const TensorView& tensor);
// The kernel that turns the places of a plan into offsets.
kernel::ResolveKernel ResolveKernelOf(const Passage& passage, const Plan& plan,
                                      kernel::OffsetWidth width);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_COMBINER_H_
