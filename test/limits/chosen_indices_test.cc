// SPDX-License-Identifier: Apache-2.0
//
// Index values that somebody chose to make a call slow or large. Time must stay near that of random
// ones, and scratch within what strew.h promises.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/handles.h"
#include "support/counting_allocator.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kRange = int64_t{1} << 26;
constexpr int64_t kEntries = int64_t{1} << 18;

using Indices = std::vector<int64_t>;

// The hash that strew 0.1.0 had for its tables, which took the upper halves.
uint64_t Hash(uint64_t number) {
  number = (number ^ (number >> 32)) * 0x9E3779B97F4A7C15u;
  return (number ^ (number >> 29)) * 0x9E3779B97F4A7C15u;
}

// Different indices whose numbers, `shift` further, have the least hashes.
Indices InOneWindow(int64_t entries, int64_t range, int64_t shift) {
  const uint64_t limit = (uint64_t{1} << 32) * static_cast<uint64_t>(entries + entries / 16) /
                         static_cast<uint64_t>(range);
  Indices indices;
  for (int64_t i = 0; i < range && static_cast<int64_t>(indices.size()) < entries; ++i) {
    if (Hash(static_cast<uint64_t>(i + shift)) >> 32 < limit) indices.push_back(i);
  }
  return indices;
}

Indices Random(int64_t entries, int64_t range) {
  std::mt19937_64 random(1);
  Indices indices(static_cast<size_t>(entries));
  for (int64_t& index : indices)
    index = static_cast<int64_t>(random() % static_cast<uint64_t>(range));
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  std::shuffle(indices.begin(), indices.end(), random);
  return indices;
}

// Different indices at one distance.
Indices Steps(int64_t entries, int64_t range, int64_t step) {
  Indices indices(static_cast<size_t>(entries));
  for (int64_t i = 0; i < entries; ++i) indices[static_cast<size_t>(i)] = i * step % range;
  return indices;
}

Indices Reversed(Indices indices) {
  std::reverse(indices.begin(), indices.end());
  return indices;
}

// Up and down again: half of it comes twice.
Indices Pipe(int64_t entries) {
  Indices indices = Steps(entries / 2, kRange, 1);
  const Indices down = Reversed(indices);
  indices.insert(indices.end(), down.begin(), down.end());
  return indices;
}

struct Kind {
  const char* name;
  strew_dtype dtype;
  int64_t width;
  strew_reduction reduction;
  strew_duplicate_policy duplicates;
  int64_t range;
  int64_t entries;
};

const Kind kKinds[] = {
    {"Duplicates", STREW_INT8, 1, STREW_NONE, STREW_DUPLICATE_ERROR, kRange, kEntries},
    {"Mean", STREW_INT8, 1, STREW_MEAN, STREW_DUPLICATE_LAST, kRange, kEntries},
    {"MeanOfFloats", STREW_FLOAT32, 4, STREW_MEAN, STREW_DUPLICATE_LAST, kRange, kEntries},
    {"AddWide", STREW_BFLOAT16, 2, STREW_ADD | STREW_WIDE, STREW_DUPLICATE_LAST, kRange, kEntries},
    {"MulOfComplexExcludeSelf", STREW_COMPLEX64, 8, STREW_MUL | STREW_EXCLUDE_SELF,
     STREW_DUPLICATE_LAST, kRange / 4, kEntries / 4},
};

class ChosenIndices : public testing::TestWithParam<Kind> {
 protected:
  // Milliseconds of the best of three calls.
  double Time(const Indices& indices) {
    const Kind& kind = GetParam();
    static std::vector<unsigned char> data;
    data.resize(static_cast<size_t>(kind.range * kind.width));
    std::vector<unsigned char> updates(indices.size() * static_cast<size_t>(kind.width), 1);
    const auto entries = static_cast<int64_t>(indices.size());
    const Tensor tensor = MakeTensor(kind.dtype, RowMajor({kind.range}), data.data());
    const Tensor index =
        MakeTensor(STREW_INT64, RowMajor({entries}), const_cast<int64_t*>(indices.data()));
    const Tensor update = MakeTensor(kind.dtype, RowMajor({entries}), updates.data());
    const Context context = MakeContext();
    strew_context_set_duplicate_policy(context.get(), kind.duplicates);
    double best = 1e9;
    for (int turn = 0; turn < 3; ++turn) {
      const auto begin = std::chrono::steady_clock::now();
      const strew_status status = strew_scatter_elements(
          context.get(), tensor.get(), index.get(), update.get(), 0, kind.reduction, tensor.get());
      const std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - begin;
      EXPECT_TRUE(status == STREW_OK || status == STREW_DUPLICATE_INDEX);
      best = std::min(best, time.count());
    }
    return best;
  }
};

