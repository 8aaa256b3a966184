// SPDX-License-Identifier: Apache-2.0
//
// Calls on the threads of pthreadpool.
#include <cstddef>
#include <cstdint>
#include <memory>

#include <gtest/gtest.h>
#include <pthreadpool.h>

#include "threads/parallel_call.h"

namespace strew_test {
namespace {

class PthreadPool final : public Runner {
 public:
  int32_t Run(int64_t count, strew_task run, void* task) override {
    Job job{run, task};
    pthreadpool_parallelize_1d(pool_.get(), RunOne, &job, static_cast<size_t>(count), 0);
    return 0;
  }

 private:
  struct Job {
    strew_task run;
    void* task;
  };
  static void RunOne(void* opaque, size_t i) {
    const Job& job = *static_cast<const Job*>(opaque);
    job.run(job.task, static_cast<int64_t>(i));
  }

  struct Destroy {
    void operator()(pthreadpool_t pool) const { pthreadpool_destroy(pool); }
  };
  std::unique_ptr<pthreadpool, Destroy> pool_{pthreadpool_create(4)};
};

TEST(PthreadPool, RunsTheTasks) {
  PthreadPool pool;
  CheckRunner(pool);
}

}  // namespace
}  // namespace strew_test
