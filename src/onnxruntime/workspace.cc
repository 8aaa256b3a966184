// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/workspace.h"

#include <new>

namespace strew::onnxruntime {

Workspace* Workspace::Create(ThreadPool* pool) {
  auto* workspace = new (std::nothrow) Workspace(pool);
  if (workspace == nullptr || workspace->Allocate()) return workspace;
  delete workspace;
  return nullptr;
}

bool Workspace::Allocate() {
  for (strew_tensor** tensor : {&data, &indices, &updates, &output}) {
    const std::int64_t none = 0;
    if (strew_tensor_create(STREW_INT8, 1, &none, nullptr, nullptr, tensor) != STREW_OK) {
      return false;
    }
  }
  return strew_context_create(&context) == STREW_OK;
}

Workspace::~Workspace() {
  for (strew_tensor* tensor : {data, indices, updates, output}) strew_tensor_destroy(tensor);
  strew_context_destroy(context);
}

void Workspace::Begin(const OrtKernelContext* call) {
  const std::int32_t workers = runner_.Begin(call);
  if (workers == workers_) return;
  workers_ = workers;
  if (workers == 1) {
    strew_context_set_parallel_for(context, nullptr, nullptr, 0);
  } else {
    strew_context_set_parallel_for(context, PoolRunner::ParallelFor, &runner_, workers);
  }
}

Workspaces::~Workspaces() {
  for (const std::atomic<Workspace*>& place : kept_) delete place.load();
}

Workspace* Workspaces::Take() {
  for (std::atomic<Workspace*>& place : kept_) {
    if (place.load(std::memory_order_relaxed) == nullptr) continue;
    Workspace* const workspace = place.exchange(nullptr, std::memory_order_acquire);
    if (workspace != nullptr) return workspace;
  }
  return Workspace::Create(pool_);
}

void Workspaces::Return(Workspace* workspace) {
  for (std::atomic<Workspace*>& place : kept_) {
    Workspace* nothing = nullptr;
    if (place.compare_exchange_strong(nothing, workspace, std::memory_order_release,
                                      std::memory_order_relaxed)) {
      return;
    }
  }
  delete workspace;
}

}  // namespace strew::onnxruntime
