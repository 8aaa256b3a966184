// SPDX-License-Identifier: Apache-2.0
// Scatters of single elements in the order of their destinations. Updates are read at random, and
// the output in order: once, and by threads that share no cache lines but those at borders.
#ifndef STREW_PREPARED_ELEMENT_ORDER_H_
#define STREW_PREPARED_ELEMENT_ORDER_H_

#include <cstdint>

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"
#include "prepared/plan.h"
#include "prepared/schedule.h"

namespace strew::prepared {

// Strides of a call whose destinations and updates lie on lines.
struct ElementLines {
  int64_t output_stride;   // of destinations
  int64_t updates_stride;  // of entries
};

// True if the CPU has a kernel for it, the entries are not in the order of destinations anyway, and
// the plan's numbers have 32 bits.
bool HasElementKernel(const Call& call, const Plan& plan, const TensorView& output,
                      strew_reduction reduction);

// Finds the lines of a call whose entries have one element of one unit each. Returns false if there
// are none.
bool FindElementLines(const Plan& plan, const TensorView& updates, const TensorView& output,
                      int axis, ElementLines* lines);

// True if data is copied piece by piece, each just before its updates, which then find it in the
// caches.
bool CopiesInPieces(const Call& call, const Plan& plan, const TensorView& data,
                    const TensorView& output, const ElementLines& lines);

// Applies the updates to an output to which data was copied, or to which it is copied in pieces, if
// `data` is not NULL. Fails only if the runner does.
Status ScatterInElementOrder(const Call& call, const Plan& plan, const TensorView* data,
                             const TensorView& updates, const TensorView& output,
                             const ElementLines& lines, const PlanSchedule& schedule);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_ELEMENT_ORDER_H_
