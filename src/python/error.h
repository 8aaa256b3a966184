// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_ERROR_H_
#define STREW_PYTHON_ERROR_H_

#include <cstdint>

#include "strew/strew.h"

namespace strew::python {

// Throws strew.Error.
[[noreturn]] void RaiseStatus(strew_status status, const char* sentence, std::int64_t position);

// The same for a call without a context, with strew_last_error(), unless the status is STREW_OK.
void Check(strew_status status);

}  // namespace strew::python

#endif  // STREW_PYTHON_ERROR_H_
