// SPDX-License-Identifier: Apache-2.0
//
// The end of a process that a test has forked.
#ifndef STREW_TEST_SUPPORT_END_CHILD_H_
#define STREW_TEST_SUPPORT_END_CHILD_H_

#include <unistd.h>

#include <cstdlib>

namespace strew_test {

// A build for coverage counts only the processes that end by exit(). There AddressSanitizer would
// take for leaked what threads hold that the child does not have.
[[noreturn]] inline void EndChild(int status) {
#ifdef __SANITIZE_ADDRESS__
  _exit(status);
#else
  std::exit(status);
#endif
}

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_END_CHILD_H_
