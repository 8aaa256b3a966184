// SPDX-License-Identifier: Apache-2.0
// Runs work in parts, on the threads of the caller's runner. Parts never share a destination, so
// any task may take any part at any time.
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

// Calls body(part, task) for every part in [0, parts); calls with the same task run one after
// another. Returns RUNNER_FAILED if the runner fails.
template <class Body>
Status ForEachPart(const Call& call, int64_t tasks, int64_t parts, const Body& body) {
  const auto function = [](const void* erased, int64_t part, int64_t task) {
    (*static_cast<const Body*>(erased))(part, task);
  };
  return internal::RunParts(call, tasks, parts, function, &body);
}

}  // namespace strew::share

#endif  // STREW_SHARE_PARTS_H_
