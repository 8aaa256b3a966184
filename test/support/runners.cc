// SPDX-License-Identifier: Apache-2.0
#include "runners.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "at_once.h"

namespace strew_test {
namespace {

constexpr int64_t kMostThreads = 8;

int32_t ParallelFor(void* opaque, int64_t count, strew_task run, void* task) {
  return static_cast<Runner*>(opaque)->Run(count, run, task);
}

// Tasks in [begin, end), the last one first.
void RunBackwards(int64_t begin, int64_t end, strew_task run, void* task) {
  for (int64_t i = end; i > begin; --i) run(task, i - 1);
}

}  // namespace

void Runner::InstallIn(strew_context* context, int32_t workers) {
  ASSERT_EQ(strew_context_set_parallel_for(context, ParallelFor, this, workers), STREW_OK);
}

int32_t InOrder::Run(int64_t count, strew_task run, void* task) {
  for (int64_t i = 0; i < count; ++i) run(task, i);
  return 0;
}

int32_t Backwards::Run(int64_t count, strew_task run, void* task) {
  RunBackwards(0, count, run, task);
  return 0;
}

int32_t StdThreads::Run(int64_t count, strew_task run, void* task) {
  const auto number = static_cast<int>(std::min(count, kMostThreads));
  AtOnce(number, [=](int first) {
    for (int64_t i = first; i < count; i += number) run(task, i);
  });
  return 0;
}

int32_t Recorder::Run(int64_t count, strew_task run, void* task) {
  ++phases_;
  int64_t largest = largest_count_;
  while (largest < count && !largest_count_.compare_exchange_weak(largest, count)) continue;
  return runner_.Run(count, run, task);
}

void Recorder::Forget() {
  phases_ = 0;
  largest_count_ = 0;
}

const std::vector<Fault>& Faults() {
  static const std::vector<Fault> faults = {Fault::kRunsNothing, Fault::kAnswersAnError,
                                            Fault::kSkipsTheFirst, Fault::kSkipsTheLast};
  return faults;
}

std::string NameOf(Fault fault) {
  switch (fault) {
    case Fault::kRunsNothing:
      return "RunsNothing";
    case Fault::kAnswersAnError:
      return "AnswersAnError";
    case Fault::kSkipsTheFirst:
      return "SkipsTheFirst";
    default:
      return "SkipsTheLast";
  }
}

int32_t Faulty::Run(int64_t count, strew_task run, void* task) {
  if (remaining_-- != 0) return runner_.Run(count, run, task);
  if (fault_ == Fault::kRunsNothing) return -1;
  const int64_t begin = fault_ == Fault::kSkipsTheFirst ? 1 : 0;
  const int64_t end = fault_ == Fault::kSkipsTheLast ? count - 1 : count;
  RunBackwards(begin, end, run, task);
  return fault_ == Fault::kAnswersAnError ? 7 : 0;
}

int32_t Twice::Run(int64_t count, strew_task run, void* task) {
  AtOnce(2, [=](int) { RunBackwards(0, count, run, task); });
  return 0;
}

}  // namespace strew_test
