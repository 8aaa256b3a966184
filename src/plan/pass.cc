// SPDX-License-Identifier: Apache-2.0
#include "plan/pass.h"

#include <algorithm>

#include "base/cache_size.h"

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

BoxSchedule MakeBoxSchedule(const Machine& machine, int64_t written, int64_t moved) {
  const double ns = static_cast<double>(moved) * machine.tuning.ns_of_byte;
  return BoxScheduleOf(machine, written, PassFor(machine, ns));
}

BoxSchedule MakeCopySchedule(const Machine& machine, int64_t written,
                             const UpdatesOfCopy& updates) {
  const double ns = static_cast<double>(written) * machine.tuning.ns_of_byte;
  BoxSchedule schedule = BoxScheduleOf(machine, written, PassFor(machine, ns, updates.tasks));
  const int64_t few = written / kCacheLine / machine.tuning.lines_of_touched;
  schedule.streams =
      schedule.streams &&
      (updates.lines <= few || written >= StreamedBytesBeforeUpdates(machine, schedule.tasks));
  return schedule;
}

Pass MakeCheckSchedule(const Machine& machine, int64_t indices, int64_t index_size) {
  const Tuning& tuning = machine.tuning;
  const double count = static_cast<double>(indices);
  const double ns = tuning.ns_of_byte * count * static_cast<double>(index_size);
  Pass pass = PassFor(machine, ns, TasksFor(machine, ns + count * tuning.ns_of_entry));
  pass.parts = std::max(pass.parts, indices / (tuning.checked_part / index_size));
  return pass;
}

}  // namespace strew::plan
