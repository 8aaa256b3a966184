// SPDX-License-Identifier: Apache-2.0
// How the entries of a plan are written: how wide their offsets are, how far ahead their places are
// fetched, and whether past the caches.
#ifndef STREW_RUN_PACE_H_
#define STREW_RUN_PACE_H_

#include <cstdint>

#include "kernel/kernel.h"
#include "plan/indexed.h"
#include "run/scatter.h"

namespace strew::run {

struct Pace {
  // Entries ahead of its turn that a place is prefetched, 0 for not at all; and in a strip.
  int64_t prefetch;
  int64_t strip_prefetch;
  bool streams;  // rows, past the caches; FinishStreaming() must follow
};

Pace PaceOf(const IndexedScatter& scatter, const plan::IndexedPlan& plan,
            const kernel::Kernels& kernels);

// Places that lie within so many bytes are in the caches.
int64_t NearBytes();

// Rows ahead of its turn that one of so many bytes is prefetched.
int64_t RowPrefetch(int64_t row_bytes);

// The narrowest that hold offsets which lie so far apart.
inline kernel::OffsetWidth OffsetWidthOf(int64_t span) {
  return span <= INT32_MAX ? kernel::kOffset32 : kernel::kOffset64;
}

inline int64_t OffsetSize(kernel::OffsetWidth width) {
  return width == kernel::kOffset32 ? sizeof(int32_t) : sizeof(int64_t);
}

}  // namespace strew::run

#endif  // STREW_RUN_PACE_H_
