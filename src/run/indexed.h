// SPDX-License-Identifier: Apache-2.0
// Runs a scatter with an index tensor.
#ifndef STREW_RUN_INDEXED_H_
#define STREW_RUN_INDEXED_H_

#include "base/call.h"
#include "base/status.h"
#include "plan/index_space.h"
#include "run/tile.h"

namespace strew::run {

// Checks the indices, copies data where output is not data itself, and applies the updates.
Status Run(const Call& call, const IndexedScatter& scatter, plan::IndexSpace* space);

}  // namespace strew::run

#endif  // STREW_RUN_INDEXED_H_
