// SPDX-License-Identifier: Apache-2.0
// For sources whose constants are fixed when they are compiled: those behind this header read the
// table that tunable.cc lets a caller change.
#ifndef STREW_BENCH_TUNABLE_TUNING_H_
#define STREW_BENCH_TUNABLE_TUNING_H_

#include "plan/schedule.h"  // so that what others read stays as it is
#include "plan/tuning.h"

namespace strew::plan {
extern Tuning tunable_tuning;
}

#define kTuning tunable_tuning

#endif  // STREW_BENCH_TUNABLE_TUNING_H_
