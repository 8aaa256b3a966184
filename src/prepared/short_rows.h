// SPDX-License-Identifier: Apache-2.0
// gather_scatter of rows of a few elements in the order of the entries.
#ifndef STREW_PREPARED_SHORT_ROWS_H_
#define STREW_PREPARED_SHORT_ROWS_H_

#include <cstdint>

#include "kernel/kernel.h"
#include "prepared/combiner.h"
#include "prepared/passage.h"
#include "prepared/schedule.h"

namespace strew::prepared {

// Rows are the innermost loop: neither plan changes along them. All elements of a block of rows are
// gathered, multiplied and combined together.
class ShortRows {
 public:
  // `combiner` must outlive this; `multiply` is NULL without weights.
  ShortRows(const Passage& passage, const Combiner& combiner, kernel::RunKernel multiply);

  // Returns the number of updates. Requires that no entry is dropped, that places are lines in both
  // tensors, and that a row has at most kPassBlock elements.
  int64_t Run(UpdateNest nest, bool fetches_output) const;

 private:
  // Rows of a block: the loops over them and over the elements of each.
  struct Block {
    UpdateLoop rows;
    UpdateLoop row;
    int64_t size() const { return rows.count * row.count; }
  };

  void Apply(const int64_t* first, const Block& block, bool fetches_output) const;
  void Gather(const int64_t* first, const Block& block, unsigned char* products) const;
  void Multiply(const int64_t* first, const Block& block, unsigned char* products) const;

  const Passage& passage_;
  const Combiner& combiner_;
  const kernel::RunKernel multiply_;
  const kernel::RunKernel move_;
  const kernel::OffsetWidth source_width_;
  const kernel::OffsetWidth output_width_;
  const kernel::ResolveKernel resolve_from_;
  const kernel::ResolveKernel resolve_to_;
  const int64_t size_;
};

}  // namespace strew::prepared

#endif  // STREW_PREPARED_SHORT_ROWS_H_
