// SPDX-License-Identifier: Apache-2.0
// The walk through entries that are short rows, element by element: a kernel for single elements takes
// them all at once, and one for rows is called for each.
#ifndef STREW_WALK_ELEMENT_ROWS_H_
#define STREW_WALK_ELEMENT_ROWS_H_

#include "kernel/kernel.h"
#include "walk/scatter.h"

namespace strew::walk {

// True if the rows, those of the loops, are as short as that and their updates lie evenly.
bool AreElementRows(const Scatter& scatter, const kernel::RowsArguments& rows);

// Writes the rows for every inner turn. `output` and `updates` are those of the first.
void WriteElementRows(const Scatter& scatter, kernel::OffsetWidth offset_width,
                      const kernel::RowsArguments& rows, unsigned char* output,
                      const unsigned char* updates);

}  // namespace strew::walk

#endif  // STREW_WALK_ELEMENT_ROWS_H_
