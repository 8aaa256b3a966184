// SPDX-License-Identifier: Apache-2.0
//
// The report of a test program that a signal ends: which of its random cases it was at.
#ifndef STREW_TEST_SUPPORT_CRASH_REPORT_H_
#define STREW_TEST_SUPPORT_CRASH_REPORT_H_

#include "base/compiler.h"

namespace strew_test {

// Printed to stderr on the next fatal signal, of whatever thread, or when a time limit ends the
// program. It replaces the report before.
[[gnu::format(STREW_PRINTF, 1, 2)]] void SetCrashReport(const char* format, ...);

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_CRASH_REPORT_H_
