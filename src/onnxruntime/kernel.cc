// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/kernel.h"

#include <algorithm>
#include <new>

#include "onnxruntime/shape.h"

namespace strew::onnxruntime {
namespace {

// Most runs have the same shapes as the one before, and setting only the pointer takes a tenth of
// the time of setting the shape.
strew_status SetTensor(strew_tensor* tensor, strew_dtype dtype, std::int32_t rank,
                       const std::int64_t* shape, void* memory) {
  const bool same = strew_tensor_dtype(tensor) == dtype && strew_tensor_rank(tensor) == rank &&
                    std::equal(shape, shape + rank, strew_tensor_shape(tensor));
  return same ? strew_tensor_set_data(tensor, memory)
              : strew_tensor_reset(tensor, dtype, rank, shape, nullptr, memory);
}

}  // namespace

OrtStatus* Kernel::Create(const Entry& entry, const OrtKernelInfo* info, void** kernel) {
  Attributes attributes;
  OrtStatus* const status = ReadAttributes(entry, info, &attributes);
  if (status != nullptr) return status;
  *kernel = new (std::nothrow) Kernel(entry, attributes);
  return *kernel != nullptr ? nullptr : OutOfMemory(*entry.runtime.api);
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
  // If the memory is that of data, the call works in place.
  SetTensor(workspace.output, entry_.dtype, strew_tensor_rank(data), strew_tensor_shape(data),
            memory);
  return Scatter(workspace, operands, attributes_.reduction);
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
  Shape shape;
  OrtStatus* status = ReadShape(entry_.runtime, value, &shape);
  void* memory = nullptr;
  // The function wants no const, and writes nothing.
  if (status == nullptr) {
    status = api_.GetTensorMutableData(const_cast<OrtValue*>(value), &memory);
  }
  if (status != nullptr) return status;
  const strew_status reset =
      SetTensor(tensor, dtype, static_cast<std::int32_t>(shape.rank), shape.dims, memory);
  return StatusOf(api_, reset, strew_last_error());
}

OrtStatus* Kernel::MakeOutput(const Workspace& workspace, OrtKernelContext* call, OrtValue** output,
                              void** memory) const {
  const auto rank = static_cast<size_t>(strew_tensor_rank(workspace.data));
  OrtStatus* const status =
      api_.KernelContext_GetOutput(call, 0, strew_tensor_shape(workspace.data), rank, output);
  return status != nullptr ? status : api_.GetTensorMutableData(*output, memory);
}

OrtStatus* Kernel::Scatter(const Workspace& workspace, const Operands& operands,
                           strew_reduction reduction) const {
  strew_context* const context = workspace.context;
  const strew_tensor* const data = workspace.data;
  const strew_tensor* const updates = workspace.updates;
  strew_status status = STREW_OK;
  switch (entry_.kind.op) {
    case Operator::kScatterElements:
      status = strew_scatter_elements(context, data, workspace.indices, updates, attributes_.axis,
                                      reduction, workspace.output);
      break;
    case Operator::kScatterNd:
      status =
          strew_scatter_nd(context, data, workspace.indices, updates, reduction, workspace.output);
      break;
    case Operator::kTensorScatter:
      status = strew_tensor_scatter(context, data, updates,
                                    operands.indices != nullptr ? workspace.indices : nullptr,
                                    attributes_.axis, attributes_.mode, workspace.output);
      break;
  }
  return StatusOf(api_, status, strew_context_error(context));
}

}  // namespace strew::onnxruntime
