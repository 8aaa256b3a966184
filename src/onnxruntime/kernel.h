// SPDX-License-Identifier: Apache-2.0
// A node of a loaded model.
#ifndef STREW_ONNXRUNTIME_KERNEL_H_
#define STREW_ONNXRUNTIME_KERNEL_H_

#include <cstdint>

#include "onnxruntime/attributes.h"
#include "onnxruntime/operators.h"
#include "onnxruntime/runtime.h"
#include "onnxruntime/thread_pool.h"
#include "onnxruntime/workspace.h"
#include "strew/strew.h"

namespace strew::onnxruntime {

// ScatterElements and ScatterND: data, indices, updates. TensorScatter: past_cache, update,
// write_indices, which may be missing.
constexpr size_t kInputs = 3;
constexpr size_t IndexInput(Operator op) { return op == Operator::kTensorScatter ? 2 : 1; }
constexpr size_t UpdateInput(Operator op) { return op == Operator::kTensorScatter ? 1 : 2; }

// The operands of one run of a node.
struct Operands {
  const OrtValue* data = nullptr;
  const OrtValue* indices = nullptr;  // nullptr: none
  const OrtValue* updates = nullptr;
};

class Kernel {
 public:
  static OrtStatus* Create(const Entry& entry, const OrtKernelInfo* info, void** kernel);

  // May run on several threads at once.
  OrtStatus* Compute(OrtKernelContext* call);

 private:
  Kernel(const Entry& entry, const Attributes& attributes)
      : entry_(entry), api_(*entry.runtime.api), attributes_(attributes), pool_(api_) {}

  OrtStatus* ComputeWith(const Workspace& workspace, OrtKernelContext* call) const;
  OrtStatus* ReadOperands(const OrtKernelContext* call, Operands* operands) const;
  OrtStatus* Describe(const OrtValue* value, strew_dtype dtype, strew_tensor* tensor) const;
  // Makes the output, with the shape of workspace.data.
  OrtStatus* MakeOutput(const Workspace& workspace, OrtKernelContext* call, OrtValue** output,
                        void** memory) const;
  OrtStatus* Scatter(const Workspace& workspace, const Operands& operands,
                     strew_reduction reduction) const;
  // Elements are objects of the runtime, which strew cannot copy. It scatters their numbers
  // instead.
  OrtStatus* ScatterStrings(const Workspace& workspace, const Operands& operands,
                            OrtKernelContext* call) const;
  // Replaces the number of each update by the number of the element of data that it names.
  OrtStatus* FindDestinations(const Workspace& workspace) const;

  const Entry& entry_;
  const OrtApi& api_;
  const Attributes attributes_;
  ThreadPool pool_;
  Workspaces workspaces_{&pool_};
};

}  // namespace strew::onnxruntime

#endif  // STREW_ONNXRUNTIME_KERNEL_H_
