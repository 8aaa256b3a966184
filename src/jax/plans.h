// SPDX-License-Identifier: Apache-2.0
// The registry of plans, which XLA programs name by numbers that are never reused. A program
// receives the number in an operand, so that XLA knows how long it needs the plan.
#ifndef STREW_JAX_PLANS_H_
#define STREW_JAX_PLANS_H_

#include <xla/ffi/api/ffi.h>

#include <cstdint>
#include <memory>

#include "strew/strew.h"

namespace strew::jax {

using PlanPointer = std::shared_ptr<const strew_plan>;

// Takes ownership of the plan, and writes its number.
void KeepPlan(strew_plan* plan, xla::ffi::AnyBuffer number);

// nullptr for a plan that has been freed.
PlanPointer PlanOf(xla::ffi::AnyBuffer number);

}  // namespace strew::jax

#endif  // STREW_JAX_PLANS_H_
