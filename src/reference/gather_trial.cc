// SPDX-License-Identifier: Apache-2.0
#include "reference/gather_trial.h"

#include "reference/gather.h"

namespace strew::reference {
namespace {

strew_status MakeOwnPlan(const Case& c, strew_context* context, Plan* plan) {
  return SetPolicies(c, context) ? MakePlan(c, context, plan) : STREW_INVALID_ARGUMENT;
}

}  // namespace

GatherTrial::GatherTrial(Case& c)
    : case_(c), trial_(c, [&c](const View& source, const View& output) {
        return Gather(c, source, output);
      }) {}

strew_status GatherTrial::Call(const strew_plan* plan, strew_context* context) const {
  return strew_plan_gather(context, plan, case_.data.tensor(), case_.output->tensor());
}

std::string GatherTrial::Trouble(strew_context* context) {
  const auto call = [&] {
    Plan plan;
    const strew_status status = MakeOwnPlan(case_, context, &plan);
    return status == STREW_OK ? Call(plan.get(), context) : status;
  };
  return trial_.TroubleOf(call, context);
}

GatherScatterTrial::GatherScatterTrial(GatherScatterCase& c)
    : case_(c), trial_(c.to, [&c](const View& data, const View& output) {
        return GatherScatter(c.from, c.weights ? &c.weights->view() : nullptr, c.to, data, output);
      }) {
  SetInputsReadOnly(true);
}

GatherScatterTrial::~GatherScatterTrial() { SetInputsReadOnly(false); }

// Protects the inputs besides those of the scatter, or makes them writable again.
void GatherScatterTrial::SetInputsReadOnly(bool read_only) {
  for (Array* input : Inputs(case_.from)) input->buffer().SetReadOnly(read_only);
  case_.from.data.buffer().SetReadOnly(read_only);
  if (case_.weights) case_.weights->buffer().SetReadOnly(read_only);
}

strew_status GatherScatterTrial::Call(const strew_plan* from, const strew_plan* to,
                                      strew_context* context) {
  return strew_plan_gather_scatter(
      context, from, case_.from.data.tensor(), case_.weights ? case_.weights->tensor() : nullptr,
      to, case_.to.data.tensor(), case_.to.reduction, case_.to.destination().tensor());
}

std::string GatherScatterTrial::Trouble(strew_context* context) {
  const auto call = [&] {
    Plan from, to;
    strew_status status = MakeOwnPlan(case_.from, context, &from);
    if (status == STREW_OK) status = MakeOwnPlan(case_.to, context, &to);
    return status == STREW_OK ? Call(from.get(), to.get(), context) : status;
  };
  return trial_.TroubleOf(call, context);
}

}  // namespace strew::reference
