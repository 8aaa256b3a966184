// SPDX-License-Identifier: Apache-2.0
// gather_scatter of single elements that takes several short loops as one.
#ifndef STREW_PREPARED_SHORT_LOOPS_H_
#define STREW_PREPARED_SHORT_LOOPS_H_

#include <cstdint>

#include "kernel/kernel.h"
#include "prepared/passage.h"
#include "prepared/combiner.h"

namespace strew::prepared {

// Loops whose entries are consecutive in both plans: `slab` goes around the short loops of a
// `period`, which has `turns` turns in all.
struct FlatUpdates {
  UpdateNest outside;
  UpdateLoop slab;
  UpdateNest period;
  int64_t turns;
};

// Offsets in the source, the output and the weights form patterns that repeat, so that a block of
// entries takes only as many calls of kernels as a row.
class ShortLoops {
 public:
  // `combiner` must outlive this; `multiply` is NULL without weights.
  ShortLoops(const Passage& passage, const Combiner& combiner, kernel::RunKernel multiply);

  // Returns false if the innermost loop is long, or entries are not consecutive. Requires that no
  // entry is dropped, and that places are lines in both tensors.
  bool Flatten(const UpdateNest& nest, FlatUpdates* flat) const;
  // Returns the number of updates.
  int64_t Run(const FlatUpdates& flat, bool fetches_output) const;

 private:
  struct Patterns;
  void RunBlock(const int64_t* first, int64_t n, const Patterns& patterns,
                bool fetches_output) const;
  void Gather(const int64_t* first, int64_t n, const Patterns& patterns,
              unsigned char* products) const;
  void Multiply(const int64_t* first, int64_t n, const Patterns& patterns,
                unsigned char* products) const;

  const Passage& passage_;
  const Combiner& combiner_;
  const kernel::RunKernel multiply_;
  const kernel::OffsetWidth source_width_;
  const kernel::OffsetWidth output_width_;
  const kernel::ResolveKernel resolve_from_;
  const kernel::ResolveKernel resolve_to_;
  const int64_t size_;
  const int64_t block_;  // most entries at a time
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_SHORT_LOOPS_H_
