// SPDX-License-Identifier: Apache-2.0
// Work in parts, on the threads of the caller's runner. Parts never share a destination, so it does
// not matter who takes which, nor when.
#ifndef STREW_SHARE_PARTS_H_
#define STREW_SHARE_PARTS_H_

#include <cstdint>

#include "base/call.h"
#include "base/status.h"
#include "plan/schedule.h"

namespace strew::share {

namespace internal {

using PartFunction = void (*)(const void* body, int64_t part, int64_t task);
Status RunParts(const Call& call, int64_t tasks, int64_t parts, PartFunction function,
                const void* body);

}  // namespace internal

// Calls body(part, task) for every part in [0, parts), where the calls of one task follow one
// another. RUNNER_FAILED where the runner did.
template <class Body>
Status ForEachPart(const Call& call, int64_t tasks, int64_t parts, const Body& body) {
  const auto function = [](const void* erased, int64_t part, int64_t task) {
    (*static_cast<const Body*>(erased))(part, task);
  };
  return internal::RunParts(call, tasks, parts, function, &body);
}

}  // namespace strew::share

#endif  // STREW_SHARE_PARTS_H_
