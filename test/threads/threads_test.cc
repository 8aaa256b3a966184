// SPDX-License-Identifier: Apache-2.0
//
// Different contexts at the same time, reading the same tensors.
#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "reference/array.h"
#include "reference/handles.h"
#include "reference/random.h"
#include "support/at_once.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr int kThreads = 8;

// The inputs of a call, which cannot be written.
class Inputs {
 public:
  explicit Inputs(const Dims& shape)
      : shape_(shape),
        data_(RandomArray(random_, STREW_FLOAT32, RowMajor(shape))),
        updates_(RandomArray(random_, STREW_FLOAT32, RowMajor(shape))),
        indices_(RandomIndices(random_, STREW_INT16, RowMajor(shape), shape[1])),
        alone_(MakeOutput()) {
    for (Array* input : {&data_, &updates_, &indices_}) input->buffer().SetReadOnly(true);
    EXPECT_EQ(Scatter(nullptr, alone_), STREW_OK);
  }

  Array MakeOutput() const { return Array(STREW_FLOAT32, RowMajor(shape_)); }

  // True if a call with this context leaves in the output what one of a single thread does.
  bool IsRight(strew_context* context, const Array& output) const {
    return Scatter(context, output) == STREW_OK && output.Snapshot() == alone_.Snapshot();
  }

 private:
  strew_status Scatter(strew_context* context, const Array& output) const {
    return strew_scatter_elements(context, data_.tensor(), indices_.tensor(), updates_.tensor(), 1,
                                  STREW_NONE, output.tensor());
  }

  Random random_{Seed()};
  const Dims shape_;
  Array data_, updates_, indices_, alone_;
};

TEST(Threads, ShareInputsAndNothingElse) {
  constexpr int kCalls = 50;
  const Inputs inputs({40, 60});
  std::atomic<int> right{0};
  AtOnce(kThreads, [&](int) {
    const Array output = inputs.MakeOutput();
    for (int i = 0; i < kCalls; ++i) {
      const Context context = MakeContext();
      right += inputs.IsRight(context.get(), output) ? 1 : 0;
    }
  });
  EXPECT_EQ(right, kThreads * kCalls);
}

// All of them exist before the first one is used. Each third has two workers from threads that are
// all the same runner's, each third those of the library where it has any; they use every
// instruction set.
TEST(Threads, UseAThousandContexts) {
  constexpr int kContextsOfAThread = 125;
  const Inputs inputs({128, 512});
  StdThreads threads;
  Recorder runner(threads);
  const auto make_context = [&](int i) {
    Context context = MakeContext();
    if (i % 3 == 1) runner.InstallIn(context.get(), 2);
    if (i % 3 == 2 && STREW_TEST_THREADS) {
      EXPECT_EQ(strew_context_set_num_threads(context.get(), 2), STREW_OK);
    }
    int32_t targets = 0;
    while (strew_simd_target_at(targets) != nullptr) ++targets;
    const char* const target = strew_simd_target_at(i % targets);
    EXPECT_EQ(strew_context_set_simd_target(context.get(), target), STREW_OK);
    return context;
  };

  std::atomic<int> right{0};
  StartLine all_are_made(kThreads);
  AtOnce(kThreads, [&](int) {
    const Array output = inputs.MakeOutput();
    std::vector<Context> contexts;
    for (int i = 0; i < kContextsOfAThread; ++i) contexts.push_back(make_context(i));
    all_are_made.Wait();
    for (const Context& context : contexts) {
      right += inputs.IsRight(context.get(), output) ? 1 : 0;
    }
  });
  EXPECT_EQ(right, kThreads * kContextsOfAThread);
  EXPECT_EQ(runner.largest_count(), 2) << "nothing was shared out: this test is void";
}

}  // namespace
}  // namespace strew_test
