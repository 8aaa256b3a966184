// SPDX-License-Identifier: Apache-2.0
#include "share/parts.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>

#include "plan/pass.h"

namespace strew::share {
namespace {

using plan::kMostTasks;

// State that the tasks of one parallel_for share.
struct Phase {
  internal::PartFunction function;
  const void* body;
  int64_t tasks;
  int64_t parts;
  std::atomic<int64_t> next_part{0};
  std::atomic<int64_t> finished{0};

  Phase(int64_t tasks_, int64_t parts_, internal::PartFunction function_, const void* body_)
      : function(function_), body(body_), tasks(tasks_), parts(parts_) {}

  // Returns false if the task has begun before.
  bool Begin(int64_t task) {
    const uint32_t bit = uint32_t{1} << (task % 32);
    return (begun_[task / 32].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }

 private:
  std::atomic<uint32_t> begun_[kMostTasks / 32] = {};  // a bit for each task
};

void RunTask(void* phase_of_task, int64_t task) {
  Phase& phase = *static_cast<Phase*>(phase_of_task);
  // A runner that breaks its contract must not make two tasks share scratch.
  if (task < 0 || task >= phase.tasks) return;
  if (!phase.Begin(task)) return;
  while (true) {
    const int64_t part = phase.next_part.fetch_add(1, std::memory_order_relaxed);
    if (part >= phase.parts) break;
    phase.function(phase.body, part, task);
  }
  phase.finished.fetch_add(1, std::memory_order_release);
}

}  // namespace

Status internal::RunParts(const Call& call, int64_t tasks, int64_t parts, PartFunction function,
                          const void* body) {
  tasks = std::min(tasks, parts);
  if (tasks <= 1) {
    for (int64_t part = 0; part < parts; ++part) function(body, part, 0);
    return STREW_OK;
  }
  const Runner& runner = call.settings().runner;
  Phase phase(tasks, parts, function, body);
  const int32_t answer = runner.parallel_for(runner.opaque, tasks, RunTask, &phase);
  if (answer != 0) {
    return call.Fail(STREW_RUNNER_FAILED, "parallel_for returned %" PRId32, answer);
  }
  const int64_t finished = phase.finished.load(std::memory_order_acquire);
  if (finished == tasks) return STREW_OK;
  return call.Fail(STREW_RUNNER_FAILED,
                   "parallel_for returned when %" PRId64 " of %" PRId64 " tasks were finished",
                   finished, tasks);
}

}  // namespace strew::share
