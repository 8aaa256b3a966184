// SPDX-License-Identifier: Apache-2.0
// Writes entries with inner loops one after the other, each as a box.
#ifndef STREW_WALK_ENTRY_BOXES_H_
#define STREW_WALK_ENTRY_BOXES_H_

#include "kernel/kernel.h"
#include "walk/scatter.h"

namespace strew::walk {

// Writes the entries of a tile. The rows must be the runs of the loops. `output` and `updates` are
// those of the first inner turn.
void WriteEntryBoxes(const Scatter& scatter, kernel::OffsetWidth offset_width,
                     const kernel::RowsArguments& rows, unsigned char* output,
                     const unsigned char* updates);

}  // namespace strew::walk

#endif  // STREW_WALK_ENTRY_BOXES_H_
