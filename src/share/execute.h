// SPDX-License-Identifier: Apache-2.0
// Carries a schedule out.
#ifndef STREW_SHARE_EXECUTE_H_
#define STREW_SHARE_EXECUTE_H_

#include "base/scratch.h"
#include "base/status.h"
#include "plan/schedule.h"
#include "walk/scatter.h"

namespace strew::share {

// What a schedule depends on.
plan::Circumstances CircumstancesOf(const walk::Scatter& scatter, bool in_place, bool has_scratch);

// The schedule of a scatter of which the indices are checked, and the scratch that it asks for: all
// is obtained when it is made, before anything is written.
class Execution {
 public:
  Execution(const walk::Scatter& scatter, bool in_place, bool may_have_scratch = true);

  // Copies data unless `in_place`, and applies the updates. The scatter may have another reduction
  // and other updates than the one that it was made for, and `in_place` may have become true.
  Status Run(const walk::Scatter& scatter, bool in_place) const;

 private:
  plan::Circumstances about_;
  plan::Schedule schedule_;
  Scratch scratch_;
};

// Makes a schedule and carries it out.
Status Execute(const walk::Scatter& scatter, bool in_place);

}  // namespace strew::share

#endif  // STREW_SHARE_EXECUTE_H_
