// SPDX-License-Identifier: Apache-2.0
#include "api/context.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/last_error.h"
#include "kernel/kernel.h"

using strew::Refuse;

namespace {

strew_status RefuseNull() { return Refuse(STREW_INVALID_ARGUMENT, "context is NULL"); }

strew_status RefusePolicy(const char* name, int32_t policy, const char* known) {
  return Refuse(STREW_INVALID_ARGUMENT, "%s %d is unknown: it must be %s", name, policy, known);
}

}  // namespace

extern "C" {

strew_status strew_context_create(strew_context** out) {
  if (out == nullptr) return Refuse(STREW_INVALID_ARGUMENT, "out is NULL");
  *out = nullptr;
  void* const memory = std::malloc(sizeof(strew_context));
  if (memory == nullptr) {
    return Refuse(STREW_OUT_OF_MEMORY, "no memory for a context of %zu bytes",
                  sizeof(strew_context));
  }
  *out = new (memory) strew_context();
  return STREW_OK;
}

void strew_context_destroy(strew_context* context) {
  if (context == nullptr) return;
  context->~strew_context();
  std::free(context);
}

strew_status strew_context_set_num_threads(strew_context* context, int32_t n) {
  if (context == nullptr) return RefuseNull();
  if (n < 0) return Refuse(STREW_INVALID_ARGUMENT, "n = %d is negative", n);
  const strew_status status = context->threads.Choose(n, &context->settings.runner);
  // GCOVR_EXCL_START: this build has threads.
  if (status == STREW_UNSUPPORTED) {
    return Refuse(status, "this build has no threads, so that n must be 1");
  }
  // GCOVR_EXCL_STOP
  return status == STREW_OK ? status : Refuse(status, "no memory for %d threads", n);
}

strew_status strew_context_set_parallel_for(strew_context* context, strew_parallel_for parallel_for,
                                            void* opaque, int32_t workers) {
  if (context == nullptr) return RefuseNull();
  if (parallel_for == nullptr && (opaque != nullptr || workers != 0)) {
    return Refuse(STREW_INVALID_ARGUMENT,
                  "parallel_for is NULL, but opaque is not, or workers is not 0");
  }
  if (parallel_for != nullptr && workers < 1)
    return Refuse(STREW_INVALID_ARGUMENT, "workers = %d is below 1", workers);
  context->threads.End();
  context->settings.runner = {};
  if (parallel_for != nullptr) context->settings.runner = {parallel_for, opaque, workers};
  return STREW_OK;
}

strew_status strew_context_set_index_policy(strew_context* context, strew_index_policy policy) {
  if (context == nullptr) return RefuseNull();
  if (policy < STREW_INDEX_ERROR || policy > STREW_INDEX_CLAMP) {
    return RefusePolicy("index policy", policy, "0, 1 or 2");
  }
  context->settings.index_policy = policy;
  return STREW_OK;
}

strew_status strew_context_set_negative_indices(strew_context* context, int32_t wrap) {
  if (context == nullptr) return RefuseNull();
  if (wrap != 0 && wrap != 1)
    return Refuse(STREW_INVALID_ARGUMENT, "wrap = %d is neither 0 nor 1", wrap);
  context->settings.wrap_negative_indices = wrap == 1;
  return STREW_OK;
}

strew_status strew_context_set_duplicate_policy(strew_context* context,
                                                strew_duplicate_policy policy) {
  if (context == nullptr) return RefuseNull();
  if (policy < STREW_DUPLICATE_LAST || policy > STREW_DUPLICATE_ERROR) {
    return RefusePolicy("duplicate policy", policy, "0 or 1");
  }
  context->settings.duplicate_policy = policy;
  return STREW_OK;
}

strew_status strew_context_set_allocator(strew_context* context, strew_alloc alloc,
                                         strew_free release, void* opaque) {
  if (context == nullptr) return RefuseNull();
  if ((alloc == nullptr) != (release == nullptr)) {
    return Refuse(STREW_INVALID_ARGUMENT, "one of alloc and release is NULL, the other is not");
  }
  context->settings.allocator = {alloc, release, opaque};
  return STREW_OK;
}

strew_status strew_context_set_simd_target(strew_context* context, const char* name) {
  if (context == nullptr) return RefuseNull();
  if (name == nullptr) {
    context->settings.simd_target = 0;
    return STREW_OK;
  }
  for (int32_t i = 0; strew::kernel::TargetName(i) != nullptr; ++i) {
    if (std::strcmp(strew::kernel::TargetName(i), name) != 0) continue;
    context->settings.simd_target = i;
    return STREW_OK;
  }
  return Refuse(STREW_UNSUPPORTED, "strew_simd_target_at() does not list '%.64s'", name);
}

const char* strew_last_error(void) { return strew::LastError(); }

const char* strew_context_error(const strew_context* context) {
  return context == nullptr ? "" : context->report.sentence;
}

int64_t strew_context_error_position(const strew_context* context) {
  return context == nullptr ? -1 : context->report.position;
}

int64_t strew_context_applied(const strew_context* context) {
  return context == nullptr ? 0 : context->report.applied;
}

}  // extern "C"
