// SPDX-License-Identifier: Apache-2.0
// The constants of one struct by name, which can be read and changed while the library runs.
#ifndef STREW_BENCH_TUNABLE_H_
#define STREW_BENCH_TUNABLE_H_

#include <cstdint>

namespace strew_bench {

// One of the two is NULL.
struct Constant {
  const char* name;
  int64_t* integer;
  double* real;
};

inline Constant ConstantOf(const char* name, int64_t* value) { return {name, value, nullptr}; }
inline Constant ConstantOf(const char* name, double* value) { return {name, nullptr, value}; }

// The constants of kernel/walks.cc, and their number.
const Constant* ConstantsOfWalks(int32_t* count);

}  // namespace strew_bench

#endif  // STREW_BENCH_TUNABLE_H_
