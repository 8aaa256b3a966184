// SPDX-License-Identifier: Apache-2.0
#include "base/call.h"

#include <cstdarg>
#include <cstdio>

namespace strew {
namespace {

void Describe(Report* report, int64_t position, const char* format, va_list arguments) {
  if (report == nullptr) return SetLastError(format, arguments);
  std::vsnprintf(report->sentence, sizeof(report->sentence), format, arguments);
  report->position = position;
  report->applied = 0;
}

}  // namespace

Status Call::Fail(strew_status status, const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  Describe(report_, -1, format, arguments);
  va_end(arguments);
  return status;
}

Status Call::FailAt(int64_t position, strew_status status, const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  Describe(report_, position, format, arguments);
  va_end(arguments);
  return status;
}

void Call::Explain(const char* format, ...) const {
  char sentence[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(sentence, sizeof(sentence), format, arguments);
  va_end(arguments);
  settings_.explainer.tell(settings_.explainer.opaque, sentence);
}

Status Call::Succeed(int64_t applied) const {
  if (report_ == nullptr) return STREW_OK;
  report_->sentence[0] = '\0';
  report_->position = -1;
  report_->applied = applied;
  return STREW_OK;
}

}  // namespace strew
