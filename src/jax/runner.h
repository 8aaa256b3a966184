// SPDX-License-Identifier: Apache-2.0
// Runs the tasks of a call on XLA's thread pool.
#ifndef STREW_JAX_RUNNER_H_
#define STREW_JAX_RUNNER_H_

#include <xla/ffi/api/ffi.h>

#include <cstdint>

#include "strew/strew.h"

namespace strew::jax {

// A strew_parallel_for; `pool` is an xla::ffi::ThreadPool. Handlers run on threads of that pool
// too, so a task given to it may not begin before the call ends. Therefore the calling thread takes
// every task that no other has begun, and waits only for those that have begun.
std::int32_t RunOnPool(void* pool, std::int64_t count, strew_task run, void* task);

}  // namespace strew::jax

#endif  // STREW_JAX_RUNNER_H_
