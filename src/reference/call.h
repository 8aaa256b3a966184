// SPDX-License-Identifier: Apache-2.0
//
// Calls any operator, by its row in reference/operator.h.
#ifndef STREW_REFERENCE_CALL_H_
#define STREW_REFERENCE_CALL_H_

#include <cstdint>

#include <strew/strew.h>

#include "reference/operator.h"

namespace strew::reference {

// Lets this namespace and the tests name operators without strew::.
using strew::InfoOf;
using strew::IsSlice;
using strew::NameOf;
using strew::Operator;
using strew::Takes;

// The arguments of all operators. A call reads those of its operator.
struct Arguments {
  const strew_tensor* data = nullptr;
  const strew_tensor* indices = nullptr;
  const strew_tensor* updates = nullptr;
  strew_tensor* output = nullptr;
  int64_t axis = 0;
  strew_reduction reduction = STREW_NONE;
  strew_cache_mode mode = STREW_CACHE_LINEAR;

  // The lists of slice_scatter.
  const strew_tensor* start = nullptr;
  const strew_tensor* stop = nullptr;
  const strew_tensor* step = nullptr;
  const strew_tensor* axes = nullptr;

  // The lists of slice_scatter_int64.
  int64_t count = 0;
  const int64_t* starts = nullptr;
  const int64_t* stops = nullptr;
  const int64_t* steps = nullptr;
  const int64_t* slice_axes = nullptr;

  strew_status Call(Operator op, strew_context* context) const;

  // Makes a plan of the indices for the extents of data, which must have the indexed axes.
  strew_status MakePlan(Operator op, strew_context* context, strew_plan** out) const;
  // Makes the call by this plan.
  strew_status CallBy(const strew_plan* plan, strew_context* context) const;
};

}  // namespace strew::reference

#endif  // STREW_REFERENCE_CALL_H_
