// SPDX-License-Identifier: Apache-2.0
// Writes entries that are short rows as single elements: one call of a kernel for elements replaces
// a call for each row.
#ifndef STREW_WALK_ELEMENT_ROWS_H_
#define STREW_WALK_ELEMENT_ROWS_H_

#include "kernel/kernel.h"
#include "walk/scatter.h"

namespace strew::walk {

// True if the rows are short enough for this and their updates are evenly spaced. The rows must be
// the runs of the loops.
bool AreElementRows(const Scatter& scatter, const kernel::RowsArguments& rows);

// Writes the rows for every inner turn. `output` and `updates` are those of the first.
void WriteElementRows(const Scatter& scatter, kernel::OffsetWidth offset_width,
                      const kernel::RowsArguments& rows, unsigned char* output,
                      const unsigned char* updates);

}  // namespace strew::walk

#endif  // STREW_WALK_ELEMENT_ROWS_H_
