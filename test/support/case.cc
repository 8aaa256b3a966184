// SPDX-License-Identifier: Apache-2.0
#include "case.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "arithmetic.h"
#include "dtypes.h"
#include "indices.h"
#include "targets.h"

namespace strew_test {
namespace {

using Bytes = std::vector<unsigned char>;

Dims Values(const std::optional<Array>& array) {
  return array ? ReadIndices(array->view()) : Dims();
}

strew_status CallSliceScatterInt64(const Case& c, strew_context* context, strew_tensor* output) {
  const Dims start = Values(c.start), stop = Values(c.stop), step = Values(c.step);
  const Dims axes = Values(c.axes);
  return strew_slice_scatter_int64(
      context, c.data.tensor(), c.updates.tensor(), static_cast<int64_t>(start.size()),
      start.data(), stop.data(), step.data(), c.axes ? axes.data() : nullptr, c.reduction, output);
}

std::vector<Array*> Inputs(Case& c) {
  std::vector<Array*> inputs = {&c.updates};
  if (c.output) inputs.push_back(&c.data);
  for (std::optional<Array>* array : {&c.indices, &c.start, &c.stop, &c.step, &c.axes}) {
    if (*array) inputs.push_back(&**array);
  }
  return inputs;
}

// What the destination holds before every call, and what the oracle says of it after the call.
struct Expectation {
  Bytes before;
  Bytes after;
  Outcome outcome;
};

Expectation MakeExpectation(Case& c) {
  Expectation expectation;
  expectation.before = c.destination().Snapshot();
  expectation.after = expectation.before;
  const View output = c.destination().ViewOf(expectation.after.data());
  expectation.outcome = Expect(c, c.output ? c.data.view() : output, output);
  return expectation;
}

// The destination's bytes, with the payload of NaNs that a reduction made taken from the oracle.
Bytes ForgivingSnapshot(Case& c, Expectation& expectation) {
  Bytes actual = c.destination().Snapshot();
  if (actual == expectation.after || c.reduction == STREW_NONE) return actual;
  const View ours = c.destination().ViewOf(actual.data());
  const View oracles = c.destination().ViewOf(expectation.after.data());
  size_t position = 0;
  ForEachIndex(ours.shape(), [&](const Dims& i) {
    if (position < expectation.outcome.reduced.size() && expectation.outcome.reduced[position]) {
      ForgiveNanPayload(ours.dtype, oracles.At(i), ours.At(i));
    }
    ++position;
  });
  return actual;
}

std::string Hex(const unsigned char* bytes, size_t size) {
  std::ostringstream text;
  for (size_t i = 0; i < std::min<size_t>(size, 16); ++i) {
    text << std::hex << (i > 0 ? " " : "") << static_cast<int>(bytes[i]);
  }
  return text.str();
}

// "" where the bytes agree.
std::string DifferentBytes(Case& c, Expectation& expectation) {
  const Bytes actual = ForgivingSnapshot(c, expectation);
  if (actual == expectation.after) return "";
  const auto differ = std::mismatch(actual.begin(), actual.end(), expectation.after.begin()).first;
  const size_t width = WidthOf(c.data.dtype());
  const size_t slot = static_cast<size_t>(differ - actual.begin()) / width;
  std::ostringstream text;
  text << "slot " << slot << " of " << actual.size() / width << " holds "
       << Hex(&actual[slot * width], width) << ", expected "
       << Hex(&expectation.after[slot * width], width) << ", before the call "
       << Hex(&expectation.before[slot * width], width) << "\n";
  return text.str();
}

// "" where the report of the last call is as it should be.
std::string WrongReport(const strew_context* context, const Outcome& outcome) {
  std::ostringstream text;
  const std::string error = strew_context_error(context);
  const bool contained = error.find(outcome.error) != std::string::npos;
  if (outcome.status == STREW_OK ? !error.empty() : !contained) {
    text << "error text '" << error << "', expected '" << outcome.error << "'\n";
  }
  if (strew_context_error_position(context) != outcome.error_position) {
    text << "position " << strew_context_error_position(context) << ", expected "
         << outcome.error_position << "\n";
  }
  if (strew_context_applied(context) != outcome.applied) {
    text << "applied " << strew_context_applied(context) << ", expected " << outcome.applied
         << "\n";
  }
  return text.str();
}

// "" where the call does what the oracle says.
std::string Trouble(Case& c, Expectation& expectation, strew_context* context,
                    strew_tensor* output) {
  c.destination().Restore(expectation.before);
  const strew_status status = Call(c, context, output);
  std::string trouble;
  if (status != expectation.outcome.status) {
    trouble += std::string(strew_status_name(status)) + ", expected " +
               strew_status_name(expectation.outcome.status) + ": " + strew_context_error(context) +
               "\n";
  }
  trouble += DifferentBytes(c, expectation);
  if (!c.destination().buffer().IsMarginIntact()) trouble += "wrote outside of the output\n";
  if (context != nullptr) trouble += WrongReport(context, expectation.outcome);
  return trouble;
}

bool Report(const Case& c, const std::string& where, const std::string& trouble) {
  if (trouble.empty()) return true;
  ADD_FAILURE() << where << ": " << trouble << Describe(c);
  return false;
}

// The target's context with the settings of the case.
strew_context* Prepare(const Target& target, const Case& c) {
  strew_context* context = target.context.get();
  EXPECT_EQ(strew_context_set_negative_indices(context, c.wrap ? 1 : 0), STREW_OK);
  EXPECT_EQ(strew_context_set_index_policy(context, c.policy), STREW_OK);
  EXPECT_EQ(strew_context_set_duplicate_policy(context, c.duplicates), STREW_OK);
  return context;
}

bool CheckTargets(Case& c, Expectation& expectation) {
  for (const Target& target : Targets()) {
    strew_context* context = Prepare(target, c);
    const std::string trouble = Trouble(c, expectation, context, c.destination().tensor());
    if (!Report(c, target.name, trouble)) return false;
  }
  return true;
}

bool HasDefaultPolicies(const Case& c) {
  return c.wrap && c.policy == STREW_INDEX_ERROR && c.duplicates == STREW_DUPLICATE_LAST;
}

// In place means the same memory, not the same descriptor: this one is another, and the strides of
// its dims <= 1, which say nothing, are others too.
bool CheckWithoutContext(Case& c, Expectation& expectation) {
  if (!HasDefaultPolicies(c)) return true;
  const View& view = c.destination().view();
  Layout layout = view.layout;
  for (size_t axis = 0; axis < layout.shape.size(); ++axis) {
    if (layout.shape[axis] <= 1) layout.strides[axis] += 12345;
  }
  const Tensor twin = MakeTensor(view.dtype, layout, view.origin);
  return Report(c, "no context", Trouble(c, expectation, nullptr, twin.get()));
}

std::string DescribePolicies(const Case& c) {
  std::string text = c.wrap ? "" : " without wrap";
  if (c.policy == STREW_INDEX_DROP) text += " drop";
  if (c.policy == STREW_INDEX_CLAMP) text += " clamp";
  if (c.duplicates == STREW_DUPLICATE_ERROR) text += " without duplicates";
  return text;
}

std::string Describe(const char* name, const Array& array) {
  const View& view = array.view();
  const auto address = reinterpret_cast<uintptr_t>(view.origin);
  return std::string("\n  ") + name + " " + TestName(Find(view.dtype)) + " shape " +
         ToString(view.shape()) + " strides " + ToString(view.layout.strides) + " at " +
         std::to_string(address % 64) + " modulo 64";
}

std::string Describe(const char* name, const std::optional<Array>& indices) {
  if (!indices) return "";
  std::string text = Describe(name, *indices);
  if (Product(indices->shape()) <= 32) text += " values " + ToString(Values(indices));
  return text;
}

}  // namespace

const std::vector<Operator>& Operators() {
  static const std::vector<Operator> operators = {
      Operator::kScatterElements,   Operator::kScatterNd,     Operator::kSliceScatter,
      Operator::kSliceScatterInt64, Operator::kScatterUpdate, Operator::kTensorScatter};
  return operators;
}

const char* NameOf(Operator op) {
  switch (op) {
    case Operator::kScatterElements:
      return "scatter_elements";
    case Operator::kScatterNd:
      return "scatter_nd";
    case Operator::kSliceScatter:
      return "slice_scatter";
    case Operator::kSliceScatterInt64:
      return "slice_scatter_int64";
    case Operator::kScatterUpdate:
      return "scatter_update";
    case Operator::kTensorScatter:
      return "tensor_scatter";
  }
  return "?";
}

bool IsSlice(Operator op) {
  return op == Operator::kSliceScatter || op == Operator::kSliceScatterInt64;
}

strew_status Call(const Case& c, strew_context* context, strew_tensor* output) {
  switch (c.op) {
    case Operator::kScatterElements:
      return strew_scatter_elements(context, c.data.tensor(), c.indices->tensor(),
                                    c.updates.tensor(), c.axis, c.reduction, output);
    case Operator::kScatterNd:
      return strew_scatter_nd(context, c.data.tensor(), c.indices->tensor(), c.updates.tensor(),
                              c.reduction, output);
    case Operator::kSliceScatter:
      return strew_slice_scatter(context, c.data.tensor(), c.updates.tensor(), c.start->tensor(),
                                 c.stop->tensor(), c.step->tensor(),
                                 c.axes ? c.axes->tensor() : nullptr, c.reduction, output);
    case Operator::kSliceScatterInt64:
      return CallSliceScatterInt64(c, context, output);
    case Operator::kScatterUpdate:
      return strew_scatter_update(context, c.data.tensor(), c.indices->tensor(), c.updates.tensor(),
                                  c.axis, c.reduction, output);
    default:
      return strew_tensor_scatter(context, c.data.tensor(), c.updates.tensor(),
                                  c.indices ? c.indices->tensor() : nullptr, c.axis, c.mode,
                                  output);
  }
}

Outcome Expect(const Case& c, const View& data, const View& output) {
  switch (c.op) {
    case Operator::kScatterElements:
      return ScatterElements(data, c.indices->view(), c.updates.view(), c.axis, c.rules(), output);
    case Operator::kScatterNd:
      return ScatterNd(data, c.indices->view(), c.updates.view(), c.rules(), output);
    case Operator::kScatterUpdate:
      return ScatterUpdate(data, c.indices->view(), c.updates.view(), c.axis, c.rules(), output);
    case Operator::kTensorScatter:
      return TensorScatter(data, c.updates.view(), c.indices ? &c.indices->view() : nullptr, c.axis,
                           c.mode, c.policy, output);
    default:
      return SliceScatter(data, c.updates.view(), Values(c.start), Values(c.stop), Values(c.step),
                          Values(c.axes), c.reduction, output);
  }
}

std::string Describe(const Case& c) {
  return std::string(NameOf(c.op)) + " " + NameOf(c.reduction & ~STREW_EXCLUDE_SELF) +
         ((c.reduction & STREW_EXCLUDE_SELF) != 0 ? " without self" : "") +
         (c.mode == STREW_CACHE_CIRCULAR ? " circular" : "") + " axis " + std::to_string(c.axis) +
         DescribePolicies(c) + Describe("data", c.data) + Describe("updates", c.updates) +
         Describe("indices", c.indices) + Describe("start", c.start) + Describe("stop", c.stop) +
         Describe("step", c.step) + Describe("axes", c.axes) +
         (c.output ? Describe("output", *c.output) : "\n  in place");
}

bool Check(Case& c) {
  Expectation expectation = MakeExpectation(c);
  for (Array* input : Inputs(c)) input->buffer().SetReadOnly(true);
  const bool good = CheckTargets(c, expectation) && CheckWithoutContext(c, expectation);
  for (Array* input : Inputs(c)) input->buffer().SetReadOnly(false);
  c.destination().Restore(expectation.before);
  return good;
}

void ExpectOutput(Case& c, const Array& expected) {
  const Bytes before = c.destination().Snapshot();
  for (const Target& target : Targets()) {
    c.destination().Restore(before);
    strew_context* context = Prepare(target, c);
    const strew_status status = Call(c, context, c.destination().tensor());
    EXPECT_EQ(status, STREW_OK) << strew_context_error(context);
    EXPECT_EQ(c.destination().Snapshot(), expected.Snapshot()) << target.name << Describe(c);
  }
  c.destination().Restore(before);
  Check(c);
}

}  // namespace strew_test
