// SPDX-License-Identifier: Apache-2.0
//
// Scratch from the caller's allocator: how much, whether all of it comes back, and what happens
// when there is none.
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "support/case.h"
#include "support/handles.h"
#include "support/indices.h"
#include "support/random.h"

namespace strew_test {
namespace {

constexpr size_t kScratchLimit = (size_t{2} << 20) + (size_t{64} << 10);

// Keeps books, refuses from the n-th request on, and hands out memory full of rubbish.
class Ledger {
 public:
  explicit Ledger(int64_t granted) : granted_(granted) {}
  ~Ledger() { EXPECT_TRUE(live_.empty()) << live_.size() << " blocks were not freed"; }

  void InstallIn(strew_context* context) {
    ASSERT_EQ(strew_context_set_allocator(context, Allocate, Free, this), STREW_OK);
  }

  int64_t requests() const { return requests_; }
  size_t peak() const { return peak_; }

 private:
  static void* Allocate(void* opaque, size_t size, size_t alignment) {
    return static_cast<Ledger*>(opaque)->Grant(size, alignment);
  }
  static void Free(void* opaque, void* memory, size_t size) {
    static_cast<Ledger*>(opaque)->TakeBack(memory, size);
  }

  void* Grant(size_t size, size_t alignment) {
    EXPECT_GT(size, 0u);
    EXPECT_TRUE(alignment > 0 && (alignment & (alignment - 1)) == 0) << alignment;
    if (++requests_ > granted_) return nullptr;
    const size_t rounded = (size + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, rounded);
    std::memset(memory, 0xA5, rounded);
    live_[memory] = size;
    held_ += size;
    peak_ = std::max(peak_, held_);
    return memory;
  }

  void TakeBack(void* memory, size_t size) {
    const auto block = live_.find(memory);
    ASSERT_NE(block, live_.end()) << "freed what was not allocated";
    EXPECT_EQ(block->second, size);
    held_ -= size;
    live_.erase(block);
    std::free(memory);
  }