INSTANTIATE_TEST_SUITE_P(EveryKind, ChosenIndices, testing::ValuesIn(kKinds),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(ChosenIndices, TakeAboutAsLongAsRandomOnes) {
  const auto [name, dtype, width, reduction, duplicates, range, entries] = GetParam();
  const double random = Time(Random(entries, range));
  const std::pair<const char*, Indices> choices[] = {
      {"one window", InOneWindow(entries, range, 0)},
      {"one window, counted from 1", InOneWindow(entries, range, 1)},
      {"one window, backwards", Reversed(InOneWindow(entries, range, 0))},
      {"neighbours", Steps(entries, range, 1)},
      {"neighbours, backwards", Reversed(Steps(entries, range, 1))},
      {"steps of 64", Steps(entries, range, 64)},
      {"steps of 4096", Steps(entries, range, 4096)},
      {"steps of 2^18", Steps(entries, range, int64_t{1} << 18)},
      {"up and down", Pipe(entries)},
      {"all equal", Steps(entries, range, 0)},
  };
  for (const auto& [choice, indices] : choices) {
    const double chosen = Time(indices);
    // Random ones take some milliseconds. Quadratic time took 30 seconds.
    EXPECT_LE(chosen, 10 * random + 50) << choice << ": " << chosen << " ms, random " << random;
  }
}

// A dim that repeats the same indices: they are checked once, in pieces that are worth it.
TEST(RepeatedIndices, TakeAsLongAsOneOfThem) {
  constexpr int64_t kIndices = 1000000, kRepeats = int64_t{1} << 38;
  std::vector<int64_t> indices(2 * kIndices);
  float none = 0;
  const Tensor data = MakeTensor(STREW_FLOAT32, RowMajor({10, 0}), &none);
  const Tensor updates = MakeTensor(STREW_FLOAT32, RowMajor({kIndices, 0}), &none);
  const Tensor repeated = MakeTensor(STREW_FLOAT32, RowMajor({kRepeats, kIndices, 0}), &none);
  const Tensor index = MakeTensor(STREW_INT64, {{kIndices}, {2}}, indices.data());
  const Tensor repeated_index =
      MakeTensor(STREW_INT64, {{kRepeats, kIndices}, {0, 2}}, indices.data());
  const auto time = [&](const Tensor& from, const Tensor& at) {
    double best = 1e9;
    for (int turn = 0; turn < 5; ++turn) {
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_EQ(strew_scatter_update(nullptr, data.get(), at.get(), from.get(), 0, STREW_NONE,
                                     data.get()),
                STREW_OK);
      const std::chrono::duration<double, std::milli> taken =
          std::chrono::steady_clock::now() - begin;
      best = std::min(best, taken.count());
    }
    return best;
  };
  const double once = time(updates, index);
  EXPECT_LE(time(repeated, repeated_index), 5 * once + 2);
}

// Strides that are negative give destinations before the first one.
TEST(ChosenScratch, OfMeansInReversedTensorsIsLimited) {
  constexpr int64_t kUpdates = int64_t{1} << 20;
  for (const int64_t index : {0, 1, 2}) {
    float data[9] = {};
    float update = 1;
    int64_t value = index;
    const Tensor tensor = MakeTensor(STREW_FLOAT32, {{3, 3}, {-1, 3}}, data + 2);
    const Tensor indices = MakeTensor(STREW_INT64, {{kUpdates, 3}, {0, 0}}, &value);
    const Tensor updates = MakeTensor(STREW_FLOAT32, {{kUpdates, 3}, {0, 0}}, &update);
    const Context context = MakeContext();
    CountingAllocator allocator(CountingAllocator::kGrantsAll);
    allocator.InstallIn(context.get());
    ASSERT_EQ(strew_scatter_elements(context.get(), tensor.get(), indices.get(), updates.get(), 0,
                                     STREW_MEAN, tensor.get()),
              STREW_OK);
    EXPECT_LE(static_cast<int64_t>(allocator.peak()),
              (int64_t{2} << 20) + (int64_t{64} << 10) + 40 * 3)
        << "index " << index;
  }
}

// Indices whose hashes end in zeros made an estimate of distinct ones too high by any factor.
TEST(ChosenScratch, OfMeansIsLimitedByWhatIsTouched) {
  constexpr int64_t kData = int64_t{1} << 27, kDistinct = int64_t{1} << 15;
  constexpr int64_t kUpdates = 64 * kDistinct;
  Indices chosen;
  for (int64_t i = 0; static_cast<int64_t>(chosen.size()) < kDistinct; ++i) {
    if (Hash(static_cast<uint64_t>(i + 1)) % 1024 == 0) chosen.push_back(i);
  }
  Indices indices(static_cast<size_t>(kUpdates));
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = chosen[i % chosen.size()];
  std::vector<int8_t> data(static_cast<size_t>(kData));
  int8_t update = 1;
  const Tensor tensor = MakeTensor(STREW_INT8, RowMajor({kData}), data.data());
  const Tensor index = MakeTensor(STREW_INT64, RowMajor({kUpdates}), indices.data());
  const Tensor updates = MakeTensor(STREW_INT8, {{kUpdates}, {0}}, &update);
  const Context context = MakeContext();
  CountingAllocator allocator(CountingAllocator::kGrantsAll);
  allocator.InstallIn(context.get());
  ASSERT_EQ(strew_scatter_elements(context.get(), tensor.get(), index.get(), updates.get(), 0,
                                   STREW_MEAN, tensor.get()),
            STREW_OK);
  EXPECT_LE(static_cast<int64_t>(allocator.peak()),
            (int64_t{2} << 20) + (int64_t{64} << 10) + 40 * kDistinct);
}

}  // namespace
}  // namespace strew_test
