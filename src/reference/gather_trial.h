// SPDX-License-Identifier: Apache-2.0
//
// Compares calls that gather by plans with the oracle.
#ifndef STREW_REFERENCE_GATHER_TRIAL_H_
#define STREW_REFERENCE_GATHER_TRIAL_H_

#include <string>

#include <strew/strew.h>

#include "reference/case.h"
#include "reference/random_gather.h"
#include "reference/trial.h"

namespace strew::reference {

// Calls strew_plan_gather() from the data of a case into its output, which must exist.
class GatherTrial {
 public:
  explicit GatherTrial(Case& c);

  Trial& trial() { return trial_; }
  strew_status Call(const strew_plan* plan, strew_context* context) const;

  // Trial::Trouble() of a call whose plan is made with the same context.
  std::string Trouble(strew_context* context);

 private:
  const Case& case_;
  Trial trial_;
};

// Calls strew_plan_gather_scatter(). The source and the weights too are read-only while this lives.
class GatherScatterTrial {
 public:
  explicit GatherScatterTrial(GatherScatterCase& c);
  ~GatherScatterTrial();
  GatherScatterTrial(const GatherScatterTrial&) = delete;
  GatherScatterTrial& operator=(const GatherScatterTrial&) = delete;

  Trial& trial() { return trial_; }
  strew_status Call(const strew_plan* from, const strew_plan* to, strew_context* context);
  std::string Trouble(strew_context* context);

 private:
  void SetInputsReadOnly(bool read_only);

  GatherScatterCase& case_;
  Trial trial_;
};

}  // namespace strew::reference

#endif  // STREW_REFERENCE_GATHER_TRIAL_H_
