// SPDX-License-Identifier: Apache-2.0
#include "base/last_error.h"

#include <cstdio>

namespace strew {
namespace {

// Only failures access it, so that successful calls do not pay for the look-up of a thread_local
// variable.
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
