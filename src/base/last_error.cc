// SPDX-License-Identifier: Apache-2.0
#include "base/last_error.h"

#include <cstdio>

namespace strew {
namespace {

// A failure alone touches it, so that calls that succeed do not pay for finding it.
thread_local char last_error[kLongestSentence];

}  // namespace

const char* LastError() { return last_error; }

void SetLastError(const char* format, va_list arguments) {
  std::vsnprintf(last_error, sizeof(last_error), format, arguments);
}

strew_status Refuse(strew_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  SetLastError(format, arguments);
  va_end(arguments);
  return status;
}

}  // namespace strew
