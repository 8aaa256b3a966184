// SPDX-License-Identifier: Apache-2.0
// Draws a sample of the destinations of a call.
#ifndef STREW_RUN_SAMPLE_H_
#define STREW_RUN_SAMPLE_H_

#include <cstdint>

#include "plan/index_space.h"
#include "plan/spread.h"
#include "run/scatter.h"

namespace strew::run {

// Enough for `ranges` ranges of an arranged index space of units of `width` bytes. What is out of
// range counts as clamped.
void DrawSpread(const IndexedScatter& scatter, const plan::IndexSpace& space, int64_t width,
                int64_t ranges, plan::Spread* spread);

}  // namespace strew::run

#endif  // STREW_RUN_SAMPLE_H_
