// SPDX-License-Identifier: Apache-2.0
#include "python/plan.h"

#include <string>
#include <utility>

#include <nanobind/stl/string.h>

#include "python/call.h"
#include "python/documentation.h"
#include "python/error.h"
#include "python/plan_documentation.h"
#include "python/reduction.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace strew::python {
namespace {

// The C API reads one extent for each number of a tuple. Indices of rank 0 are left for it to
// refuse.
void RequireExtents(const Shape& extents, const Shape& indices) {
  const auto count = static_cast<std::int64_t>(extents.size());
  if (indices.empty() || indices.back() == count) return;
  const nb::str sentence("extents has {} numbers, but a tuple of indices has {}");
  RaiseStatus(STREW_INVALID_SHAPE, nb::str(sentence.format(count, indices.back())).c_str(), -1);
}

std::string Text(const Shape& shape) {
  std::string text;
  for (const std::int64_t dim : shape) text += (text.empty() ? "" : ",") + std::to_string(dim);
  return "[" + text + "]";
}

strew_status Create(strew_context* context, const PlannedAxes& axes, const strew_tensor* indices,
                    strew_plan** out) {
  if (axes.op == Operator::kScatterNd) {
    return strew_plan_scatter_nd(context, indices, axes.extents.data(), out);
  }
  const bool is_elements = axes.op == Operator::kScatterElements;
  const auto create = is_elements ? strew_plan_scatter_elements : strew_plan_scatter_update;
  return create(context, indices, axes.axis, axes.extents.front(), out);
}

}  // namespace

Plan::Plan(PlannedAxes axes, nb::handle indices, Context* context) : axes_(std::move(axes)) {
  const Operand places = IndexOperand(indices);
  indices_shape_ = ShapeOf(DimsOf(places));
  if (axes_.op == Operator::kScatterNd) RequireExtents(axes_.extents, indices_shape_);
  strew_plan* created = nullptr;
  RunWith(context,
          [&](strew_context* with) { return Create(with, axes_, places.tensor.get(), &created); });
  handle_.reset(created);
}

std::string Plan::Repr() const {
  std::string text =
      std::string("<strew.Plan of ") + NameOf(axes_.op) + ": indices " + Text(indices_shape_);
  if (axes_.op == Operator::kScatterNd) {
    text += ", extents " + Text(axes_.extents);
  } else {
    text += ", axis " + std::to_string(axes_.axis) + " of " +
            std::to_string(axes_.extents.front()) + " elements";
  }
  return text + "; " + std::to_string(Entries()) + " entries, " + std::to_string(Dropped()) +
         " dropped, " + std::to_string(Memory()) + " bytes>";
}

