// SPDX-License-Identifier: Apache-2.0
//
// The very first use of the library in a process, from eight threads at the same moment. Each round
// has a process of its own: this one must not use the library before.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strew/strew.h>

#include "reference/handles.h"
#include "support/at_once.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 16;

bool AskForTargets() {
  const char* const best = strew_simd_target();
  if (best == nullptr || std::strcmp(best, strew_simd_target_at(0)) != 0) return false;
  int32_t count = 0;
  while (strew_simd_target_at(count) != nullptr) ++count;
  return strew_simd_target_at(count + 1) == nullptr && strew_simd_target_at(-1) == nullptr;
}

bool AskForNames() {
  return std::string(strew_dtype_name(STREW_FLOAT32)) == "float32" &&
         strew_dtype_size(STREW_COMPLEX128) == 16 &&
         std::string(strew_status_name(STREW_RUNNER_FAILED)) == "STREW_RUNNER_FAILED" &&
         strew_version_number() > 0;
}

// output = data with every third element, from the last one on, made larger by its own value.
bool Scatter(strew_context* context, int64_t size) {
  const int64_t count = size / 3;
  std::vector<int32_t> data(static_cast<size_t>(size), 1), output(data.size(), -1);
  std::vector<int32_t> updates(static_cast<size_t>(count));
  std::vector<int64_t> indices(updates.size());
  for (int64_t i = 0; i < count; ++i) {
    updates[static_cast<size_t>(i)] = static_cast<int32_t>(i);
    indices[static_cast<size_t>(i)] = -1 - 3 * i;
  }
  const Tensor from = MakeTensor(STREW_INT32, RowMajor({size}), data.data());
  const Tensor to = MakeTensor(STREW_INT32, RowMajor({size}), output.data());
  const Tensor at = MakeTensor(STREW_INT64, RowMajor({count}), indices.data());
  const Tensor what = MakeTensor(STREW_INT32, RowMajor({count}), updates.data());
  const strew_status status =
      strew_scatter_elements(context, from.get(), at.get(), what.get(), 0, STREW_ADD, to.get());
  for (int64_t i = 0; i < count; ++i) {
    data[static_cast<size_t>(size - 1 - 3 * i)] += static_cast<int32_t>(i);
  }
  return status == STREW_OK && output == data;
}

bool ScatterOnEveryTarget() {
  const Context context = MakeContext();
  for (int32_t i = 0; strew_simd_target_at(i) != nullptr; ++i) {
    if (strew_context_set_simd_target(context.get(), strew_simd_target_at(i)) != STREW_OK ||
        !Scatter(context.get(), 1000)) {
      return false;
    }
  }
  return true;
}

bool ScatterOnThreads() {
  StdThreads threads;
  const Context context = MakeContext();
  threads.InstallIn(context.get(), 2);
  return Scatter(context.get(), 1 << 18);
}

bool ScatterOnThreadsOfTheLibrary() {
  const Context context = MakeContext();
  const strew_status expected = STREW_TEST_THREADS ? STREW_OK : STREW_UNSUPPORTED;
  return strew_context_set_num_threads(context.get(), 2) == expected &&
         Scatter(context.get(), 1 << 18);
}

bool Use(int way) {
  switch (way % 7) {
    case 0:
      return AskForTargets();
    case 1:
      return Scatter(nullptr, 100);
    case 2:
      return ScatterOnThreads();
    case 3:
      return ScatterOnEveryTarget();
    case 4:
      return AskForNames();
    case 5:
      return ScatterOnThreadsOfTheLibrary();
    default:
      return Scatter(nullptr, 1 << 16);
  }
}

// In every second round all threads begin alike.
[[noreturn]] void UseFromAllThreads(int round) {
  std::atomic<int> right{0};
  AtOnce(kThreads,
         [&](int thread) { right += Use(round % 2 == 0 ? round / 2 : round + thread) ? 1 : 0; });
  std::exit(right == kThreads ? 0 : 1);
}

TEST(FirstUse, MayComeFromManyThreadsAtOnce) {
  for (int round = 0; round < kRounds; ++round) {
    EXPECT_EXIT(UseFromAllThreads(round), testing::ExitedWithCode(0), "") << "round " << round;
  }
}

}  // namespace
}  // namespace strew_test
