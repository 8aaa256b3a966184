// SPDX-License-Identifier: Apache-2.0
//
// The library that tune.py loads, with a tuning table that the caller can change while it runs. In
// addition to the functions of strew.h it exports
//
//   tunable_constant  the name of a constant by number, NULL after the last one, and its value
//   tunable_set       sets the value of a constant
//   tunable_adopt     makes a context use these constants
//   tunable_explain   reports how each part of a call runs, until `tell` is NULL
//   repeat_<operator> repeats a call of an operator, because a call from Python costs more than a
//                     small call of strew
#include "tunable.h"

#include <cstring>
#include <iterator>

#include "api/context.h"
#include "plan/tuning.h"
#include "strew/strew.h"
#include "tuning_fields.h"

#define EXPORTED extern "C" [[gnu::visibility("default")]]

namespace {

using strew_bench::Constant;
using strew_bench::ConstantOf;

strew::plan::Tuning tunable_tuning;

const Constant* ConstantsOfTuning(int32_t* count) {
#define FIELD(name) ConstantOf(#name, &tunable_tuning.name),
  static const Constant constants[] = {TUNING_FIELDS(FIELD)};
#undef FIELD
  static_assert(std::size(constants) * 8 == sizeof(tunable_tuning), "a field is missing");
  *count = static_cast<int32_t>(std::size(constants));
  return constants;
}

// NULL after the last one.
const Constant* ConstantAt(int32_t number) {
  int32_t of_tuning, of_walks;
  const Constant* const tuning = ConstantsOfTuning(&of_tuning);
  const Constant* const walks = strew_bench::ConstantsOfWalks(&of_walks);
  if (number < of_tuning) return tuning + number;
  return number - of_tuning < of_walks ? walks + (number - of_tuning) : nullptr;
}

template <class Function, class... Arguments>
int32_t Repeat(int64_t count, Function function, Arguments... arguments) {
  for (int64_t i = 0; i < count; ++i) {
    const strew_status status = function(arguments...);
    if (status != STREW_OK) return status;
  }
  return STREW_OK;
}

}  // namespace

EXPORTED const char* tunable_constant(int32_t number, double* value) {
  const Constant* const constant = ConstantAt(number);
  if (constant == nullptr) return nullptr;
  *value = constant->real != nullptr ? *constant->real : static_cast<double>(*constant->integer);
  return constant->name;
}

EXPORTED void tunable_set(int32_t number, double value) {
  const Constant* const constant = ConstantAt(number);
  if (constant->real != nullptr) {
    *constant->real = value;
  } else {
    *constant->integer = static_cast<int64_t>(value);
  }
}

EXPORTED void tunable_adopt(strew_context* context) { context->settings.tuning = &tunable_tuning; }

EXPORTED void tunable_explain(strew_context* context, void (*tell)(void*, const char*)) {
  strew::ExplainTo(context, tell, nullptr);
}

EXPORTED int32_t repeat_scatter_elements(int64_t count, strew_context* context,
                                         const strew_tensor* data, const strew_tensor* indices,
                                         const strew_tensor* updates, int64_t axis,
                                         strew_reduction reduction, strew_tensor* output) {
  return Repeat(count, strew_scatter_elements, context, data, indices, updates, axis, reduction,
                output);
}

EXPORTED int32_t repeat_scatter_update(int64_t count, strew_context* context,
                                       const strew_tensor* data, const strew_tensor* indices,
                                       const strew_tensor* updates, int64_t axis,
                                       strew_reduction reduction, strew_tensor* output) {
  return Repeat(count, strew_scatter_update, context, data, indices, updates, axis, reduction,
                output);
}

EXPORTED int32_t repeat_scatter_nd(int64_t count, strew_context* context, const strew_tensor* data,
                                   const strew_tensor* indices, const strew_tensor* updates,
                                   strew_reduction reduction, strew_tensor* output) {
  return Repeat(count, strew_scatter_nd, context, data, indices, updates, reduction, output);
}

EXPORTED int32_t repeat_slice_scatter_int64(int64_t count, strew_context* context,
                                            const strew_tensor* data, const strew_tensor* updates,
                                            int64_t axes_count, const int64_t* start,
                                            const int64_t* stop, const int64_t* step,
                                            const int64_t* axes, strew_reduction reduction,
                                            strew_tensor* output) {
  return Repeat(count, strew_slice_scatter_int64, context, data, updates, axes_count, start, stop,
                step, axes, reduction, output);
}

EXPORTED int32_t repeat_plan_scatter(int64_t count, strew_context* context, const strew_plan* plan,
                                     const strew_tensor* data, const strew_tensor* updates,
                                     strew_reduction reduction, strew_tensor* output) {
  return Repeat(count, strew_plan_scatter, context, plan, data, updates, reduction, output);
}

EXPORTED int32_t repeat_plan_gather(int64_t count, strew_context* context, const strew_plan* plan,
                                    const strew_tensor* source, strew_tensor* output) {
  return Repeat(count, strew_plan_gather, context, plan, source, output);
}

EXPORTED int32_t repeat_plan_gather_scatter(int64_t count, strew_context* context,
                                            const strew_plan* from, const strew_tensor* source,
                                            const strew_tensor* weights, const strew_plan* to,
                                            const strew_tensor* data, strew_reduction reduction,
                                            strew_tensor* output) {
  return Repeat(count, strew_plan_gather_scatter, context, from, source, weights, to, data,
                reduction, output);
}
