// SPDX-License-Identifier: Apache-2.0
// The last error of each thread: describes failures of functions that have no context to report
// them.
#ifndef STREW_BASE_LAST_ERROR_H_
#define STREW_BASE_LAST_ERROR_H_

#include <cstdarg>
#include <cstddef>

#include "base/compiler.h"
#include "strew/strew.h"

namespace strew {

// Room for four shapes of 32 dims.
constexpr size_t kLongestSentence = 3072;

// The last error of the calling thread.
const char* LastError();
void SetLastError(const char* format, va_list arguments);

// Sets the last error and returns `status`.
[[nodiscard, gnu::cold]] [[gnu::format(STREW_PRINTF, 2, 3)]] strew_status Refuse(
    strew_status status, const char* format, ...);

}  // namespace strew

#endif  // STREW_BASE_LAST_ERROR_H_
