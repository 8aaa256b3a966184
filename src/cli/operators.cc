// SPDX-License-Identifier: Apache-2.0
#include "cli/operators.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/policy.h"
#include "base/reduction.h"
#include "reference/case.h"
#include "reference/operator_help.h"

namespace strew::cli {
namespace {

// The value in strew.h of a name in this list.
template <std::size_t kCount>
std::int32_t CodeOf(const char* const (&names)[kCount], const std::string& name) {
  return static_cast<std::int32_t>(std::find(names, names + kCount, name) - names);
}

template <std::size_t kCount>
std::vector<std::string> ListOf(const char* const (&names)[kCount]) {
  return {names, names + kCount};
}

strew_reduction ReductionCode(const Options& options) {
  const strew_reduction code = CodeOf(kReductionNames, options.reduction);
  return code | (options.exclude_self ? STREW_EXCLUDE_SELF : 0) | (options.wide ? STREW_WIDE : 0);
}

// "1,-2,3"; false for anything else.
bool ParseIntegers(std::string_view text, std::vector<std::int64_t>& integers) {
  const char* next = text.data();
  const char* const end = next + text.size();
  while (true) {
    std::int64_t integer = 0;
    const auto [stop, error] = std::from_chars(next, end, integer);
    if (error != std::errc()) return false;
    integers.push_back(integer);
    if (stop == end) return true;
    if (*stop != ',') return false;
    next = stop + 1;
  }
}

// One argument, and not a vector of CLI11, which would consume the file names after it.
CLI::Option* AddIntegers(CLI::App& command, const std::string& name,
                         std::vector<std::int64_t>& integers, const std::string& description) {
  const auto set = [name, &integers](const std::string& text) {
    if (ParseIntegers(text, integers)) return;
    throw CLI::ValidationError(name, "'" + text + "' is not a list of integers such as 1,-2");
  };
  return command.add_option_function<std::string>(name, set, description)->option_text("INT,...");
}

// CLI11 2.1 silently replaces an integer that does not fit by the nearest one that does.
void AddInteger(CLI::App& command, const std::string& name, std::int64_t& integer,
                const std::string& description) {
  const auto set = [name, &integer](const std::string& text) {
    std::vector<std::int64_t> integers;
    if (!ParseIntegers(text, integers) || integers.size() != 1) {
      throw CLI::ValidationError(name, "'" + text + "' is not an integer");
    }
    integer = integers[0];
  };
  command.add_option_function<std::string>(name, set, description)->option_text("INT");
}

// The first axis of a cache is that of the batch, so that 0 cannot be the default.
void DeclareAxis(CLI::App& command, Operator op, Options& options) {
  const bool is_cache = Takes(op, "mode");
  AddInteger(
      command, "--axis", options.axis,
      is_cache ? "Axis of the positions; required" : "Axis of data that the indices run along [0]");
  command.get_option("--axis")->required(is_cache);
}

void RequireLengthOfStart(const std::string& name, const std::vector<std::int64_t>& integers,
                          const Options& options) {
  if (integers.size() == options.start.size()) return;
  throw CLI::ValidationError(name, std::to_string(integers.size()) + " given, but " +
                                       std::to_string(options.start.size()) + " for --start");
}

void DeclareSlices(CLI::App& command, Options& options) {
  AddIntegers(command, "--start", options.start, "First position on each axis; required")
      ->required();
  AddIntegers(command, "--stop", options.stop, "End on each axis, exclusive; required")->required();
  AddIntegers(command, "--step", options.step, "Step on each axis [1,1,...]");
  AddIntegers(command, "--axes", options.axes, "The axes [0,1,...]");
  command.callback([&options] {
    if (options.step.empty()) options.step.assign(options.start.size(), 1);
    RequireLengthOfStart("--stop", options.stop, options);
    RequireLengthOfStart("--step", options.step, options);
    if (!options.axes.empty()) RequireLengthOfStart("--axes", options.axes, options);
  });
}

// In the terms of the command: formula, shapes, and a call.
struct Help {
  Operator op;
  const char* formula;
  const char* example;
};
constexpr Help kHelp[] = {
    {Operator::kScatterElements, STREW_SCATTER_ELEMENTS_HELP,
     "scatter-elements matrix.npy columns.npy tens.npy --axis 1 --reduction add"},
    {Operator::kScatterNd, STREW_SCATTER_ND_HELP,
     "scatter-nd data.npy indices.npy updates.npy -o output.npy"},
    {Operator::kScatterUpdate, STREW_SCATTER_UPDATE_HELP,
     "scatter-update table.npy tokens.npy gradients.npy --reduction add -o sums.npy"},
    {Operator::kSliceScatter, STREW_SLICE_SCATTER_HELP,
     "slice-scatter matrix.npy tens.npy --start -1 --stop 0 --step -2 --axes 1"},
    {Operator::kTensorScatter,
     STREW_TENSOR_SCATTER_HELP
     "Positions beyond m are an error, or with --circular taken modulo m.\n",
     "tensor-scatter cache.npy starts.npy new.npy --axis 2 --circular -o cache.npy"},
};

}  // namespace

std::string HelpOf(Operator op) {
  for (const Help& help : kHelp) {
    if (help.op != op) continue;
    const char* const sign = Takes(op, "reduction") ? "(+) is the reduction. " : "";
    return std::string(help.formula) + "\n" + sign + "For example:\n\n    strew " + help.example +
           "\n";
  }
  return "";
}

std::vector<Operator> CommandOperators() {
  std::vector<Operator> operators;
  for (const OperatorInfo& info : kOperators) {
    if (info.op != Operator::kSliceScatterInt64) operators.push_back(info.op);
  }
  return operators;
}

bool HasPlans(Operator op) {
  const std::vector<Operator>& planned = reference::PlannedOperators();
  return std::find(planned.begin(), planned.end(), op) != planned.end();
}

std::string CommandName(Operator op) {
  std::string name = NameOf(op);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

void DeclareAttributes(CLI::App& command, Operator op, Options& options) {
  if (Takes(op, "axis")) DeclareAxis(command, op, options);
  if (Takes(op, "mode")) {
    command.add_flag("--circular", options.circular,
                     "Go on from position 0 at the end of the cache");
  }
  if (IsSlice(op)) DeclareSlices(command, options);
}

reference::Arguments AttributesOf(const Options& options) {
  reference::Arguments arguments;
  arguments.axis = options.axis;
  arguments.reduction = ReductionCode(options);
  arguments.mode = options.circular ? STREW_CACHE_CIRCULAR : STREW_CACHE_LINEAR;
  arguments.count = static_cast<std::int64_t>(options.start.size());
  arguments.starts = options.start.data();
  arguments.stops = options.stop.data();
  arguments.steps = options.step.data();
  arguments.slice_axes = options.axes.empty() ? nullptr : options.axes.data();
  return arguments;
}

Operator Called(Operator op) {
  return op == Operator::kSliceScatter ? Operator::kSliceScatterInt64 : op;
}

std::vector<std::string> ReductionNames() { return ListOf(kReductionNames); }
std::vector<std::string> IndexPolicyNames() { return ListOf(kIndexPolicyNames); }
std::vector<std::string> DuplicatePolicyNames() { return ListOf(kDuplicatePolicyNames); }

strew_index_policy IndexPolicyCode(const std::string& name) {
  return CodeOf(kIndexPolicyNames, name);
}
strew_duplicate_policy DuplicatePolicyCode(const std::string& name) {
  return CodeOf(kDuplicatePolicyNames, name);
}

std::vector<std::string> SimdTargets() {
  std::vector<std::string> targets;
  for (std::int32_t i = 0; strew_simd_target_at(i) != nullptr; ++i) {
    targets.emplace_back(strew_simd_target_at(i));
  }
  return targets;
}

}  // namespace strew::cli
