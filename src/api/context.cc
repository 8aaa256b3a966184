// SPDX-License-Identifier: Apache-2.0
#include "api/context.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "kernel/kernel.h"

extern "C" {

strew_status strew_context_create(strew_context** out) {
  if (out == nullptr) return STREW_INVALID_ARGUMENT;
  *out = nullptr;
  void* const memory = std::malloc(sizeof(strew_context));
  if (memory == nullptr) return STREW_OUT_OF_MEMORY;
  *out = new (memory) strew_context();
  return STREW_OK;
}

void strew_context_destroy(strew_context* context) {
  if (context == nullptr) return;
  context->~strew_context();
  std::free(context);
}

strew_status strew_context_set_num_threads(strew_context* context, int32_t n) {
  if (context == nullptr || n < 0) return STREW_INVALID_ARGUMENT;
  return context->threads.Choose(n, &context->settings.runner);
}

strew_status strew_context_set_parallel_for(strew_context* context, strew_parallel_for parallel_for,
                                            void* opaque, int32_t workers) {
  if (context == nullptr) return STREW_INVALID_ARGUMENT;
  if (parallel_for == nullptr) {
    if (opaque != nullptr || workers != 0) return STREW_INVALID_ARGUMENT;
    context->threads.End();
    context->settings.runner = {};
    return STREW_OK;
  }
  if (workers < 1) return STREW_INVALID_ARGUMENT;
  context->threads.End();
  context->settings.runner = {parallel_for, opaque, workers};
  return STREW_OK;
}

strew_status strew_context_set_index_policy(strew_context* context, strew_index_policy policy) {
  if (context == nullptr || policy < STREW_INDEX_ERROR || policy > STREW_INDEX_CLAMP) {
    return STREW_INVALID_ARGUMENT;
  }
  context->settings.index_policy = policy;
  return STREW_OK;
}

strew_status strew_context_set_negative_indices(strew_context* context, int32_t wrap) {
  if (context == nullptr || (wrap != 0 && wrap != 1)) return STREW_INVALID_ARGUMENT;
  context->settings.wrap_negative_indices = wrap == 1;
  return STREW_OK;
}

strew_status strew_context_set_duplicate_policy(strew_context* context,
                                                strew_duplicate_policy policy) {
  if (context == nullptr || policy < STREW_DUPLICATE_LAST || policy > STREW_DUPLICATE_ERROR) {
    return STREW_INVALID_ARGUMENT;
  }
  context->settings.duplicate_policy = policy;
  return STREW_OK;
}

strew_status strew_context_set_allocator(strew_context* context, strew_alloc alloc,
                                         strew_free release, void* opaque) {
  if (context == nullptr || (alloc == nullptr) != (release == nullptr)) {
    return STREW_INVALID_ARGUMENT;
  }
  context->settings.allocator = {alloc, release, opaque};
  return STREW_OK;
}

strew_status strew_context_set_simd_target(strew_context* context, const char* name) {
  if (context == nullptr) return STREW_INVALID_ARGUMENT;
  if (name == nullptr) {
    context->settings.simd_target = 0;
    return STREW_OK;
  }
  for (int32_t i = 0; strew::kernel::TargetName(i) != nullptr; ++i) {
    if (std::strcmp(strew::kernel::TargetName(i), name) != 0) continue;
    context->settings.simd_target = i;
    return STREW_OK;
  }
  return STREW_UNSUPPORTED;
}

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
