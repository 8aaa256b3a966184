// SPDX-License-Identifier: Apache-2.0
//
// Scratch of calls with several workers: how much, from which thread it is asked for, and that the
// bytes are the same where there is none.
#include <algorithm>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include "base/platform.h"
#include "reference/dtypes.h"
#include "support/reference.h"
#include "threads/parallel_call.h"

namespace strew_test {
namespace {

constexpr int64_t kOfCall = int64_t{2} << 20;
constexpr int64_t kOfWorker = int64_t{64} << 10;
constexpr int64_t kOfEntry = 16;  // of single elements that may land anywhere

// Keeps books, and refuses from the n-th request on.
class Bookkeeper {
 public:
  explicit Bookkeeper(int64_t granted) : granted_(granted) {}
  ~Bookkeeper() { EXPECT_EQ(held_, 0) << "bytes were not freed"; }

  void InstallIn(strew_context* context) {
    ASSERT_EQ(strew_context_set_allocator(context, Allocate, Free, this), STREW_OK);
  }

  int64_t requests() const { return requests_; }
  int64_t peak() const { return peak_; }

 private:
  static void* Allocate(void* opaque, size_t size, size_t alignment) {
    return static_cast<Bookkeeper*>(opaque)->Grant(size, alignment);
  }
  static void Free(void* opaque, void* memory, size_t size) {
    auto* const self = static_cast<Bookkeeper*>(opaque);
    EXPECT_EQ(std::this_thread::get_id(), self->thread_) << "freed on another thread";
    self->held_ -= static_cast<int64_t>(size);
    strew::FreeAligned(memory);
  }

  void* Grant(size_t size, size_t alignment) {
    EXPECT_EQ(std::this_thread::get_id(), thread_) << "asked for on another thread";
    if (++requests_ > granted_) return nullptr;
    held_ += static_cast<int64_t>(size);
    peak_ = std::max(peak_, held_);
    const size_t rounded = (size + alignment - 1) / alignment * alignment;
    void* const memory = strew::AllocateAligned(alignment, rounded);
    std::fill_n(static_cast<unsigned char*>(memory), size, static_cast<unsigned char>(0xA5));
    return memory;
  }

  const std::thread::id thread_ = std::this_thread::get_id();
  const int64_t granted_;
  int64_t requests_ = 0;
  int64_t held_ = 0;
  int64_t peak_ = 0;
};

// Answers how many blocks were wanted.
int64_t CallWith(LargeCall& call, int32_t workers, int64_t granted, const Bytes& expected,
                 int64_t limit) {
  StdThreads threads;
  const Context context = MakeContext();
  threads.InstallIn(context.get(), workers);
  Bookkeeper bookkeeper(granted);
  bookkeeper.InstallIn(context.get());
  EXPECT_EQ(call.Trouble(context.get(), expected), "")
      << workers << " workers, " << granted << " blocks: " << call.Describe();
  EXPECT_LE(bookkeeper.peak(), limit) << workers << " workers: " << call.Describe();
  return bookkeeper.requests();
}

class ParallelScratch : public testing::TestWithParam<int32_t> {};

INSTANTIATE_TEST_SUITE_P(SomeWorkers, ParallelScratch, testing::Values(1, 2, 8));

TEST_P(ParallelScratch, IsLimitedAndMayBeRefused) {
  const int32_t workers = GetParam();
  int64_t wanted_at_all = 0;
  for (const strew_dtype dtype : {STREW_FLOAT32, STREW_INT8, STREW_COMPLEX128}) {
    for (const CallShape& call_shape : CallShapes(1 << 18)) {
      LargeCall call(call_shape, dtype, dtype == STREW_INT8 ? STREW_NONE : STREW_ADD);
      const int64_t entries = call_shape.lands_anywhere ? Product(call_shape.UpdatesShape()) : 0;
      const int64_t limit = kOfCall + workers * kOfWorker + entries * kOfEntry;
      for (const Place place : kPlaces) {
        call.Choose(place);
        const Bytes expected = call.Alone();
        const int64_t wanted = CallWith(call, workers, 1000, expected, limit);
        for (int64_t granted = 0; granted < wanted; ++granted) {
          CallWith(call, workers, granted, expected, limit);
        }
        wanted_at_all += wanted;
        ASSERT_FALSE(HasFailure());
      }
    }
  }
  EXPECT_GT(wanted_at_all, 0) << "no call wants scratch: this test is void";
}

}  // namespace
}  // namespace strew_test
