// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_PLAN_H_
#define STREW_PYTHON_PLAN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "reference/operator.h"
#include "python/context.h"
#include "python/operand.h"
#include "python/shape.h"
#include "strew/strew.h"

namespace strew::python {

struct DestroyPlan {
  void operator()(strew_plan* plan) const { strew_plan_destroy(plan); }
};

// The operator whose indices a plan has, and the axes of data that they name: one axis, or for
// scatter_nd one for each extent.
struct PlannedAxes {
  Operator op;
  std::int64_t axis;
  Shape extents;
};

// strew.Plan: a plan, and the arguments that it was made from, which the C API does not return.
class Plan {
 public:
  // Throws strew.Error.
  Plan(PlannedAxes axes, nanobind::handle indices, Context* context);

  const strew_plan* handle() const { return handle_.get(); }
  std::int64_t Entries() const { return strew_plan_entries(handle()); }
  std::int64_t Dropped() const { return strew_plan_dropped(handle()); }
  std::size_t Memory() const { return strew_plan_memory(handle()); }
  std::string Repr() const;

  NamedAxes named() const { return {axes_.op, axes_.axis, axes_.extents.size()}; }
  const Shape& indices_shape() const { return indices_shape_; }

 private:
  PlannedAxes axes_;
  Shape indices_shape_;
  std::unique_ptr<strew_plan, DestroyPlan> handle_;
};

void BindPlan(nanobind::module_& module);

}  // namespace strew::python

#endif  // STREW_PYTHON_PLAN_H_