namespace {

// ---- The functions of the package ----

Plan PlanScatterElements(nb::handle indices, std::int64_t extent, std::int64_t axis,
                         Context* context) {
  return Plan({Operator::kScatterElements, axis, {extent}}, indices, context);
}

Plan PlanScatterNd(nb::handle indices, nb::handle extents, Context* context) {
  return Plan({Operator::kScatterNd, 0, Numbers(extents)}, indices, context);
}

Plan PlanScatterUpdate(nb::handle indices, std::int64_t extent, std::int64_t axis,
                       Context* context) {
  return Plan({Operator::kScatterUpdate, axis, {extent}}, indices, context);
}

nb::object Scatter(const Plan& plan, nb::handle data, nb::handle updates, const nb::str& reduction,
                   bool exclude_self, bool wide, nb::handle out, Context* context) {
  const strew_reduction code = ReductionCode(reduction, exclude_self, wide);
  Call call(data, updates, out);
  call.BroadcastUpdates(plan.named(), DimsOf(plan.indices_shape()));
  return call.Finish(context, [&](strew_context* with, strew_tensor* output) {
    return strew_plan_scatter(with, plan.handle(), call.data(), call.updates(), code, output);
  });
}

nb::object Gather(const Plan& plan, nb::handle source, nb::handle out, Context* context) {
  const Operand from = ReadOperand(source);
  const auto given = [&] {
    const Contents contents = plan.Dropped() == 0 ? Contents::kAny : Contents::kZeros;
    return NewArray(source, from,
                    UpdatesShape(plan.named(), DimsOf(plan.indices_shape()), DimsOf(from)),
                    contents);
  };
  nb::object to = out.is_none() ? given() : nb::borrow(out);
  const Operand output = WriteOperand(to);
  RequireSameDtype({"source", from}, {"out", output});
  RunWith(context, [&](strew_context* with) {
    return strew_plan_gather(with, plan.handle(), from.tensor.get(), output.tensor.get());
  });
  if (out.is_none()) return Finished(source, to);
  NoteWrite(output, to);
  return to;
}

nb::object GatherScatter(const Plan& from, nb::handle source, const Plan& to, nb::handle data,
                         nb::handle weights, const nb::str& reduction, bool exclude_self, bool wide,
                         nb::handle out, Context* context) {
  const strew_reduction code = ReductionCode(reduction, exclude_self, wide);
  const Given rows = {"source", source};
  Call call =
      weights.is_none() ? Call(data, {rows}, out) : Call(data, {rows, {"weights", weights}}, out);
  return call.Finish(context, [&](strew_context* with, strew_tensor* output) {
    return strew_plan_gather_scatter(with, from.handle(), call.other(0), call.other(1), to.handle(),
                                     call.data(), code, output);
  });
}

[[noreturn]] void RefusePickling(const Plan&) {
  throw nb::type_error("a Plan cannot be pickled: make it from its indices where it is needed");
}

void BindMethods(nb::class_<Plan>& type) {
  const std::string scatter = std::string("def scatter(self, data: Tensor, updates: Tensor, *, ") +
                              kReductionSignature + kOutSignature;
  const std::string gather = std::string("def gather(self, source: Tensor, *, ") + kOutSignature;
  type.def("scatter", &Scatter, "data"_a, "updates"_a, nb::kw_only(), "reduction"_a = "none",
           "exclude_self"_a = false, "wide"_a = false, "out"_a = nb::none(),
           "context"_a = nb::none(), nb::sig(scatter.c_str()), kPlanScatter)
      .def("gather", &Gather, "source"_a, nb::kw_only(), "out"_a = nb::none(),
           "context"_a = nb::none(), nb::sig(gather.c_str()), kPlanGather)
      .def_prop_ro("entries", &Plan::Entries,
                   "The number of index values or, of scatter_nd, of tuples.")
      .def_prop_ro("dropped", &Plan::Dropped,
                   "The entries that index_policy \"drop\" skips in every call.")
      .def_prop_ro("memory", &Plan::Memory,
                   "The bytes that the plan has: at most 24 for each entry, and 64 KiB.")
      .def("__repr__", &Plan::Repr)
      .def("__reduce__", &RefusePickling, nb::sig("def __reduce__(self) -> NoReturn"));
}

}  // namespace

void BindPlan(nb::module_& module) {
  nb::class_<Plan> type(module, "Plan", nb::is_weak_referenceable(), kPlan);
  BindMethods(type);
  const auto none = nb::none();
  module.def("plan_scatter_elements", &PlanScatterElements, "indices"_a, "extent"_a, "axis"_a = 0,
             nb::kw_only(), "context"_a = none,
             nb::sig("def plan_scatter_elements(indices: Tensor, extent: int, axis: int = 0, *, "
                     "context: Context | None = None) -> Plan"),
             kPlanScatterElements);
  module.def("plan_scatter_nd", &PlanScatterNd, "indices"_a, "extents"_a, nb::kw_only(),
             "context"_a = none,
             nb::sig("def plan_scatter_nd(indices: Tensor, extents: Numbers, *, "
                     "context: Context | None = None) -> Plan"),
             kPlanScatterNd);
  module.def("plan_scatter_update", &PlanScatterUpdate, "indices"_a, "extent"_a, "axis"_a = 0,
             nb::kw_only(), "context"_a = none,
             nb::sig("def plan_scatter_update(indices: Tensor, extent: int, axis: int = 0, *, "
                     "context: Context | None = None) -> Plan"),
             kPlanScatterUpdate);
  std::string signature = std::string("def gather_scatter(from_plan: Plan, source: Tensor, ") +
                          "to_plan: Plan, data: Tensor, weights: Tensor | None = None, *, " +
                          kReductionSignature + kOutSignature;
  signature.replace(signature.find("'none'"), 6, "'add'");
  module.def("gather_scatter", &GatherScatter, "from_plan"_a, "source"_a, "to_plan"_a, "data"_a,
             "weights"_a = none, nb::kw_only(), "reduction"_a = "add", "exclude_self"_a = false,
             "wide"_a = false, "out"_a = none, "context"_a = none, nb::sig(signature.c_str()),
             kGatherScatter);
}

}  // namespace strew::python
