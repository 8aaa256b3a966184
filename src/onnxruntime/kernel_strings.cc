// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/kernel.h"
#include "onnxruntime/places.h"

namespace strew::onnxruntime {

OrtStatus* Kernel::ScatterStrings(const Workspace& workspace, const Operands& operands,
                                  OrtKernelContext* call) const {
  const strew_tensor* const data = workspace.data;
  Places places(strew_tensor_size(data), strew_tensor_size(workspace.updates));
  if (!places.allocated()) return OutOfMemory(api_);
  void* const data_memory = strew_tensor_data(data);
  strew_tensor_set_data(workspace.data, places.data());
  strew_tensor_set_data(workspace.updates, places.updates());
  strew_tensor_reset(workspace.output, STREW_STRING, strew_tensor_rank(data),
                     strew_tensor_shape(data), nullptr, places.data());
  // A sum of strings is their concatenation, which strew does not have. This call checks the
  // operands.
  const bool sum = attributes_.reduction == STREW_ADD;
  OrtStatus* status = Scatter(workspace, operands, sum ? STREW_NONE : attributes_.reduction);
  if (sum && status == nullptr) {
    places.Fill();
    status = FindDestinations(workspace);
  }
  OrtValue* output = nullptr;
  void* memory = nullptr;
  if (status == nullptr) status = MakeOutput(workspace, call, &output, &memory);
  if (status == nullptr) {
    const bool in_place = memory == data_memory;
    status = places.Copy(api_, operands.data, operands.updates, in_place, output);
  }
  if (!sum || status != nullptr) return status;
  return places.Append(api_, operands.updates, output);
}

OrtStatus* Kernel::FindDestinations(const Workspace& workspace) const {
  const std::int64_t* const extents = strew_tensor_shape(workspace.data);
  strew_plan* plan = nullptr;
  strew_status status = STREW_OK;
  if (entry_.kind.op == Operator::kScatterNd) {
    status = strew_plan_scatter_nd(workspace.context, workspace.indices, extents, &plan);
  } else {
    const std::int64_t axis = attributes_.axis;
    const std::int64_t extent = extents[axis < 0 ? axis + strew_tensor_rank(workspace.data) : axis];
    status = strew_plan_scatter_elements(workspace.context, workspace.indices, axis, extent, &plan);
  }
  if (status == STREW_OK) {
    status = strew_plan_gather(workspace.context, plan, workspace.data, workspace.updates);
  }
  strew_plan_destroy(plan);
  return StatusOf(api_, status, strew_context_error(workspace.context));
}

}  // namespace strew::onnxruntime
