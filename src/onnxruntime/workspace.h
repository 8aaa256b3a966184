// SPDX-License-Identifier: Apache-2.0
// The objects that a call of strew needs, reused from one run of a node to the next.
#ifndef STREW_ONNXRUNTIME_WORKSPACE_H_
#define STREW_ONNXRUNTIME_WORKSPACE_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "onnxruntime/runtime.h"
#include "onnxruntime/thread_pool.h"
#include "strew/strew.h"

namespace strew::onnxruntime {

// A context and the descriptors of the operands. One call at a time uses it.
class Workspace {
 public:
  // nullptr if memory is short.
  static Workspace* Create(ThreadPool* pool);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Before each call: tasks run in the pool of the session to which `call` belongs.
  void Begin(const OrtKernelContext* call);

  strew_context* context = nullptr;
  strew_tensor* data = nullptr;
  strew_tensor* indices = nullptr;
  strew_tensor* updates = nullptr;
  strew_tensor* output = nullptr;

 private:
  explicit Workspace(ThreadPool* pool) : runner_(pool) {}
  bool Allocate();

  PoolRunner runner_;
  std::int32_t workers_ = 1;
};

// The idle workspaces of a node, which several threads may run at once. A thread that finds none
// makes another.
class Workspaces {
 public:
  explicit Workspaces(ThreadPool* pool) : pool_(pool) {}
  ~Workspaces();
  Workspaces(const Workspaces&) = delete;
  Workspaces& operator=(const Workspaces&) = delete;

  Workspace* Take();
  void Return(Workspace* workspace);

 private:
  static constexpr std::size_t kKept = 4;

  ThreadPool* pool_;
  std::array<std::atomic<Workspace*>, kKept> kept_{};
};

}  // namespace strew::onnxruntime

#endif  // STREW_ONNXRUNTIME_WORKSPACE_H_
