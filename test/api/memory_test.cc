// SPDX-License-Identifier: Apache-2.0
//
// Descriptors, contexts and calls where the system has no memory for them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <strew/strew.h>

#include "support/call_shapes.h"
#include "support/reference.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define STREW_TEST_MALLOC 1

extern "C" void* __libc_malloc(size_t size);
extern "C" void* __libc_memalign(size_t alignment, size_t size);

namespace {
// Blocks that are granted before malloc fails.
constexpr int64_t kAll = INT64_MAX;
thread_local int64_t granted = kAll;

bool IsRefused() {
  if (granted == kAll) return false;
  if (granted == 0) return true;
  --granted;
  return false;
}
}  // namespace

// They take the place of the C library's, for the library under test too.
extern "C" void* malloc(size_t size) { return IsRefused() ? nullptr : __libc_malloc(size); }
extern "C" void* aligned_alloc(size_t alignment, size_t size) {
  return IsRefused() ? nullptr : __libc_memalign(alignment, size);
}
#endif

namespace strew_test {
namespace {

class NoMemory : public testing::Test {
 protected:
  void SetUp() override {
#if !defined(STREW_TEST_MALLOC)
    GTEST_SKIP() << "malloc is another's here";
#endif
  }

  // The status of the call where malloc has so many blocks to give.
  template <class Call>
  static strew_status With(int64_t blocks, Call call) {
#if defined(STREW_TEST_MALLOC)
    granted = blocks;
    const strew_status status = call();
    granted = kAll;
    return status;
#else
    static_cast<void>(blocks);
    return call();
#endif
  }
  template <class Call>
  static strew_status Without(Call call) {
    return With(0, call);
  }
  // A call writes the same to `output` where malloc has so many blocks as where it has all.
  template <class Call>
  static void ExpectSameWith(int64_t blocks, Array& output, const Call& call) {
    const auto before = output.Snapshot();
    EXPECT_EQ(With(blocks, call), STREW_OK);
    const auto without = output.Snapshot();
    output.Restore(before);
    EXPECT_EQ(call(), STREW_OK);
    EXPECT_TRUE(output.Snapshot() == without) << blocks;
  }
};

TEST_F(NoMemory, Tensor) {
  const int64_t shape[] = {3};
  int32_t numbers[3];
  strew_tensor* tensor = reinterpret_cast<strew_tensor*>(numbers);
  EXPECT_EQ(Without([&] {
              return strew_tensor_create(STREW_INT32, 1, shape, nullptr, numbers, &tensor);
            }),
            STREW_OUT_OF_MEMORY);
  EXPECT_EQ(tensor, nullptr);
  ASSERT_EQ(strew_tensor_create(STREW_INT32, 1, shape, nullptr, numbers, &tensor), STREW_OK);
  // An existing descriptor needs no memory.
  EXPECT_EQ(
      Without([&] { return strew_tensor_reset(tensor, STREW_INT32, 1, shape, nullptr, numbers); }),
      STREW_OK);
  strew_tensor_destroy(tensor);
}

TEST_F(NoMemory, Context) {
  int64_t place;
  strew_context* context = reinterpret_cast<strew_context*>(&place);
  EXPECT_EQ(Without([&] { return strew_context_create(&context); }), STREW_OUT_OF_MEMORY);
  EXPECT_EQ(context, nullptr);
}

TEST_F(NoMemory, ThreadsOfAContext) {
  if (!STREW_TEST_THREADS) GTEST_SKIP() << "this build has no threads of its own";
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "there is one CPU only";
  const Context context = MakeContext();
  const auto ask = [&] { return strew_context_set_num_threads(context.get(), 2); };
  EXPECT_EQ(Without(ask), STREW_OUT_OF_MEMORY);
  EXPECT_STREQ(strew_last_error(), "no memory for 2 threads");
  EXPECT_EQ(ask(), STREW_OK);
}

TEST_F(NoMemory, Scratch) {
  Random random(Seed());
  const CallShape rows{"", Operator::kScatterNd, {300000}, {200000, 1}};
  Case c = MakeCase(random, rows, STREW_INT16, true);
  c.reduction = STREW_MEAN;
  const Context context = MakeContext();
  const auto before = c.data.Snapshot();
  const auto call = [&] { return Call(c, context.get(), c.data.tensor()); };
  EXPECT_EQ(Without(call), STREW_OUT_OF_MEMORY);
  EXPECT_NE(std::string(strew_context_error(context.get())), "");
  EXPECT_EQ(c.data.Snapshot(), before);
  EXPECT_EQ(call(), STREW_OK);
}

// The handle, its parts, and scratch to put them in order.
TEST_F(NoMemory, Plan) {
  Random random(Seed());
  for (const int64_t entries : {1, 10, 20000}) {
    const CallShape rows{"", Operator::kScatterNd, {5000, 3}, {entries, 1}};
    const Case c = MakeCase(random, rows, STREW_INT16, true);
    int64_t blocks = 0;
    strew_status status = STREW_OUT_OF_MEMORY;
    for (; status != STREW_OK; ++blocks) {
      Plan plan;
      status = With(blocks, [&] { return MakePlan(c, nullptr, &plan); });
      ASSERT_TRUE(status == STREW_OK || status == STREW_OUT_OF_MEMORY);
      EXPECT_EQ(plan != nullptr, status == STREW_OK);
      EXPECT_TRUE(status == STREW_OK || *strew_last_error() != '\0');
    }
    EXPECT_GT(blocks, 3);
  }
}

// A plan that gathers for another keeps its places in the order of that, if there is memory.
TEST_F(NoMemory, PlacesInTheOrderOfAnotherPlan) {
  Random random(Seed());
  const CallShape rows{"", Operator::kScatterUpdate, {500, 40}, {3000}};
  Case from = MakeCase(random, rows, STREW_FLOAT32, true);
  Case to = MakeCase(random, rows, STREW_FLOAT32, true);
  const auto before = to.data.Snapshot();
  for (int64_t blocks = 0; blocks < 4; ++blocks) {
    Plan of_from, of_to;
    ASSERT_EQ(MakePlan(from, nullptr, &of_from), STREW_OK);
    ASSERT_EQ(MakePlan(to, nullptr, &of_to), STREW_OK);
    const auto call = [&] {
      return strew_plan_gather_scatter(nullptr, of_from.get(), from.data.tensor(), nullptr,
                                       of_to.get(), to.data.tensor(), STREW_ADD, to.data.tensor());
    };
    to.data.Restore(before);
    ExpectSameWith(blocks, to.data, call);
  }
}

// A plan of means keeps the number of updates of each destination, if there is memory.
TEST_F(NoMemory, CountsOfDestinations) {
  Random random(Seed());
  const CallShape line{"", Operator::kScatterUpdate, {500}, {3000}};
  Case c = MakeCase(random, line, STREW_FLOAT32, true);
  const auto before = c.data.Snapshot();
  for (int64_t blocks = 0; blocks < 4; ++blocks) {
    Plan plan;
    ASSERT_EQ(MakePlan(c, nullptr, &plan), STREW_OK);
    const size_t bytes = strew_plan_memory(plan.get());
    const auto call = [&] {
      return strew_plan_scatter(nullptr, plan.get(), c.data.tensor(), c.updates.tensor(),
                                STREW_MEAN, c.data.tensor());
    };
    c.data.Restore(before);
    ExpectSameWith(blocks, c.data, call);
    EXPECT_GE(strew_plan_memory(plan.get()), bytes + 500);
  }
}

}  // namespace
}  // namespace strew_test
