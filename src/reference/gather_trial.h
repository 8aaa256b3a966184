// SPDX-License-Identifier: Apache-2.0
//
// Calls that gather by plans, compared with what the oracle says.
#ifndef STREW_REFERENCE_GATHER_TRIAL_H_
#define STREW_REFERENCE_GATHER_TRIAL_H_

#include <string>

#include <strew/strew.h>

#include "reference/case.h"
#include "reference/random_gather.h"
#include "reference/trial.h"

namespace strew::reference {

// strew_plan_gather() from the data of a case into its output, which must be there.
class GatherTrial {
 public:
  explicit GatherTrial(Case& c);

  Trial& trial() { return trial_; }
  strew_status Call(const strew_plan* plan, strew_context* context) const;

  // Trial::Trouble() of a call, whose plan the context makes for it.
  std::string Trouble(strew_context* context);

 private:
  const Case& case_;
  Trial trial_;
};

// strew_plan_gather_scatter(). The source and the weights are read-only while it lives, too.
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
