// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_CONTEXT_H_
#define STREW_PYTHON_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <nanobind/nanobind.h>

#include "strew/strew.h"

namespace strew::python {

struct DestroyContext {
  void operator()(strew_context* context) const { strew_context_destroy(context); }
};

// strew.Context: the report, and a copy of the settings, which the C API does not return.
class Context {
 public:
  // With the defaults of the C API, which the members below repeat.
  Context();
  Context(const nanobind::str& index_policy, bool negative_indices,
          const nanobind::str& duplicate_policy, std::int32_t num_threads,
          const std::optional<nanobind::str>& simd_target);

  void SetIndexPolicy(const nanobind::str& name);
  void SetNegativeIndices(bool wrap);
  void SetDuplicatePolicy(const nanobind::str& name);
  void SetNumThreads(std::int32_t n);
  void SetSimdTarget(const std::optional<nanobind::str>& name);

  const char* IndexPolicy() const;
  bool NegativeIndices() const { return negative_indices_; }
  const char* DuplicatePolicy() const;
  std::int32_t NumThreads() const { return num_threads_; }
  const char* SimdTarget() const { return simd_target_; }
  std::int64_t Applied();

  // A context serves one call at a time, and calls do not hold the GIL.
  class Use;

 private:
  std::unique_ptr<strew_context, DestroyContext> handle_;
  std::atomic<bool> busy_{false};
  strew_index_policy index_policy_ = STREW_INDEX_ERROR;
  strew_duplicate_policy duplicate_policy_ = STREW_DUPLICATE_LAST;
  bool negative_indices_ = true;
  std::int32_t num_threads_ = 1;
  const char* simd_target_ = nullptr;  // of the library, or nullptr for the best
};

// Throws RuntimeError if another thread is using the context.
class Context::Use {
 public:
  explicit Use(Context& context);
  ~Use() { context_.busy_ = false; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  strew_context* handle() const { return context_.handle_.get(); }

 private:
  Context& context_;
};

void BindContext(nanobind::module_& module);

}  // namespace strew::python

#endif  // STREW_PYTHON_CONTEXT_H_