  const int64_t granted_;
  int64_t requests_ = 0;
  std::map<void*, size_t> live_;
  size_t held_ = 0;
  size_t peak_ = 0;
};

Case MakeElements(Random& random, strew_dtype dtype, strew_dtype index, const Dims& shape,
                  int64_t axis, strew_reduction reduction) {
  Case c{Operator::kScatterElements, RandomArray(random, dtype, RowMajor(shape)),
         RandomArray(random, dtype, RowMajor(shape))};
  c.indices = RandomIndices(random, index, RowMajor(shape), shape[static_cast<size_t>(axis)]);
  c.axis = axis;
  c.reduction = reduction;
  return c;
}

// Calls that are large or crooked enough to want scratch, if any call does. Integers have no NaN
// whose payload were open: bytes are compared as they are.
std::vector<Case> MakeHungryCases() {
  Random random(Seed());
  std::vector<Case> cases;
  for (const strew_reduction reduction : {STREW_NONE, STREW_ADD, STREW_MAX}) {
    for (const strew_dtype index : {STREW_INT64, STREW_INT32, STREW_UINT16, STREW_INT8}) {
      const bool narrow = index == STREW_INT8;
      for (const int64_t axis : {0, 1}) {
        const Dims shape = narrow ? Dims{100, 120} : Dims{300, 700};
        cases.push_back(MakeElements(random, STREW_INT32, index, shape, axis, reduction));
      }
    }
    Case nd{Operator::kScatterNd, RandomArray(random, STREW_INT16, RowMajor({60, 50, 3})),
            RandomArray(random, STREW_INT16, {{20000, 3}, {3, -1}})};
    nd.indices = RandomIndices(random, STREW_INT32, {{20000, 2}, {-2, 1}}, 50);
    nd.reduction = reduction;
    cases.push_back(std::move(nd));

    // A column 20,000 long: strips of columns cannot be kept near the cache.
    cases.push_back(MakeElements(random, STREW_INT64, STREW_INT64, {20000, 9}, 0, reduction));

    Case slice{Operator::kSliceScatterInt64, RandomArray(random, STREW_INT8, {{90, 80}, {1, 90}}),
               RandomArray(random, STREW_INT8, {{90, 27}, {-1, -90}})};
    slice.start = IndexArray(STREW_INT64, {1}, {79});
    slice.stop = IndexArray(STREW_INT64, {1}, {-81});
    slice.step = IndexArray(STREW_INT64, {1}, {-3});
    slice.axes = IndexArray(STREW_INT64, {1}, {1});
    slice.reduction = reduction;
    cases.push_back(std::move(slice));
  }
  return cases;
}

class Allocator : public testing::Test {
 protected:
  // Calls with an allocator that grants so many blocks; answers how many were wanted.
  static int64_t CallWith(int64_t granted, Case& c) {
    const auto before = c.data.Snapshot();
    auto expected = before;
    const View view = c.data.ViewOf(expected.data());
    Expect(c, view, view);

    const Context context = MakeContext();
    Ledger ledger(granted);
    ledger.InstallIn(context.get());
    const strew_status status = Call(c, context.get(), c.data.tensor());
    const bool refused = ledger.requests() > granted;
    EXPECT_TRUE(status == STREW_OK || (refused && status == STREW_OUT_OF_MEMORY))
        << strew_status_name(status) << Describe(c);
    EXPECT_EQ(status == STREW_OK, std::string(strew_context_error(context.get())).empty());
    EXPECT_EQ(c.data.Snapshot(), status == STREW_OK ? expected : before) << Describe(c);
    EXPECT_LE(ledger.peak(), kScratchLimit) << Describe(c);
    c.data.Restore(before);
    return ledger.requests();
  }
};

TEST_F(Allocator, EveryRequestMayBeRefused) {
  for (Case& c : MakeHungryCases()) {
    const int64_t wanted = CallWith(1000, c);
    for (int64_t granted = 0; granted < wanted; ++granted) CallWith(granted, c);
  }
}

TEST_F(Allocator, SmallCallsAllocateNothing) {
  Random random(Seed());
  for (const strew_reduction reduction : {STREW_NONE, STREW_ADD, STREW_MUL, STREW_MIN, STREW_MAX}) {
    for (const strew_dtype index : {STREW_INT64, STREW_INT32, STREW_INT8}) {
      for (const Dims& shape : {Dims{64}, Dims{8, 8}, Dims{2, 8, 4}}) {
        for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis) {
          Case c = MakeElements(random, STREW_INT32, index, shape, axis, reduction);
          EXPECT_EQ(CallWith(0, c), 0) << Describe(c);
        }
      }
    }
    Case nd{Operator::kScatterNd, RandomArray(random, STREW_INT32, RowMajor({9, 9, 4})),
            RandomArray(random, STREW_INT32, RowMajor({4, 4, 4}))};
    nd.indices = RandomIndices(random, STREW_UINT8, RowMajor({4, 4, 2}), 9);
    nd.reduction = reduction;
    EXPECT_EQ(CallWith(0, nd), 0) << Describe(nd);
  }
}

TEST_F(Allocator, RefusedCallsAllocateNothingThatStays) {
  Random random(Seed());
  Case c = MakeElements(random, STREW_INT32, STREW_INT64, {300, 700}, 0, STREW_ADD);
  WriteIndex(STREW_INT64, c.indices->view().At({299, 699}), 300);
  const auto before = c.data.Snapshot();
  const Context context = MakeContext();
  Ledger ledger(1000);
  ledger.InstallIn(context.get());
  EXPECT_EQ(Call(c, context.get(), c.data.tensor()), STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(c.data.Snapshot(), before);
}

TEST_F(Allocator, MayBeTakenOutAgain) {
  Random random(Seed());
  Case c = MakeElements(random, STREW_INT32, STREW_INT32, {300, 700}, 0, STREW_ADD);
  const Context context = MakeContext();
  Ledger ledger(1000);
  ledger.InstallIn(context.get());
  ASSERT_EQ(strew_context_set_allocator(context.get(), nullptr, nullptr, nullptr), STREW_OK);
  EXPECT_EQ(Call(c, context.get(), c.data.tensor()), STREW_OK);
  EXPECT_EQ(ledger.requests(), 0);
}

}  // namespace
}  // namespace strew_test
