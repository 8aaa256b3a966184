// SPDX-License-Identifier: Apache-2.0
// gather_scatter of single elements that takes several short loops as one.
#ifndef STREW_PREPARED_SHORT_LOOPS_H_
#define STREW_PREPARED_SHORT_LOOPS_H_

#include "prepared/entry_pass.h"
#include "prepared/passage.h"

namespace strew::prepared {

// Offsets in the source, the output and the weights form patterns that repeat, so that a block of
// entries takes only as many calls of kernels as a row. Does nothing and returns false if the
// innermost loop is long, or entries are not consecutive. Requires that no entry is dropped, and
// that places are lines in both tensors.
bool PassShortLoops(const EntryPass& pass, const UpdateNest& nest);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_SHORT_LOOPS_H_
