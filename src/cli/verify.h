// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_VERIFY_H_
#define STREW_CLI_VERIFY_H_

#include <cstdint>

namespace strew::cli {

struct VerifyOptions {
  int calls = 40;  // of each kind with each dtype
  std::uint64_t seed = 1;
};

// Makes random calls on every SIMD target of this CPU, also with plans, compares their bytes with
// those of the oracle, and prints one line. The kinds of calls are the operators and, for each
// operator with plans, gather and gather_scatter. Throws std::runtime_error with the call if they
// differ.
void RunVerify(const VerifyOptions& options);

}  // namespace strew::cli

#endif  // STREW_CLI_VERIFY_H_
