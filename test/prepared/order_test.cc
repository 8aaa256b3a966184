// SPDX-License-Identifier: Apache-2.0
//
// The order of a plan's entries, made by one task and by many: that of a stable sort.
#include "prepared/order.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/context.h"
#include "plan/tuning.h"
#include "prepared/plan.h"
#include "reference/handles.h"
#include "reference/random.h"
#include "support/counting_allocator.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

using strew::prepared::Numbers;
using Values = std::vector<int64_t>;

int64_t Count(const Values& values) { return static_cast<int64_t>(values.size()); }

// Indices along the axis of [batches, axis, turns], in data of [batches, extent, turns].
struct Shape {
  int64_t batches, axis, turns, extent;
};

struct Order {
  Values destinations, firsts, entries;
};
bool operator==(const Order& a, const Order& b) {
  return a.destinations == b.destinations && a.firsts == b.firsts && a.entries == b.entries;
}

// Indices beyond the extent are dropped.
Order Sorted(const Shape& shape, const Values& indices) {
  Values destinations;
  Order order;
  for (int64_t e = 0; e < Count(indices); ++e) {
    const int64_t index = indices[static_cast<size_t>(e)];
    const int64_t batch = e / (shape.axis * shape.turns);
    destinations.push_back((batch * shape.extent + index) * shape.turns + e % shape.turns);
    if (index < shape.extent) order.entries.push_back(e);
  }
  const auto destination = [&](int64_t e) { return destinations[static_cast<size_t>(e)]; };
  std::stable_sort(order.entries.begin(), order.entries.end(),
                   [&](int64_t a, int64_t b) { return destination(a) < destination(b); });
  for (int64_t i = 0; i < Count(order.entries); ++i) {
    const int64_t of_entry = destination(order.entries[static_cast<size_t>(i)]);
    if (!order.destinations.empty() && order.destinations.back() == of_entry) continue;
    order.destinations.push_back(of_entry);
    order.firsts.push_back(i);
  }
  order.firsts.push_back(Count(order.entries));
  return order;
}

// If indices are the same in all turns, a plan has one entry for all of them.
Order Expected(const Shape& shape, const Values& indices) {
  Values of_rows;
  for (int64_t i = 0; i < Count(indices); i += shape.turns) {
    const auto row = indices.begin() + i;
    const bool is_equal = std::all_of(row, row + shape.turns, [&](int64_t n) { return n == *row; });
    if (!is_equal) return Sorted(shape, indices);
    of_rows.push_back(*row);
  }
  return Sorted({shape.batches, shape.axis, 1, shape.extent}, of_rows);
}

Values All(const Numbers& numbers) {
  Values values;
  for (int64_t i = 0; i < numbers.count(); ++i) values.push_back(numbers.At(i));
  return values;
}

// The arrays of a plan. Those that it omits, because they follow from the others, are filled in.
Order Kept(const strew::prepared::Plan& plan) {
  Order order = {All(plan.destinations), All(plan.firsts), All(plan.order)};
  if (!plan.firsts.exists()) {
    for (int64_t i = 0; i <= plan.kept; ++i) order.firsts.push_back(i);
  }
  if (!plan.order.exists()) {
    EXPECT_EQ(plan.kept, plan.entries);
    for (int64_t e = 0; e < plan.entries; ++e) order.entries.push_back(e);
  }
  return order;
}

class OrderOfEntries : public testing::Test {
 protected:
  // Every task gets a few entries.
  OrderOfEntries() {
    tuning_.least_task_ns = 50;
    tuning_.least_constant_batches = 2;
  }

  Plan Make(const Shape& shape, const Values& indices, int32_t workers, Runner& runner) {
    strew_context* const context = context_.get();
    context->settings.tuning = &tuning_;
    EXPECT_EQ(strew_context_set_index_policy(context, STREW_INDEX_DROP), STREW_OK);
    runner.InstallIn(context, workers);
    const Dims dims = {shape.batches, shape.axis, shape.turns};
    strew_tensor* of_indices = nullptr;
    void* const data = const_cast<int64_t*>(indices.data());
    EXPECT_EQ(strew_tensor_create(STREW_INT64, 3, dims.data(), nullptr, data, &of_indices),
              STREW_OK);
    strew_plan* plan = nullptr;
    status_ = strew_plan_scatter_elements(context, of_indices, 1, shape.extent, &plan);
    strew_tensor_destroy(of_indices);
    return Plan(plan);
  }

  void ExpectSorted(const std::string& what, const Shape& shape, const Values& indices) {
    const Order expected = Expected(shape, indices);
    for (const int32_t workers : {1, 2, 3, 8, 100}) {
      for (Runner* const runner :
           {static_cast<Runner*>(&backwards_), static_cast<Runner*>(&threads_)}) {
        const Plan plan = Make(shape, indices, workers, *runner);
        ASSERT_EQ(status_, STREW_OK);
        EXPECT_TRUE(Kept(plan->plan) == expected) << what << ", " << workers << " workers";
      }
    }
  }

