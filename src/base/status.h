// SPDX-License-Identifier: Apache-2.0
// Status codes inside the library: a type that callers must not ignore.
#ifndef STREW_BASE_STATUS_H_
#define STREW_BASE_STATUS_H_

#include "base/compiler.h"
#include "strew/strew.h"

namespace strew {

class [[nodiscard]] Status {
 public:
  constexpr Status(strew_status code) : code_(code) {}  // NOLINT: codes convert by design
  constexpr strew_status code() const { return code_; }
  constexpr bool ok() const { return code_ == STREW_OK; }

 private:
  strew_status code_;
};

}  // namespace strew

// Returns from the calling function unless `expression`, a Status, is STREW_OK.
#define STREW_TRY(expression)                                            \
  do {                                                                   \
    const ::strew::Status strew_try_status = (expression);               \
    if (STREW_UNLIKELY(!strew_try_status.ok())) return strew_try_status; \
  } while (false)

#endif  // STREW_BASE_STATUS_H_
