// SPDX-License-Identifier: Apache-2.0
//
// A guarded buffer catches what it is there to catch.
#include "reference/guarded_buffer.h"

#include <gtest/gtest.h>

#include "support/reference.h"

namespace strew_test {
namespace {

class GuardedBufferDeathTest : public testing::TestWithParam<size_t> {
 protected:
  static unsigned char Read(const unsigned char* byte) {
    return *static_cast<const volatile unsigned char*>(byte);
  }
};

TEST_P(GuardedBufferDeathTest, FaultsBehindTheLastByte) {
  const GuardedBuffer buffer(GetParam(), Guard::kBehind);
  EXPECT_DEATH(Read(buffer.bytes() + buffer.size()), "");
}

TEST_P(GuardedBufferDeathTest, FaultsBeforeTheFirstByte) {
  const GuardedBuffer buffer(GetParam(), Guard::kBefore);
  EXPECT_DEATH(Read(buffer.bytes() - 1), "");
}

TEST_P(GuardedBufferDeathTest, FaultsWhereReadOnlyBytesAreWritten) {
  GuardedBuffer buffer(GetParam(), Guard::kBehind);
  if (buffer.size() == 0) return;
  buffer.bytes()[0] = 1;
  buffer.SetReadOnly(true);
  EXPECT_DEATH(buffer.bytes()[0] = 2, "");
}

INSTANTIATE_TEST_SUITE_P(Sizes, GuardedBufferDeathTest, testing::Values(0, 1, 8, 4096, 5000));

TEST(GuardedBuffer, NoticesWritesToTheMargin) {
  const GuardedBuffer behind(24, Guard::kBehind);
  EXPECT_TRUE(behind.IsMarginIntact());
  behind.bytes()[-1] ^= 1;
  EXPECT_FALSE(behind.IsMarginIntact());
  const GuardedBuffer before(24, Guard::kBefore);
  EXPECT_TRUE(before.IsMarginIntact());
  before.bytes()[24] ^= 1;
  EXPECT_FALSE(before.IsMarginIntact());
}

}  // namespace
}  // namespace strew_test