  strew::plan::Tuning tuning_;
  Context context_ = MakeContext();
  Backwards backwards_;
  StdThreads threads_;
  strew_status status_ = STREW_OK;
};

constexpr Shape kShapes[] = {
    {1, 4000, 1, 100}, {1, 3000, 1, 1 << 20}, {30, 50, 1, 7}, {3, 5, 100, 9}, {40, 2, 3, 2},
    {1, 1, 1, 1},      {1, 70, 1, 70},        {2, 0, 5, 3},   {5, 1, 200, 1}, {1, 40000, 1, 60000}};

TEST_F(OrderOfEntries, IsThatOfAStableSort) {
  Random random(Seed());
  for (const Shape& shape : kShapes) {
    const int64_t count = shape.batches * shape.axis * shape.turns;
    Values indices(static_cast<size_t>(count));
    for (int64_t& index : indices) index = random.Between(0, shape.extent - 1);
    ExpectSorted("random", shape, indices);
    Values some = indices;
    for (int64_t& index : some) index += random.OneIn(5) ? shape.extent : 0;
    ExpectSorted("some dropped", shape, some);
    std::sort(indices.begin(), indices.end());
    ExpectSorted("ascending", shape, indices);
    std::reverse(indices.begin(), indices.end());
    ExpectSorted("descending", shape, indices);
    ExpectSorted("equal", shape, Values(static_cast<size_t>(count), shape.extent - 1));
    ExpectSorted("all dropped", shape, Values(static_cast<size_t>(count), shape.extent));
  }
}

// Groups across the borders between the slices of tasks.
TEST_F(OrderOfEntries, OfRunsOfEqualIndicesHasOneGroupForEach) {
  for (const int64_t run : {2, 3, 63, 64, 1000}) {
    Values indices;
    for (int64_t i = 0; i < 5000; ++i) indices.push_back(i / run);
    ExpectSorted("runs", {1, 5000, 1, 5000}, indices);
    indices[1700] = 9999;
    ExpectSorted("runs and a gap", {1, 5000, 1, 5000}, indices);
    indices[4000] = 0;
    ExpectSorted("runs out of order", {1, 5000, 1, 5000}, indices);
  }
}

TEST_F(OrderOfEntries, IsRefusedIfMemoryIs) {
  Values indices;
  for (int64_t i = 0; i < 5000; ++i) indices.push_back((i * 77) % 3000);
  for (int64_t granted = 0; granted < 3; ++granted) {
    CountingAllocator allocator(granted);
    allocator.InstallIn(context_.get());
    const Plan plan = Make({1, 5000, 1, 3000}, indices, 8, threads_);
    EXPECT_EQ(status_, STREW_OUT_OF_MEMORY) << granted;
    EXPECT_EQ(plan, nullptr);
  }
  CountingAllocator allocator(3);
  allocator.InstallIn(context_.get());
  EXPECT_NE(Make({1, 5000, 1, 3000}, indices, 8, threads_), nullptr);
}

// `strew bench` takes the time of each stage of a creation by the sentence that it begins with.
TEST_F(OrderOfEntries, IsToldStageByStage) {
  const auto sentences = [this](const Values& indices) {
    std::vector<std::string> told;
    const auto tell = [](void* opaque, const char* sentence) {
      static_cast<std::vector<std::string>*>(opaque)->push_back(sentence);
    };
    strew::ExplainTo(context_.get(), tell, &told);
    EXPECT_NE(Make({1, Count(indices), 1, 3000}, indices, 2, threads_), nullptr);
    strew::ExplainTo(context_.get(), nullptr, nullptr);
    return told;
  };
  Values indices;
  for (int64_t i = 0; i < 6000; ++i) indices.push_back((i * 77) % 3000);
  const std::vector<std::string> sorted = sentences(indices);
  ASSERT_EQ(sorted.size(), 4);
  EXPECT_EQ(sorted[0].find("6000 indices: checked before"), 0);
  EXPECT_EQ(sorted[1].find("6000 entries: their places are stored, in "), 0);
  EXPECT_EQ(sorted[2].find("6000 entries: put in the order of their destinations, in "), 0);
  EXPECT_EQ(sorted[3], "3000 destinations: stored with their entries, which were sorted.");
  std::sort(indices.begin(), indices.end());
  const std::vector<std::string> ascending = sentences(indices);
  ASSERT_EQ(ascending.size(), 4);
  EXPECT_EQ(ascending[3], "3000 destinations: stored with their entries, which ascend.");
}

}  // namespace
}  // namespace strew_test
