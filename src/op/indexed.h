// SPDX-License-Identifier: Apache-2.0
// Runs a scatter with an index tensor, for the operators that have one.
#ifndef STREW_OP_INDEXED_H_
#define STREW_OP_INDEXED_H_

#include "base/call.h"
#include "base/status.h"
#include "plan/check.h"
#include "plan/entry_loops.h"
#include "plan/index_space.h"
#include "walk/scatter.h"

namespace strew {

// Checks the index values, copies data unless output is data itself, and applies the updates.
// Modifies the index space.
Status RunIndexed(const Call& call, const plan::IndexedArguments& arguments,
                  plan::IndexSpace* space);

// The same for indices that were checked already, and a reduction without needless flags.
Status RunChecked(const Call& call, const walk::Operands& operands, strew_reduction reduction,
                  const plan::Findings& findings, plan::IndexSpace* space);

}  // namespace strew

#endif  // STREW_OP_INDEXED_H_
