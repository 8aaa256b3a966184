// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/kernel.h"

#include <new>

#include "onnxruntime/places.h"

namespace strew::onnxruntime {
namespace {

constexpr size_t kMostDims = 32;

// Errors of the runtime's own functions end a run as they are.
OrtStatus* OutOfMemory(const OrtApi& api) {
  return api.CreateStatus(ORT_FAIL, "strew is out of memory");
}

OrtErrorCode CodeOf(strew_status status) {
  const bool of_caller = status != STREW_OUT_OF_MEMORY && status != STREW_RUNNER_FAILED;
  return of_caller ? ORT_INVALID_ARGUMENT : ORT_FAIL;
}

}  // namespace

OrtStatus* Kernel::Create(const Entry& entry, const OrtKernelInfo* info, void** kernel) {
  Attributes attributes;
  OrtStatus* const status = ReadAttributes(entry, info, &attributes);
  if (status != nullptr) return status;
  *kernel = new (std::nothrow) Kernel(entry, attributes);
  return *kernel != nullptr ? nullptr : OutOfMemory(*entry.api);
}

OrtStatus* Kernel::Compute(OrtKernelContext* call) {
  Workspace* const workspace = workspaces_.Take();
  if (workspace == nullptr) return OutOfMemory(api_);
  workspace->Begin(call);
  OrtStatus* const status = ComputeWith(*workspace, call);
  workspaces_.Return(workspace);
  return status;
}

OrtStatus* Kernel::ComputeWith(const Workspace& workspace, OrtKernelContext* call) const {
  Operands operands;
  OrtStatus* status = ReadOperands(call, &operands);
  if (status == nullptr) status = Describe(operands.data, entry_.dtype, workspace.data);
  if (status == nullptr) status = Describe(operands.updates, entry_.dtype, workspace.updates);
  if (status == nullptr && operands.indices != nullptr) {
    const bool narrow = entry_.index_type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
    status = Describe(operands.indices, narrow ? STREW_INT32 : STREW_INT64, workspace.indices);
  }
  if (status != nullptr) return status;
  if (entry_.dtype == STREW_STRING) return ScatterStrings(workspace, operands, call);

  OrtValue* output = nullptr;
  void* memory = nullptr;
  status = MakeOutput(workspace, call, &output, &memory);
  if (status != nullptr) return status;
  const strew_tensor* const data = workspace.data;
  // The same memory as data: in place.
  strew_tensor_reset(workspace.output, entry_.dtype, strew_tensor_rank(data),
                     strew_tensor_shape(data), nullptr, memory);
  return Scatter(workspace, operands);
}

OrtStatus* Kernel::ReadOperands(const OrtKernelContext* call, Operands* operands) const {
  const Operator op = entry_.kind.op;
  OrtStatus* status = api_.KernelContext_GetInput(call, 0, &operands->data);
  if (status == nullptr) {
    status = api_.KernelContext_GetInput(call, UpdateInput(op), &operands->updates);
  }
  if (status == nullptr) {
    status = api_.KernelContext_GetInput(call, IndexInput(op), &operands->indices);
  }
  return status;
}

OrtStatus* Kernel::Describe(const OrtValue* value, strew_dtype dtype, strew_tensor* tensor) const {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  OrtStatus* status = api_.GetTensorTypeAndShape(value, &info);
  if (status != nullptr) return status;
  std::int64_t shape[kMostDims];
  size_t rank = 0;
  status = api_.GetDimensionsCount(info, &rank);
  if (status == nullptr && rank > kMostDims) {
    status = api_.CreateStatus(ORT_INVALID_ARGUMENT, "strew takes tensors of up to 32 dims");
  }
  if (status == nullptr) status = api_.GetDimensions(info, shape, rank);
  api_.ReleaseTensorTypeAndShapeInfo(info);

  void* memory = nullptr;
  // The function wants no const, and writes nothing.
  if (status == nullptr) {
    status = api_.GetTensorMutableData(const_cast<OrtValue*>(value), &memory);
  }
  if (status != nullptr) return status;
  const strew_status reset =
      strew_tensor_reset(tensor, dtype, static_cast<std::int32_t>(rank), shape, nullptr, memory);
  if (reset == STREW_OK) return nullptr;
  return api_.CreateStatus(CodeOf(reset), strew_status_description(reset));
}

OrtStatus* Kernel::MakeOutput(const Workspace& workspace, OrtKernelContext* call, OrtValue** output,
                              void** memory) const {
  const auto rank = static_cast<size_t>(strew_tensor_rank(workspace.data));
  OrtStatus* const status =
      api_.KernelContext_GetOutput(call, 0, strew_tensor_shape(workspace.data), rank, output);
  return status != nullptr ? status : api_.GetTensorMutableData(*output, memory);
}

OrtStatus* Kernel::Scatter(const Workspace& workspace, const Operands& operands) const {
  strew_context* const context = workspace.context;
  const strew_tensor* const data = workspace.data;
  const strew_tensor* const updates = workspace.updates;
  strew_status status = STREW_OK;
  switch (entry_.kind.op) {
    case Operator::kScatterElements:
      status = strew_scatter_elements(context, data, workspace.indices, updates, attributes_.axis,
                                      attributes_.reduction, workspace.output);
      break;
    case Operator::kScatterNd:
      status = strew_scatter_nd(context, data, workspace.indices, updates, attributes_.reduction,
                                workspace.output);
      break;
    case Operator::kTensorScatter:
      status = strew_tensor_scatter(context, data, updates,
                                    operands.indices != nullptr ? workspace.indices : nullptr,
                                    attributes_.axis, attributes_.mode, workspace.output);
      break;
  }
  if (status == STREW_OK) return nullptr;
  return api_.CreateStatus(CodeOf(status), strew_context_error(context));
}

// Elements are objects of the runtime, which strew cannot move. It moves their places instead, and
// the runtime then copies each string from the place that stands at its own.
OrtStatus* Kernel::ScatterStrings(const Workspace& workspace, const Operands& operands,
                                  OrtKernelContext* call) const {
  Places places(strew_tensor_size(workspace.data), strew_tensor_size(workspace.updates));
  if (!places.allocated()) return OutOfMemory(api_);
  void* const data_memory = strew_tensor_data(workspace.data);
  strew_tensor_set_data(workspace.data, places.data());
  strew_tensor_set_data(workspace.updates, places.updates());
  const strew_tensor* const data = workspace.data;
  strew_tensor_reset(workspace.output, STREW_STRING, strew_tensor_rank(data),
                     strew_tensor_shape(data), nullptr, places.data());
  OrtStatus* status = Scatter(workspace, operands);
  if (status != nullptr) return status;

  OrtValue* output = nullptr;
  void* memory = nullptr;
  status = MakeOutput(workspace, call, &output, &memory);
  if (status != nullptr) return status;
  const bool in_place = memory == data_memory;
  return places.Copy(api_, operands.data, operands.updates, in_place, output);
}

}  // namespace strew::onnxruntime
