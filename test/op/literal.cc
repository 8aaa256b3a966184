// SPDX-License-Identifier: Apache-2.0
#include "op/literal.h"

#include <gtest/gtest.h>

#include "reference/bytes.h"
#include "reference/dtypes.h"
#include "reference/trial.h"
#include "support/reference.h"

namespace strew_test {

Array BitArray(strew_dtype dtype, const std::vector<uint64_t>& elements) {
  Array array(dtype, RowMajor({static_cast<int64_t>(elements.size())}));
  const size_t width = WidthOf(dtype);
  unsigned char* bytes = array.buffer().bytes();
  for (const uint64_t bits : elements) {
    if (width == 1) Store(bytes, static_cast<uint8_t>(bits));
    if (width == 2) Store(bytes, static_cast<uint16_t>(bits));
    if (width == 4) Store(bytes, static_cast<uint32_t>(bits));
    if (width == 8) Store(bytes, bits);
    bytes += width;
  }
  return array;
}

void ExpectNumbers(Case& c, const Numbers& numbers) {
  ExpectOutput(c, NumberArray(c.data.dtype(), c.data.shape(), numbers));
}

// The oracle counts, and the library as it does.
void ExpectApplied(Case& c, int64_t applied, const Numbers& numbers) {
  EXPECT_EQ(Trial(c).outcome().applied, applied) << Describe(c);
  ExpectNumbers(c, numbers);
}

void ExpectRefused(Case& c, strew_status status, int64_t position) {
  const Outcome outcome = Trial(c).outcome();
  EXPECT_EQ(outcome.status, status) << Describe(c);
  EXPECT_EQ(outcome.error_position, position) << Describe(c);
  EXPECT_EQ(outcome.applied, 0);
  Check(c);
}

}  // namespace strew_test
