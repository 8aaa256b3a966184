// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <strew/strew.h>

#include "base/platform.h"
#include "reference/handles.h"
#include "reference/targets.h"
#include "support/reference.h"

namespace strew_test {
namespace {

// A setter, once for each answer that its argument may get.
#define EXPECT_OK(call) EXPECT_EQ(call, STREW_OK)
#define EXPECT_INVALID(call) EXPECT_EQ(call, STREW_INVALID_ARGUMENT)
#define EXPECT_UNSUPPORTED(call) EXPECT_EQ(call, STREW_UNSUPPORTED)

int32_t RunInOrder(void*, int64_t count, strew_task run, void* task) {
  for (int64_t i = 0; i < count; ++i) run(task, i);
  return 0;
}
void* Allocate(void*, size_t size, size_t alignment) {
  return strew::AllocateAligned(alignment, (size + alignment - 1) / alignment * alignment);
}
void Free(void*, void* memory, size_t) { strew::FreeAligned(memory); }

class ContextTest : public testing::Test {
 protected:
  strew_context* get() { return context_.get(); }

 private:
  Context context_ = MakeContext();
};

TEST(ContextLife, CreateAndDestroy) {
  strew_context* context = nullptr;
  EXPECT_OK(strew_context_create(&context));
  EXPECT_NE(context, nullptr);
  strew_context_destroy(context);
  strew_context_destroy(nullptr);
  EXPECT_INVALID(strew_context_create(nullptr));
}

TEST_F(ContextTest, ReportOfANewContextIsEmpty) {
  EXPECT_STREQ(strew_context_error(get()), "");
  EXPECT_EQ(strew_context_error_position(get()), -1);
  EXPECT_EQ(strew_context_applied(get()), 0);
}

TEST_F(ContextTest, ReportOfNoContextIsEmpty) {
  EXPECT_STREQ(strew_context_error(nullptr), "");
  EXPECT_EQ(strew_context_error_position(nullptr), -1);
  EXPECT_EQ(strew_context_applied(nullptr), 0);
}

TEST_F(ContextTest, NumThreads) {
  EXPECT_OK(strew_context_set_num_threads(get(), 1));
  EXPECT_INVALID(strew_context_set_num_threads(get(), -1));
  EXPECT_INVALID(strew_context_set_num_threads(get(), INT_MIN));
  for (const int32_t n : {1, 0, 2, -1}) {
    EXPECT_INVALID(strew_context_set_num_threads(nullptr, n)) << n;
  }
  const strew_status more_than_one = STREW_TEST_THREADS ? STREW_OK : STREW_UNSUPPORTED;
  for (const int32_t n : {0, 2, 64, INT_MAX}) {
    EXPECT_EQ(strew_context_set_num_threads(get(), n), more_than_one) << n;
  }
  EXPECT_OK(strew_context_set_num_threads(get(), 1));
}

TEST_F(ContextTest, ParallelFor) {
  EXPECT_OK(strew_context_set_parallel_for(get(), nullptr, nullptr, 0));
  for (const int32_t workers : {0, -1, INT_MIN}) {
    EXPECT_INVALID(strew_context_set_parallel_for(get(), RunInOrder, nullptr, workers)) << workers;
  }
  for (const int32_t workers : {1, -1, INT_MAX}) {
    EXPECT_INVALID(strew_context_set_parallel_for(get(), nullptr, nullptr, workers)) << workers;
  }
  EXPECT_INVALID(strew_context_set_parallel_for(get(), nullptr, get(), 0));
  EXPECT_INVALID(strew_context_set_parallel_for(get(), nullptr, get(), 1));
  EXPECT_INVALID(strew_context_set_parallel_for(nullptr, nullptr, nullptr, 0));
  EXPECT_INVALID(strew_context_set_parallel_for(nullptr, RunInOrder, nullptr, 2));
  for (const int32_t workers : {1, 2, INT_MAX}) {
    EXPECT_OK(strew_context_set_parallel_for(get(), RunInOrder, nullptr, workers)) << workers;
    EXPECT_OK(strew_context_set_parallel_for(get(), RunInOrder, get(), workers)) << workers;
  }
  EXPECT_OK(strew_context_set_parallel_for(get(), nullptr, nullptr, 0));
}

TEST_F(ContextTest, IndexPolicy) {
  for (const strew_index_policy policy : {STREW_INDEX_DROP, STREW_INDEX_CLAMP, STREW_INDEX_ERROR}) {
    EXPECT_OK(strew_context_set_index_policy(get(), policy)) << policy;
  }
  for (const strew_index_policy policy : {-1, 3, INT_MAX, INT_MIN}) {
    EXPECT_INVALID(strew_context_set_index_policy(get(), policy)) << policy;
  }
  EXPECT_INVALID(strew_context_set_index_policy(nullptr, STREW_INDEX_ERROR));
}

TEST_F(ContextTest, NegativeIndices) {
  EXPECT_OK(strew_context_set_negative_indices(get(), 0));
  EXPECT_OK(strew_context_set_negative_indices(get(), 1));
  for (const int32_t wrap : {-1, 2, INT_MAX, INT_MIN}) {
    EXPECT_INVALID(strew_context_set_negative_indices(get(), wrap)) << wrap;
  }
  EXPECT_INVALID(strew_context_set_negative_indices(nullptr, 1));
}

TEST_F(ContextTest, DuplicatePolicy) {
  EXPECT_OK(strew_context_set_duplicate_policy(get(), STREW_DUPLICATE_LAST));
  EXPECT_OK(strew_context_set_duplicate_policy(get(), STREW_DUPLICATE_ERROR));
  for (const strew_duplicate_policy policy : {-1, 2, INT_MAX, INT_MIN}) {
    EXPECT_INVALID(strew_context_set_duplicate_policy(get(), policy)) << policy;
  }
  EXPECT_INVALID(strew_context_set_duplicate_policy(nullptr, STREW_DUPLICATE_LAST));
}

TEST_F(ContextTest, Allocator) {
  EXPECT_OK(strew_context_set_allocator(get(), Allocate, Free, nullptr));
  EXPECT_INVALID(strew_context_set_allocator(get(), Allocate, nullptr, nullptr));
  EXPECT_INVALID(strew_context_set_allocator(get(), nullptr, Free, nullptr));
  EXPECT_INVALID(strew_context_set_allocator(nullptr, Allocate, Free, nullptr));
  EXPECT_OK(strew_context_set_allocator(get(), nullptr, nullptr, nullptr));
}

TEST_F(ContextTest, SimdTarget) {
  for (const Target& target : Targets()) {
    std::string name = target.name;
    EXPECT_OK(strew_context_set_simd_target(get(), name.c_str()));
    name.assign(name.size(), 'x');  // the name is copied
  }
  EXPECT_OK(strew_context_set_simd_target(get(), nullptr));
  for (const char* name : {"", "avx2", "AVX", "AVX2 ", "no such target"}) {
    EXPECT_UNSUPPORTED(strew_context_set_simd_target(get(), name)) << name;
  }
  EXPECT_INVALID(strew_context_set_simd_target(nullptr, strew_simd_target()));
  EXPECT_INVALID(strew_context_set_simd_target(nullptr, nullptr));
}

// One element, index -1: good with wrap, bad without.
class WrapTest : public ContextTest {
 protected:
  strew_status Scatter() {
    int64_t index = -1;
    float data = 1.0f, update = 2.0f;
    const Tensor indices = MakeTensor(STREW_INT64, RowMajor({1}), &index);
    const Tensor updates = MakeTensor(STREW_FLOAT32, RowMajor({1}), &update);
    const Tensor output = MakeTensor(STREW_FLOAT32, RowMajor({1}), &data);
    return strew_scatter_elements(get(), output.get(), indices.get(), updates.get(), 0, STREW_NONE,
                                  output.get());
  }
};

TEST_F(WrapTest, IsTheDefaultAndStaysAsItWasAfterARefusal) {
  EXPECT_OK(Scatter());
  EXPECT_INVALID(strew_context_set_negative_indices(get(), 2));
  EXPECT_OK(Scatter());
  EXPECT_OK(strew_context_set_negative_indices(get(), 0));
  EXPECT_EQ(Scatter(), STREW_INDEX_OUT_OF_RANGE);
  EXPECT_INVALID(strew_context_set_negative_indices(get(), -1));
  EXPECT_EQ(Scatter(), STREW_INDEX_OUT_OF_RANGE);
  EXPECT_OK(strew_context_set_negative_indices(get(), 1));
  EXPECT_OK(Scatter());
}

TEST_F(WrapTest, SurvivesRefusedSettings) {
  EXPECT_INVALID(strew_context_set_index_policy(get(), 3));
  EXPECT_INVALID(strew_context_set_duplicate_policy(get(), -1));
  EXPECT_INVALID(strew_context_set_num_threads(get(), -1));
  EXPECT_OK(strew_context_set_negative_indices(get(), 0));
  EXPECT_EQ(Scatter(), STREW_INDEX_OUT_OF_RANGE);
}

}  // namespace
}  // namespace strew_test
