// SPDX-License-Identifier: Apache-2.0
// The contents of a strew_context, and calls with its settings.
#ifndef STREW_API_CONTEXT_H_
#define STREW_API_CONTEXT_H_

#include "base/call.h"
#include "base/runner.h"
#include "strew/strew.h"

struct strew_context {
  strew::Settings settings;
  strew::OwnThreads threads;
  strew::Report report;
};

namespace strew {

// A call with the settings and the report of this context, which may be NULL.
inline Call CallWith(strew_context* context) {
  static constexpr Settings kDefaults;
  if (context == nullptr) return Call(kDefaults, nullptr);
  return Call(context->settings, &context->report);
}

// Passes sentences about the schedules of later calls to `tell`; NULL stops this.
inline void ExplainTo(strew_context* context, void (*tell)(void* opaque, const char* sentence),
                      void* opaque) {
  context->settings.explainer = {tell, opaque};
}

}  // namespace strew

#endif  // STREW_API_CONTEXT_H_
