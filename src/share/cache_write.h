// SPDX-License-Identifier: Apache-2.0
// Writes new positions into a cache, for each batch entry from a position of its own on.
#ifndef STREW_SHARE_CACHE_WRITE_H_
#define STREW_SHARE_CACHE_WRITE_H_

#include "base/call.h"
#include "base/status.h"
#include "base/tensor_view.h"

namespace strew::share {

// All arguments are checked but for the values of the write indices.
struct CacheWrite {
  const TensorView& past;
  const TensorView& update;
  const TensorView* write_indices;  // NULL for zeros
  const TensorView& present;
  int axis;  // of the positions; axis 0 is the batch
  bool circular;
};

// Checks the write indices, copies past where present is not past itself, and writes the updates.
Status RunCacheWrite(const Call& call, const CacheWrite& write);

}  // namespace strew::share

#endif  // STREW_SHARE_CACHE_WRITE_H_
