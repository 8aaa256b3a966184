// SPDX-License-Identifier: Apache-2.0
// Describes schedules in a few sentences for the explainer of a call.
#ifndef STREW_PLAN_EXPLAIN_H_
#define STREW_PLAN_EXPLAIN_H_

#include <cstddef>
#include <cstdint>

#include "base/call.h"
#include "base/compiler.h"
#include "plan/draft.h"
#include "plan/pass.h"
#include "plan/schedule.h"

namespace strew::plan {

// The ending of a plural.
inline const char* Plural(int64_t count) { return count == 1 ? "" : "s"; }

// Sentences, each with a space at its end.
class Paragraph {
 public:
  [[gnu::format(STREW_PRINTF, 2, 3)]] void Add(const char* format, ...);
  // Tells what one thread would take, and how many tasks the schedule has therefore.
  void AddTasks(const Machine& machine, double nanoseconds, int64_t tasks);
  // The text without the space after the last sentence.
  const char* c_str();

 private:
  char text_[2048] = "";
  size_t length_ = 0;
};

void ExplainFew(const Call& call, int64_t updates);
void Explain(const Call& call, const Pass& check, int64_t indices);
void Explain(const Call& call, const DraftSchedule& schedule, int64_t indices);
void Explain(const Call& call, const BoxSchedule& schedule, const char* what, int64_t bytes);
void Explain(const Call& call, const EntryLoops& loops, const Circumstances& about,
             const Schedule& schedule);

}  // namespace strew::plan

#endif  // STREW_PLAN_EXPLAIN_H_
