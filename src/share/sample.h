// SPDX-License-Identifier: Apache-2.0
// Draws a sample of the destinations of a call.
#ifndef STREW_SHARE_SAMPLE_H_
#define STREW_SHARE_SAMPLE_H_

#include <cstdint>

#include "plan/schedule.h"
#include "plan/spread.h"
#include "walk/scatter.h"

namespace strew::share {

// Draws a sample that is large enough for `ranges` ranges. Indices out of range are clamped.
void DrawSpread(const walk::Scatter& scatter, const plan::Machine& machine, int64_t ranges,
                plan::Spread* spread);

}  // namespace strew::share

#endif  // STREW_SHARE_SAMPLE_H_
