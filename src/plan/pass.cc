// SPDX-License-Identifier: Apache-2.0
#include "plan/pass.h"

#include <algorithm>

#include "base/cache_size.h"
#include "base/checked.h"

namespace strew::plan {

int64_t TasksFor(const Machine& machine, double nanoseconds) {
  const double least = machine.tuning.least_task_ns;
  if (machine.workers == 1 || nanoseconds < 2 * least) return 1;
  const double most = static_cast<double>(std::min(machine.workers, kMostTasks));
  return static_cast<int64_t>(std::min(most, nanoseconds / least));
}

Pass PassFor(const Machine& machine, double nanoseconds, int64_t others) {
  const double least = machine.tuning.least_joint_task_ns;
  const double most = std::min(static_cast<double>(others), nanoseconds / least);
  const int64_t tasks = std::max(TasksFor(machine, nanoseconds), static_cast<int64_t>(most));
  return {nanoseconds, tasks, PartsFor(machine, tasks)};
}

namespace {

BoxSchedule BoxScheduleOf(const Machine& machine, int64_t written, const Pass& pass) {
  return {pass, written >= StreamedBytes(machine, pass.tasks)};
}

}  // namespace

BoxSchedule MakeBoxSchedule(const Machine& machine, int64_t written, double nanoseconds) {
  return BoxScheduleOf(machine, written, PassFor(machine, nanoseconds));
}

BoxSchedule MakeCopySchedule(const Machine& machine, int64_t written, double nanoseconds,
                             const UpdatesOfCopy& updates) {
  const Pass pass = PassFor(machine, nanoseconds, updates.tasks);
  BoxSchedule schedule = BoxScheduleOf(machine, written, pass);
  if (!schedule.streams) return schedule;
  const Tuning& tuning = machine.tuning;
  const int64_t lines = written / kCacheLine;
  if (updates.lines > lines / tuning.lines_of_touched) {
    schedule.streams = written >= StreamedBytesBeforeUpdates(machine, schedule.tasks);
  }
  if (updates.are_elements && updates.lines > lines / tuning.lines_of_touched_element) {
    const double least =
        static_cast<double>(machine.cache_bytes) * tuning.streamed_part_of_elements;
    schedule.streams = schedule.streams && static_cast<double>(written) >= least;
  }
  return schedule;
}

// Bytes between elements or runs are read and written with them, up to the end of a cache line.
double TimeOfBox(const Tuning& tuning, const LoopNest<2>& nest, int64_t width) {
  const auto from_innermost = [&](int i) {
    return i < nest.rank ? nest.loop[nest.rank - 1 - i] : Loop<2>{1, {}};
  };
  const Loop<2> line = from_innermost(0), next = from_innermost(1);
  const double turns = static_cast<double>(nest.Turns()), bytes = static_cast<double>(width);
  const bool is_run = line.stride[0] == 1 && line.stride[1] <= 1 && line.stride[1] >= 0;
  const double run = is_run ? bytes * static_cast<double>(line.count) : bytes;
  double touched = 0;  // by a run or an element, in both operands
  for (int o = 0; o < 2; ++o) {
    const int64_t stride = is_run ? next.stride[o] : line.stride[o];
    const double step = bytes * static_cast<double>(Magnitude(stride));
    touched += run + std::clamp(step - run, 0.0, static_cast<double>(kCacheLine));
  }
  const double moved = touched / 2 * tuning.ns_of_byte;
  if (is_run) return turns * bytes / run * (tuning.ns_of_run + moved);
  return turns * std::max(tuning.ns_of_strided_element, moved);
}

namespace {

// True if so many tasks that sort entries of a line by range are faster than one, even if its
// destinations are near.
bool PaysForLines(const Tuning& tuning, int64_t tasks) {
  const double own = tuning.resolve_ns + tuning.write_ns;
  const double shared = (tuning.sort_ns + own) / static_cast<double>(tasks);
  return tuning.select_ns + shared <= tuning.worthwhile * own;
}

}  // namespace

Pass MakeCheckSchedule(const Machine& machine, int64_t indices, int64_t index_size, bool are_line) {
  const Tuning& tuning = machine.tuning;
  const double count = static_cast<double>(indices);
  const double ns = tuning.ns_of_byte * count * static_cast<double>(index_size);
  int64_t others = TasksFor(machine, ns + count * tuning.ns_of_entry);
  if (are_line && !PaysForLines(tuning, others)) others = 1;
  Pass pass = PassFor(machine, ns, others);
  pass.parts = std::max(pass.parts, indices / (tuning.checked_part / index_size));
  return pass;
}

}  // namespace strew::plan
