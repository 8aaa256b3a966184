// SPDX-License-Identifier: Apache-2.0
// A pass over the updates of gather_scatter in the order of the entries, block by block. All its
// ways locate the updates of a block in the output, prefetch these destinations, gather the updates
// from the source into a buffer, multiply them by their weights, and combine them with the output.
#ifndef STREW_PREPARED_ENTRY_PASS_H_
#define STREW_PREPARED_ENTRY_PASS_H_

#include <cstdint>

#include "base/call.h"
#include "base/tensor_view.h"
#include "kernel/kernel.h"
#include "plan/unit.h"
#include "prepared/element_sums.h"
#include "prepared/passage.h"
#include "prepared/schedule.h"

namespace strew::prepared {

// Limits: bytes of the offsets and of the updates of a block.
inline constexpr int64_t kPassOffsetBytes = kPassBlock * int64_t{sizeof(int64_t)};
inline constexpr int64_t kPassBytes = kPassBlock * plan::kMostWidth;

// The source or the output, the places of its plan, and how offsets in it are computed.
struct PlacedTensor {
  PlacedTensor(const Call& call, const TensorView& tensor, const Plan& plan, const Layout& layout,
               int entry, int offset);

  // Stores the offsets of rows of updates, or adds those of their places to `offsets`. Requires
  // that no entry is dropped, and that places are a line.
  void Locate(const int64_t* first, const UpdateLoop& rows, const UpdateLoop& columns, bool adds,
              void* offsets) const;

  const TensorView& tensor;
  const Numbers& places;
  const Numbering& numbering;  // of the places
  const int64_t number_of_places;
  // The operands of UpdateNest for its entries and offsets.
  const int entry;
  const int offset;
  const kernel::OffsetWidth width;
  const kernel::ResolveKernel resolve;
};

// `first` has the offset of the first update of a block in each operand; `offsets` count from
// there.
struct EntryPass {
  // `sums` are NULL unless the schedule has some.
  EntryPass(const Passage& passage, const PlanSchedule& schedule, const ElementSums* sums);

  // Prefetches destinations, if the schedule says so. It should be called before Gather().
  void Fetch(const int64_t* first, const void* offsets, int64_t n) const;
  // Gathers the updates at these offsets in the source.
  void Gather(const int64_t* first, const void* offsets, int64_t n, unsigned char* updates) const;
  const unsigned char* WeightAt(const int64_t* first) const {
    return passage.weights->data + first[kWeight] * size;
  }
  // Combines contiguous updates with the elements at these offsets in the output, or with their
  // accumulators.
  void Combine(const int64_t* first, const void* offsets, int64_t n,
               const unsigned char* updates) const;

  const Passage& passage;
  const PlanSchedule& schedule;
  const PlacedTensor from;
  const PlacedTensor to;
  const kernel::CombineKernels& combine;
  const kernel::CombineKernels& move;
  const kernel::RunKernel multiply;  // NULL without weights
  const int64_t size;                // bytes of an element
  const ElementSums* const sums;     // NULL for none
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_ENTRY_PASS_H_
