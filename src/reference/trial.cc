// SPDX-License-Identifier: Apache-2.0
#include "reference/trial.h"

#include <algorithm>
#include <sstream>

#include "reference/arithmetic.h"
#include "reference/dtypes.h"

namespace strew::reference {
namespace {

std::string Hex(const unsigned char* bytes, size_t size) {
  std::ostringstream text;
  for (size_t i = 0; i < std::min<size_t>(size, 16); ++i) {
    text << std::hex << (i > 0 ? " " : "") << static_cast<int>(bytes[i]);
  }
  return text.str();
}

// Returns "" if the report of the last call is as expected, else a description of the differences.
std::string WrongReport(const strew_context* context, const Outcome& outcome) {
  std::ostringstream text;
  const std::string error = strew_context_error(context);
  const bool contained = error.find(outcome.error) != std::string::npos;
  if (outcome.status == STREW_OK ? !error.empty() : !contained) {
    text << "error text '" << error << "', expected '" << outcome.error << "'\n";
  }
  if (outcome.status != STREW_OK && error.empty()) text << "no error text\n";
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

}  // namespace

Trial::Trial(Case& c)
    : Trial(c, [&c](const View& data, const View& output) { return Expect(c, data, output); }) {}

Trial::Trial(Case& c, const Oracle& expect)
    : case_(c), before_(c.destination().Snapshot()), after_(before_) {
  const View output = c.destination().ViewOf(after_.data());
  outcome_ = expect(c.output ? c.data.view() : output, output);
  for (Array* input : Inputs(c)) input->buffer().SetReadOnly(true);
}

Trial::Trial(Case& c, strew_status status, int64_t error_position)
    : case_(c), before_(c.destination().Snapshot()), after_(before_) {
  outcome_.status = status;
  outcome_.error_position = error_position;
  for (Array* input : Inputs(c)) input->buffer().SetReadOnly(true);
}

Trial::~Trial() {
  for (Array* input : Inputs(case_)) input->buffer().SetReadOnly(false);
  case_.destination().Restore(before_);
}

std::string Trial::Trouble(strew_context* context) {
  if (!SetPolicies(case_, context)) return "the policies were refused\n";
  case_.destination().Restore(before_);
  return Compare(Call(case_, context, case_.destination().tensor()), context);
}

std::string Trial::TroubleOf(const std::function<strew_status()>& call,
                             const strew_context* context) {
  case_.destination().Restore(before_);
  return Compare(call(), context);
}

std::string Trial::TroubleByPlan(strew_context* context) {
  if (!SetPolicies(case_, context)) return "the policies were refused\n";
  case_.destination().Restore(before_);
  const std::string trouble =
      Compare(CallByPlan(case_, context, case_.destination().tensor()), context);
  return trouble.empty() ? "" : "by a plan: " + trouble;
}

std::string Trial::TroubleWithoutContext(strew_tensor* output) {
  case_.destination().Restore(before_);
  return Compare(Call(case_, nullptr, output), nullptr);
}

std::string Trial::Compare(strew_status status, const strew_context* context) {
  Outcome outcome = outcome_;
  const bool refused = may_run_out_of_memory_ && status == STREW_OUT_OF_MEMORY;
  if (refused) {
    outcome = Outcome();
    outcome.status = STREW_OUT_OF_MEMORY;
  }
  std::string trouble;
  if (status != outcome.status) {
    trouble += std::string(strew_status_name(status)) + ", expected " +
               strew_status_name(outcome.status) + ": " + strew_context_error(context) + "\n";
  }
  trouble += DifferentBytes(refused ? before_ : after_);
  if (!case_.destination().buffer().IsMarginIntact()) trouble += "wrote outside of the output\n";
  if (context != nullptr) trouble += WrongReport(context, outcome);
  return trouble;
}

// The destination's bytes, in which NaNs that a reduction computed have the oracle's payload.
Trial::Bytes Trial::ForgivingSnapshot(const Bytes& expected) {
  Bytes actual = case_.destination().Snapshot();
  if (actual == expected || outcome_.reduced.empty()) return actual;
  const View ours = case_.destination().ViewOf(actual.data());
  const size_t width = WidthOf(ours.dtype);
  size_t position = 0;
  ForEachIndex(ours.shape(), [&](const Dims& i) {
    if (!outcome_.reduced[position++]) return;
    unsigned char* const element = ours.At(i);
    const unsigned char* const ideal = &expected[static_cast<size_t>(element - actual.data())];
    if (!std::equal(ideal, ideal + width, element)) ForgiveNanPayload(ours.dtype, ideal, element);
  });
  return actual;
}

// Returns "" if the bytes agree, else a description of the first difference.
std::string Trial::DifferentBytes(const Bytes& expected) {
  const Bytes actual = ForgivingSnapshot(expected);
  if (actual == expected) return "";
  const auto differ = std::mismatch(actual.begin(), actual.end(), expected.begin()).first;
  const size_t width = WidthOf(case_.destination().dtype());
  const size_t slot = static_cast<size_t>(differ - actual.begin()) / width;
  std::ostringstream text;
  text << "slot " << slot << " of " << actual.size() / width << " holds "
       << Hex(&actual[slot * width], width) << ", expected " << Hex(&expected[slot * width], width)
       << ", before the call " << Hex(&before_[slot * width], width) << "\n";
  return text.str();
}

}  // namespace strew::reference
