// SPDX-License-Identifier: Apache-2.0
// Schedules for work that is one pass over memory: boxes, copies, and the check of the indices.
#ifndef STREW_PLAN_PASS_H_
#define STREW_PLAN_PASS_H_

#include <cstdint>
#include <limits>

#include "plan/loop_nest.h"
#include "plan/schedule.h"

namespace strew::plan {

// The number of tasks for work that takes one thread `nanoseconds`; 1: only the calling thread.
int64_t TasksFor(const Machine& machine, double nanoseconds);

// Limit: more threads than any machine has.
inline constexpr int64_t kMostTasks = 1024;

inline int64_t PartsFor(const Machine& machine, int64_t tasks) {
  return tasks > 1 ? machine.tuning.parts_of_task * tasks : 1;
}

struct Pass {
  double nanoseconds = 0;  // estimated time of one thread
  int64_t tasks = 1;
  int64_t parts = 1;  // at most: loops may have fewer turns
};
// For a pass beside which another one of the same call has `others` tasks. Its workers are woken
// anyway, so that less work pays.
Pass PassFor(const Machine& machine, double nanoseconds, int64_t others = 1);

// Boxes are written once and in order.
struct BoxSchedule : Pass {
  bool streams;  // past the caches; FinishStreaming() must follow
};

// For overlays and caches that write `written` bytes and take one thread so long.
BoxSchedule MakeBoxSchedule(const Machine& machine, int64_t written, double nanoseconds);

// The updates that follow a copy.
struct UpdatesOfCopy {
  int64_t lines = std::numeric_limits<int64_t>::max();  // at most, of its output
  int64_t tasks = 1;
  bool are_elements = false;  // shorter than a cache line, and `lines` is known
};

// For boxes of `written` bytes that take one thread so long.
BoxSchedule MakeCopySchedule(const Machine& machine, int64_t written, double nanoseconds,
                             const UpdatesOfCopy& updates);

// The estimated time of one thread for a box whose loops are in the order of memory.
double TimeOfBox(const Tuning& tuning, const LoopNest<2>& nest, int64_t width);

// For the check of indices, whose parts are checked from the last to the first. Each is then used
// for an entry. Tasks share entries of a line, which have no batch and no inner turns, only if they
// can afford to sort these: to wake a worker for the check of 40,000 to 100,000 of other entries
// made calls take 1.1 to 1.4 x the time (Zen 4).
Pass MakeCheckSchedule(const Machine& machine, int64_t indices, int64_t index_size, bool are_line);

}  // namespace strew::plan

#endif  // STREW_PLAN_PASS_H_
