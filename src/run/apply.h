// SPDX-License-Identifier: Apache-2.0
// Applies all updates of a plan, on as many threads as pay.
#ifndef STREW_RUN_APPLY_H_
#define STREW_RUN_APPLY_H_

#include "base/call.h"
#include "base/status.h"
#include "plan/indexed.h"
#include "plan/division.h"
#include "plan/staging.h"
#include "run/ranges.h"
#include "run/scatter.h"
#include "run/scratch.h"

namespace strew::run {

// What to do about entries that may land anywhere.
enum class Method { kAlone, kSieve, kExchange };

// How to share out entries by destination.
struct Sharing {
  Method method = Method::kAlone;
  Method without_scratch = Method::kAlone;  // the method where there is no scratch
  Ranges ranges;
};

// How the entries of an arranged plan, of which the indices are checked, are applied. All scratch is
// obtained when it is made, before anything is written.
class Application {
 public:
  enum class Takes { kScratch, kNothing };

  Application(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
              bool in_place, Takes takes);

  // Copies data unless `in_place`, and applies the updates. The reduction, and where the updates
  // lie, may differ from those that it was made for, and so may in_place if that is true now.
  Status Run(const IndexedScatter& scatter, const plan::IndexedPlan& plan, bool in_place) const;

 private:
  plan::Staging StagingFor(const IndexedScatter& scatter, const plan::IndexedPlan& plan,
                           bool in_place, int64_t tasks) const;
  void ShareByDestination(const IndexedScatter& scatter, const plan::IndexedPlan& plan);

  const Call& call_;
  const Takes takes_;
  int64_t tasks_;
  plan::Division division_;
  Sharing sharing_;  // where the division is by destination
  Scratch scratch_;
};

// STREW_NONE and reductions that are one step: makes an application and runs it.
Status Apply(const Call& call, const IndexedScatter& scatter, const plan::IndexedPlan& plan,
             bool in_place);

}  // namespace strew::run

#endif  // STREW_RUN_APPLY_H_
