// SPDX-License-Identifier: Apache-2.0
//
// Bytes are a call of one operator, STREW_FUZZ_OPERATOR, in the words of the random tests: mostly a
// good one, else with bad indices or an argument bent. The oracle judges it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "bend.h"
#include "reference/random_case.h"
#include "support/check.h"
#include "support/reference.h"

namespace strew_test {
namespace {

Operator AnyOperator(Random& random) {
  constexpr Operator kOperator = Operator::STREW_FUZZ_OPERATOR;
  if (!IsSlice(kOperator)) return kOperator;
  return random.OneIn(2) ? Operator::kSliceScatter : Operator::kSliceScatterInt64;
}

bool CheckAny(Random& random) {
  const int64_t choice = random.Between(0, 7);
  Case c = MakeRandomCase(random, AnyOperator(random), random.Pick(Dtypes()));
  if (choice <= 1) {
    Bend(random, c);
    return CheckBent(c);
  }
  if (choice == 2) SpoilIndices(random, c);
  return choice == 3 ? CheckWithWorkers(c, {3}) : Check(c);
}

}  // namespace
}  // namespace strew_test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  strew_test::Random random(bytes, size);
  if (!strew_test::CheckAny(random)) std::abort();
  return 0;
}
