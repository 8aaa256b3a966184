// SPDX-License-Identifier: Apache-2.0
//
// Calls with plans that are large enough to be shared out among threads.
#ifndef STREW_TEST_PREPARED_LARGE_CASES_H_
#define STREW_TEST_PREPARED_LARGE_CASES_H_

#include <string>
#include <vector>

#include <strew/strew.h>

#include "reference/random.h"
#include "reference/random_gather.h"
#include "support/call_shapes.h"
#include "support/reference.h"

namespace strew_test {

// The shapes of operators that have plans.
std::vector<CallShape> PlanShapes(int64_t updates);

// A gather of what the shape scatters: rows, or single elements along the last axis, from a source
// as large as the updates.
enum class Taken { kRows, kElements };
GatherScatterCase MakeLarge(Random& random, const CallShape& call_shape, strew_dtype dtype,
                            Taken taken, bool in_place);

// Weights of one number for each row, of a dtype that has products.
void AddWeights(Random& random, GatherScatterCase& c);

// A dtype of each class with a reduction.
struct Setting {
  strew_dtype dtype;
  strew_reduction reduction;
};
std::vector<Setting> Settings();
std::string NameOf(const Setting& setting);

}  // namespace strew_test

#endif  // STREW_TEST_PREPARED_LARGE_CASES_H_
