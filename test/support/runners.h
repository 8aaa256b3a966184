// SPDX-License-Identifier: Apache-2.0
//
// Ways to run the tasks of a call: on threads, in an unlikely order, watched, and wrongly.
#ifndef STREW_TEST_SUPPORT_RUNNERS_H_
#define STREW_TEST_SUPPORT_RUNNERS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <strew/strew.h>

namespace strew_test {

class Runner {
 public:
  virtual ~Runner() = default;

  // As strew_parallel_for says.
  virtual int32_t Run(int64_t count, strew_task run, void* task) = 0;

  // The runner must outlive the calls of the context.
  void InstallIn(strew_context* context, int32_t workers);
};

class InOrder final : public Runner {
 public:
  int32_t Run(int64_t count, strew_task run, void* task) override;
};

class Backwards final : public Runner {
 public:
  int32_t Run(int64_t count, strew_task run, void* task) override;
};

// Deals the tasks to at most eight new threads, which all begin at the same moment and of which
// none is the caller's. Any number of contexts may use one at the same time.
class StdThreads final : public Runner {
 public:
  int32_t Run(int64_t count, strew_task run, void* task) override;
};

// Notes what it is asked for and passes it on.
class Recorder final : public Runner {
 public:
  explicit Recorder(Runner& runner) : runner_(runner) {}
  int32_t Run(int64_t count, strew_task run, void* task) override;

  void Forget();
  int64_t phases() const { return phases_; }
  int64_t largest_count() const { return largest_count_; }

 private:
  Runner& runner_;
  std::atomic<int64_t> phases_{0};
  std::atomic<int64_t> largest_count_{0};
};

enum class Fault { kRunsNothing, kAnswersAnError, kSkipsTheFirst, kSkipsTheLast };

const std::vector<Fault>& Faults();
std::string NameOf(Fault fault);

// Passes all phases but the n-th on to a runner. That one it runs wrongly, backwards.
class Faulty final : public Runner {
 public:
  Faulty(Runner& runner, Fault fault, int64_t phase)
      : runner_(runner), fault_(fault), remaining_(phase) {}
  int32_t Run(int64_t count, strew_task run, void* task) override;

 private:
  Runner& runner_;
  const Fault fault_;
  int64_t remaining_;  // phases before the one that goes wrong; below 0 behind it
};

// Runs every task twice, on two threads that begin at the same moment.
class Twice final : public Runner {
 public:
  int32_t Run(int64_t count, strew_task run, void* task) override;
};

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_RUNNERS_H_
