// SPDX-License-Identifier: Apache-2.0
// For sources whose constants are fixed at compile time: those that are included after this header
// read the table that tunable.cc lets a caller change.
#ifndef STREW_BENCH_TUNABLE_TUNING_H_
#define STREW_BENCH_TUNABLE_TUNING_H_

#include "plan/schedule.h"  // before the redefinition, so that it is not affected
#include "plan/tuning.h"

namespace strew::plan {
extern Tuning tunable_tuning;
}

#define kTuning tunable_tuning

#endif  // STREW_BENCH_TUNABLE_TUNING_H_
