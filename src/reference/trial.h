// SPDX-License-Identifier: Apache-2.0
//
// Compares calls of a case with the oracle.
#ifndef STREW_REFERENCE_TRIAL_H_
#define STREW_REFERENCE_TRIAL_H_

#include <functional>
#include <string>
#include <vector>

#include <strew/strew.h>

#include "reference/case.h"

namespace strew::reference {

// Inputs are read-only while this lives. The destructor restores the destination.
class Trial {
 public:
  explicit Trial(Case& c);
  // For cases that the oracle does not judge: the call must return this status and write nothing.
  Trial(Case& c, strew_status status, int64_t error_position);
  // For other calls that write to the destination, with `expect` as their oracle.
  using Oracle = std::function<Outcome(const View& data, const View& output)>;
  Trial(Case& c, const Oracle& expect);
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // The oracle's answer.
  const Outcome& outcome() const { return outcome_; }

  // Accepts STREW_OUT_OF_MEMORY as well, if no byte changes.
  void AllowOutOfMemory() { may_run_out_of_memory_ = true; }

  // Calls the library with the policies of the case. Returns "" if the status, the report of the
  // context, and every byte of the destination's memory are those of the oracle, else a description
  // of the differences.
  std::string Trouble(strew_context* context);

  // The same for any call, which has to set the policies itself.
  std::string TroubleOf(const std::function<strew_status()>& call, const strew_context* context);

  // The same by a plan, for operators that have plans.
  std::string TroubleByPlan(strew_context* context);

  // The same without a context, with another descriptor of the destination.
  std::string TroubleWithoutContext(strew_tensor* output);

 private:
  using Bytes = std::vector<unsigned char>;

  std::string Compare(strew_status status, const strew_context* context);
  std::string DifferentBytes(const Bytes& expected);
  Bytes ForgivingSnapshot(const Bytes& expected);

  Case& case_;
  const Bytes before_;
  Bytes after_;
  Outcome outcome_;
  bool may_run_out_of_memory_ = false;
};

}  // namespace strew::reference

#endif  // STREW_REFERENCE_TRIAL_H_
