// SPDX-License-Identifier: Apache-2.0
//
// Values and indices from a fixed seed, the same in every run and on every machine.
#ifndef BENCH_RANDOM_FILL_H_
#define BENCH_RANDOM_FILL_H_

#include <cstdint>
#include <random>

#include "strew/strew.h"
#include "workloads.h"

namespace strew_bench {

class RandomFill {
 public:
  // Integers: any. Floats: of either sign, 1/16 <= |value| < 1, with every bit of the mantissa
  // random. Sums of them are rounded, so that a wrong order is detected, and stay far from
  // infinities and subnormals even if a benchmark adds them to the same memory many times.
  void Values(strew_dtype dtype, int64_t count, void* values);

  // As many indices as StoredIndexCount() says, none of them negative.
  void Indices(const Operands& operands, int64_t* indices);

 private:
  int64_t Below(int64_t limit);
  template <typename Bits>
  void Floats(int mantissa_bits, Bits exponent_of_1, int64_t count, Bits* values);
  void UniqueTuples(const Operands& operands, int64_t* indices);

  std::mt19937_64 random_{20240229};
};

}  // namespace strew_bench

#endif  // BENCH_RANDOM_FILL_H_
