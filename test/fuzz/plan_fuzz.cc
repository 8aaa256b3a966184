// SPDX-License-Identifier: Apache-2.0
//
// Bytes are a plan or two and a call with them, in the words of the random tests. The oracle judges
// it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "prepared/check_plans.h"
#include "reference/random_gather.h"
#include "support/reference.h"

namespace strew_test {
namespace {

bool CheckAny(Random& random) {
  const int64_t choice = random.Between(0, 3);
  const int32_t workers = random.OneIn(8) ? 3 : 1;
  const Operator op = random.Pick(std::vector<Operator>{
      Operator::kScatterElements, Operator::kScatterNd, Operator::kScatterUpdate});
  const Dtype& dtype = random.Pick(Dtypes());
  if (choice > 1) {
    GatherScatterCase c = MakeRandomGatherScatter(random, op, dtype);
    return CheckGatherScatter(c, workers);
  }
  Case c = MakeRandomPlanned(random, op, dtype);
  if (choice == 0) return CheckScatter(c, workers);
  SetAnyResult(random, c);
  return CheckGather(c, workers);
}

}  // namespace
}  // namespace strew_test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  strew_test::Random random(bytes, size);
  if (!strew_test::CheckAny(random)) std::abort();
  return 0;
}
