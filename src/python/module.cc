// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>

#include "reference/operator.h"
#include "base/policy.h"
#include "python/call.h"
#include "python/choice.h"
#include "python/context.h"
#include "python/documentation.h"
#include "python/operand.h"
#include "python/plan.h"
#include "python/reduction.h"
#include "python/torch.h"
#include "strew/strew.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace strew::python {
namespace {

nb::object ScatterElements(nb::handle data, nb::handle indices, nb::handle updates,
                           std::int64_t axis, const nb::str& reduction, bool exclude_self,
                           bool wide, nb::handle out, Context* context) {
  const strew_reduction code = ReductionCode(reduction, exclude_self, wide);
  Call call(data, updates, out);
  const Operand places = IndexOperand(indices);
  call.BroadcastUpdates({Operator::kScatterElements, axis, 1}, DimsOf(places));
  return call.Finish(context, [&](strew_context* with, strew_tensor* output) {
    return strew_scatter_elements(with, call.data(), places.tensor.get(), call.updates(), axis,
                                  code, output);
  });
}

nb::object ScatterNd(nb::handle data, nb::handle indices, nb::handle updates,
                     const nb::str& reduction, bool exclude_self, bool wide, nb::handle out,
                     Context* context) {
  const strew_reduction code = ReductionCode(reduction, exclude_self, wide);
  Call call(data, updates, out);
  const Operand places = IndexOperand(indices);
  const Dims tuples = DimsOf(places);
  const std::size_t components =
      tuples.rank == 0 ? 0 : static_cast<std::size_t>(tuples.dims[tuples.rank - 1]);
  call.BroadcastUpdates({Operator::kScatterNd, 0, components}, tuples);
  return call.Finish(context, [&](strew_context* with, strew_tensor* output) {
    return strew_scatter_nd(with, call.data(), places.tensor.get(), call.updates(), code, output);
  });
}

nb::object ScatterUpdate(nb::handle data, nb::handle indices, nb::handle updates, std::int64_t axis,
                         const nb::str& reduction, bool exclude_self, bool wide, nb::handle out,
                         Context* context) {
  const strew_reduction code = ReductionCode(reduction, exclude_self, wide);
  Call call(data, updates, out);
  const Operand places = IndexOperand(indices);
  call.BroadcastUpdates({Operator::kScatterUpdate, axis, 1}, DimsOf(places));
  return call.Finish(context, [&](strew_context* with, strew_tensor* output) {
    return strew_scatter_update(with, call.data(), places.tensor.get(), call.updates(), axis, code,
                                output);
  });
}

nb::object SliceScatter(nb::handle data, nb::handle updates, nb::handle start, nb::handle stop,
                        nb::handle step, nb::handle axes, const nb::str& reduction,
                        bool exclude_self, bool wide, nb::handle out, Context* context) {
  const strew_reduction code = ReductionCode(reduction, exclude_self, wide);
  Call call(data, updates, out);
  const Operand starts = NumbersOperand(start);
  const Operand stops = NumbersOperand(stop);
  const Operand steps =
      step.is_none() ? OnesOperand(strew_tensor_size(starts.tensor.get())) : NumbersOperand(step);
  const Operand sliced = axes.is_none() ? Operand() : NumbersOperand(axes);
  return call.Finish(context, [&](strew_context* with, strew_tensor* output) {
    return strew_slice_scatter(with, call.data(), call.updates(), starts.tensor.get(),
                               stops.tensor.get(), steps.tensor.get(), sliced.tensor.get(), code,
                               output);
  });
}

nb::object TensorScatter(nb::handle past_cache, nb::handle update, nb::handle write_indices,
                         std::int64_t axis, const nb::str& mode, nb::handle out, Context* context) {
  const strew_cache_mode code = Choice("mode", kCacheModeNames, mode);
  Call call(past_cache, update, out);
  const Operand places = write_indices.is_none() ? Operand() : IndexOperand(write_indices);
  return call.Finish(context, [&](strew_context* with, strew_tensor* output) {
    return strew_tensor_scatter(with, call.data(), call.updates(), places.tensor.get(), axis, code,
                                output);
  });
}

// Defines a function of the package, with the name and the description of the operator.
// `parameters` and `own` come before those that all have: reduction, if the operator has one, out
// and context.
template <Operator kOperator, typename Function, typename... Own>
void Define(nb::module_& module, Function function, const char* details, const char* parameters,
            const Own&... own) {
  constexpr const OperatorInfo& info = InfoOf(kOperator);
  constexpr bool reduces = Takes(kOperator, "reduction");
  const std::string signature = std::string("def ") + info.name + "(" + parameters +
                                (reduces ? kReductionSignature : "") + kOutSignature;
  const std::string documentation = std::string(info.summary) + ":\n\n" + details;
  const auto define = [&](const auto&... more) {
    module.def(info.name, function, own..., more..., "out"_a = nb::none(), "context"_a = nb::none(),
               nb::sig(signature.c_str()), documentation.c_str());
  };
  if constexpr (reduces) {
    define("reduction"_a = "none", "exclude_self"_a = false, "wide"_a = false);
  } else {
    define();
  }
}

nb::tuple SimdTargets() {
  nb::list targets;
  for (std::int32_t i = 0; strew_simd_target_at(i) != nullptr; ++i) {
    targets.append(strew_simd_target_at(i));
  }
  return nb::tuple(targets);
}

}  // namespace
}  // namespace strew::python

NB_MODULE(_strew, module) {
  using namespace strew::python;
  using strew::Operator;
  // Daemon threads hold objects when the program ends; its user cannot fix that leak.
  nb::set_leak_warnings(false);
  module.def("version", &strew_version, nb::sig("def version() -> str"), kVersion);
  module.def("simd_targets", &SimdTargets, nb::sig("def simd_targets() -> tuple[str, ...]"),
             kSimdTargets);
  BindContext(module);
  BindPlan(module);
  BindTorchCalls(module);
  const auto none = nb::none();
  Define<Operator::kScatterElements>(
      module, &ScatterElements, kScatterElements,
      "data: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, *, ",  //
      "data"_a, "indices"_a, "updates"_a, "axis"_a = 0, nb::kw_only());
  Define<Operator::kScatterNd>(module, &ScatterNd, kScatterNd,
                               "data: Tensor, indices: Tensor, updates: Tensor, *, ",  //
                               "data"_a, "indices"_a, "updates"_a, nb::kw_only());
  Define<Operator::kScatterUpdate>(
      module, &ScatterUpdate, kScatterUpdate,
      "data: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, *, ",  //
      "data"_a, "indices"_a, "updates"_a, "axis"_a = 0, nb::kw_only());
  Define<Operator::kSliceScatter>(module, &SliceScatter, kSliceScatter,
                                  "data: Tensor, updates: Tensor, start: Numbers, stop: Numbers, "
                                  "step: Numbers | None = None, axes: Numbers | None = None, *, ",
                                  "data"_a, "updates"_a, "start"_a, "stop"_a, "step"_a = none,
                                  "axes"_a = none, nb::kw_only());
  Define<Operator::kTensorScatter>(
      module, &TensorScatter, kTensorScatter,
      "past_cache: Tensor, update: Tensor, write_indices: Tensor | None = None, axis: int = -2, *, "
      "mode: CacheMode = 'linear', ",
      "past_cache"_a, "update"_a, "write_indices"_a = none, "axis"_a = -2, nb::kw_only(),
      "mode"_a = "linear");
}
