// SPDX-License-Identifier: Apache-2.0
#include "python/context.h"

#include <nanobind/stl/optional.h>

#include "base/policy.h"
#include "python/choice.h"
#include "python/error.h"

namespace nb = nanobind;

namespace strew::python {
namespace {

strew_context* Create() {
  strew_context* created = nullptr;
  Check(strew_context_create(&created));
  return created;
}

// One of simd_targets(), or nullptr.
const char* TargetNamed(const nb::str& name) {
  for (std::int32_t i = 0;; ++i) {
    const char* const target = strew_simd_target_at(i);
    if (target == nullptr || IsNamed(name, target)) return target;
  }
}

[[noreturn]] void RaiseUnknownTarget(const nb::str& name) {
  const nb::str sentence("simd_target {!r} is none of simd_targets(): {}");
  const nb::object targets = nb::module_::import_("strew").attr("simd_targets")();
  RaiseStatus(STREW_UNSUPPORTED, nb::str(sentence.format(name, targets)).c_str(), -1);
}

}  // namespace

Context::Use::Use(Context& context) : context_(context) {
  if (context_.busy_.exchange(true)) {
    throw std::runtime_error("the context is in use by a call on another thread");
  }
}

Context::Context() : handle_(Create()) {}

Context::Context(const nb::str& index_policy, bool negative_indices,
                 const nb::str& duplicate_policy, std::int32_t num_threads,
                 const std::optional<nb::str>& simd_target)
    : Context() {
  SetIndexPolicy(index_policy);
  SetNegativeIndices(negative_indices);
  SetDuplicatePolicy(duplicate_policy);
  SetNumThreads(num_threads);
  SetSimdTarget(simd_target);
}

void Context::SetIndexPolicy(const nb::str& name) {
  const Use use(*this);
  const strew_index_policy policy = Choice("index_policy", kIndexPolicyNames, name);
  Check(strew_context_set_index_policy(use.handle(), policy));
  index_policy_ = policy;
}

void Context::SetNegativeIndices(bool wrap) {
  const Use use(*this);
  Check(strew_context_set_negative_indices(use.handle(), wrap ? 1 : 0));
  negative_indices_ = wrap;
}

void Context::SetDuplicatePolicy(const nb::str& name) {
  const Use use(*this);
  const strew_duplicate_policy policy = Choice("duplicate_policy", kDuplicatePolicyNames, name);
  Check(strew_context_set_duplicate_policy(use.handle(), policy));
  duplicate_policy_ = policy;
}

void Context::SetNumThreads(std::int32_t n) {
  const Use use(*this);
  const strew_status status = strew_context_set_num_threads(use.handle(), n);
  if (status == STREW_UNSUPPORTED) {
    RaiseStatus(status, "this build has no threads, so that num_threads must be 1", -1);
  }
  if (status != STREW_OK) {
    RaiseStatus(status, nb::str("num_threads is {}, less than 0").format(n).c_str(), -1);
  }
  num_threads_ = n;
}

void Context::SetSimdTarget(const std::optional<nb::str>& name) {
  const Use use(*this);
  const char* const target = name ? TargetNamed(*name) : nullptr;
  if (name && target == nullptr) RaiseUnknownTarget(*name);
  Check(strew_context_set_simd_target(use.handle(), target));
  simd_target_ = target;
}

const char* Context::IndexPolicy() const { return kIndexPolicyNames[index_policy_]; }

const char* Context::DuplicatePolicy() const { return kDuplicatePolicyNames[duplicate_policy_]; }

std::int64_t Context::Applied() {
  const Use use(*this);
  return strew_context_applied(use.handle());
}

void BindContext(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<Context>(module, "Context",
                      "Settings of calls, and how many updates the last one applied.\n\n"
                      "A context serves one call at a time: RuntimeError otherwise.")
      .def(nb::init<const nb::str&, bool, const nb::str&, std::int32_t,
                    const std::optional<nb::str>&>(),
           nb::kw_only(), "index_policy"_a = "error", "negative_indices"_a = true,
           "duplicate_policy"_a = "last", "num_threads"_a = 1, "simd_target"_a = nb::none(),
           nb::sig("def __init__(self, *, index_policy: IndexPolicy = 'error', "
                   "negative_indices: bool = True, duplicate_policy: DuplicatePolicy = 'last', "
                   "num_threads: int = 1, simd_target: str | None = None) -> None"))
      .def_prop_rw(
          "index_policy", &Context::IndexPolicy, &Context::SetIndexPolicy,
          nb::for_getter(nb::sig("def index_policy(self) -> IndexPolicy")),
          nb::for_setter(nb::sig("def index_policy(self, policy: IndexPolicy, /) -> None")),
          "What happens to an update whose index is out of range: \"error\", \"drop\"\n"
          "(it is skipped) or \"clamp\" (the nearest valid index is taken).")
      .def_prop_rw("negative_indices", &Context::NegativeIndices, &Context::SetNegativeIndices,
                   "Whether -1 is the last; otherwise negative indices are out of range.")
      .def_prop_rw(
          "duplicate_policy", &Context::DuplicatePolicy, &Context::SetDuplicatePolicy,
          nb::for_getter(nb::sig("def duplicate_policy(self) -> DuplicatePolicy")),
          nb::for_setter(nb::sig("def duplicate_policy(self, policy: DuplicatePolicy, /) -> None")),
          "What happens when two updates name one element: \"last\" (they are applied in\n"
          "order) or \"error\".")
      .def_prop_rw("num_threads", &Context::NumThreads, &Context::SetNumThreads,
                   "Threads of a large call, the caller's among them; 0: as many as CPUs.")
      .def_prop_rw("simd_target", &Context::SimdTarget, &Context::SetSimdTarget,
                   nb::for_getter(nb::sig("def simd_target(self) -> str | None")),
                   nb::for_setter(nb::arg().none()), "One of simd_targets(), or None for the best.")
      .def_prop_ro("applied", &Context::Applied,
                   "Elements of updates that the last call applied: fewer than all only with\n"
                   "index_policy \"drop\"; 0 after a failure.");
}

}  // namespace strew::python
