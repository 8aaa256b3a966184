// SPDX-License-Identifier: Apache-2.0
// gather_scatter of rows of a few elements in the order of the entries.
#ifndef STREW_PREPARED_SHORT_ROWS_H_
#define STREW_PREPARED_SHORT_ROWS_H_

#include "prepared/entry_pass.h"
#include "prepared/passage.h"

namespace strew::prepared {

// Rows are the innermost loop: neither plan changes along them. All elements of a block of rows are
// gathered, multiplied and combined together. Requires that no entry is dropped, that places are
// lines in both tensors, and that a row has at most kPassBlock elements.
void PassShortRows(const EntryPass& pass, UpdateNest nest);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_SHORT_ROWS_H_
