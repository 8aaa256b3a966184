// SPDX-License-Identifier: Apache-2.0
//
// Different contexts at the same time, reading the same tensors.
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/array.h"
#include "support/handles.h"
#include "support/random.h"

namespace strew_test {
namespace {

constexpr int kThreads = 4;
constexpr int kCalls = 50;

TEST(Threads, ShareInputsAndNothingElse) {
  Random random(Seed());
  const Dims shape = {40, 60};
  Array data = RandomArray(random, STREW_FLOAT32, RowMajor(shape));
  Array updates = RandomArray(random, STREW_FLOAT32, RowMajor(shape));
  Array indices = RandomIndices(random, STREW_INT16, RowMajor(shape), shape[1]);
  for (Array* input : {&data, &updates, &indices}) input->buffer().SetReadOnly(true);

  const auto scatter = [&](const Array& output) {
    const Context context = MakeContext();
    return strew_scatter_elements(context.get(), data.tensor(), indices.tensor(), updates.tensor(),
                                  1, STREW_MAX, output.tensor());
  };
  const Array alone(STREW_FLOAT32, RowMajor(shape));
  ASSERT_EQ(scatter(alone), STREW_OK);

  std::vector<int> differences(kThreads, 0);
  std::vector<std::thread> threads;
  for (int& difference : differences) {
    threads.emplace_back([&] {
      const Array output(STREW_FLOAT32, RowMajor(shape));
      for (int i = 0; i < kCalls; ++i) {
        const bool good = scatter(output) == STREW_OK && output.Snapshot() == alone.Snapshot();
        difference += good ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(differences, std::vector<int>(kThreads, 0));
}

}  // namespace
}  // namespace strew_test
