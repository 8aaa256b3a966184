// SPDX-License-Identifier: Apache-2.0
// The settings and the report of one call of an operator.
#ifndef STREW_BASE_CALL_H_
#define STREW_BASE_CALL_H_

#include <cstdint>

#include "base/compiler.h"
#include "base/last_error.h"
#include "base/runner.h"
#include "base/status.h"
#include "strew/strew.h"

namespace strew {

namespace plan {
struct Tuning;
}

// Functions that allocate and free scratch. If both are NULL, scratch comes from the C library.
struct Allocator {
  strew_alloc alloc;
  strew_free release;
  void* opaque;
};

// A function that receives sentences on how a call runs; NULL for none.
struct Explainer {
  void (*tell)(void* opaque, const char* sentence) = nullptr;
  void* opaque = nullptr;
};

struct Settings {
  bool wrap_negative_indices = true;
  strew_index_policy index_policy = STREW_INDEX_ERROR;
  strew_duplicate_policy duplicate_policy = STREW_DUPLICATE_LAST;
  int32_t simd_target = 0;  // an argument of kernel::TargetName(); 0 is the best target
  Allocator allocator = {nullptr, nullptr, nullptr};
  Runner runner;
  const plan::Tuning* tuning = nullptr;  // NULL: the tuning of the library
  Explainer explainer;
};

// The outcome of a call.
struct Report {
  char sentence[kLongestSentence] = "";
  int64_t position = -1;
  int64_t applied = 0;
};

class Call {
 public:
  // `report` may be NULL; failures then set the last error of the thread.
  Call(const Settings& settings, Report* report)
      : settings_(settings), report_(report), workers_(settings.runner) {}

  const Settings& settings() const { return settings_; }
  int32_t workers() const { return workers_.count(); }

  // Stores the sentence in the report, or as the last error, and returns `status`.
  [[gnu::format(STREW_PRINTF, 3, 4)]] [[gnu::cold]] Status Fail(strew_status status,
                                                                const char* format, ...) const;
  // The same for an invalid index at the row-major `position` of indices.
  [[gnu::format(STREW_PRINTF, 4, 5)]] [[gnu::cold]] Status FailAt(int64_t position,
                                                                  strew_status status,
                                                                  const char* format, ...) const;
  bool explains() const { return settings_.explainer.tell != nullptr; }
  [[gnu::format(STREW_PRINTF, 2, 3)]] [[gnu::cold]] void Explain(const char* format, ...) const;

  // Reports success; `applied` is the number of elements that were applied.
  Status Succeed(int64_t applied) const;

 private:
  const Settings& settings_;
  Report* report_;
  const WorkersOfCall workers_;
};

}  // namespace strew

#endif  // STREW_BASE_CALL_H_
