// SPDX-License-Identifier: Apache-2.0
// Applies all updates of an index space, as a schedule says.
#ifndef STREW_SHARE_EXECUTE_H_
#define STREW_SHARE_EXECUTE_H_

#include "base/call.h"
#include "base/status.h"
#include "plan/index_space.h"
#include "plan/schedule.h"
#include "walk/scatter.h"
#include "base/scratch.h"

namespace strew::share {

// What a schedule of the call depends on.
plan::Circumstances CircumstancesOf(const Call& call, const walk::IndexedScatter& scatter,
                                    bool in_place, bool has_scratch);

// The schedule of an arranged index space, of which the indices are checked, and the scratch that
// it asks for: all is obtained when it is made, before anything is written.
class Application {
 public:
  enum class Takes { kScratch, kNothing };

  Application(const Call& call, const walk::IndexedScatter& scatter, const plan::IndexSpace& space,
              bool in_place, Takes takes);

  // Copies data unless `in_place`, and applies the updates. The reduction, and where the updates
  // lie, may differ from those that it was made for, and so may in_place if that is true now.
  Status Run(const walk::IndexedScatter& scatter, const plan::IndexSpace& space,
             bool in_place) const;

 private:
  const Call& call_;
  plan::Circumstances about_;
  plan::Schedule schedule_;
  Scratch scratch_;
};

// STREW_NONE and reductions that are one step: makes an application and runs it.
Status Apply(const Call& call, const walk::IndexedScatter& scatter, const plan::IndexSpace& space,
             bool in_place);

}  // namespace strew::share

#endif  // STREW_SHARE_EXECUTE_H_
