// SPDX-License-Identifier: Apache-2.0
// Accumulators of all elements of a part of the output, in scratch.
#ifndef STREW_PREPARED_ELEMENT_SUMS_H_
#define STREW_PREPARED_ELEMENT_SUMS_H_

#include <cstdint>

#include "accumulate/accumulator.h"
#include "base/call.h"
#include "base/tensor_view.h"
#include "kernel/kernel.h"
#include "strew/strew.h"

namespace strew::prepared {

class ElementSums {
 public:
  // For contiguous outputs, of which a part has at most `elements`, and for fewer than
  // kernel::kMostTerms updates in all. `memory` has accumulate::SlotBytes() for each element of a
  // part, and is aligned to 8 bytes.
  ElementSums(const Call& call, const TensorView& output, strew_reduction reduction,
              int64_t updates, int64_t elements, unsigned char* memory);

  // Begins the accumulators of the elements [first, first + n).
  void Begin(int64_t first, int64_t n);
  // Adds n > 0 updates, `stride` apart, of the elements at these distances from `origin`.
  void Add(int64_t origin, const int32_t* distances, const unsigned char* updates, int64_t stride,
           int64_t n) const;
  // Stores the results in the elements that have an update.
  void Finish() const;

 private:
  unsigned char* ElementAt(int64_t i) const { return output_.data + i * output_.element_size; }

  const TensorView& output_;
  const accumulate::Accumulator accumulator_;
  unsigned char* const sums_;
  uint32_t* const counts_;  // not used by compact slots
  int64_t first_ = 0;
  int64_t count_ = 0;
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_ELEMENT_SUMS_H_
