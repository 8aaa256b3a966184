// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/shape.h"

namespace strew::onnxruntime {
namespace {

// Every call makes a new object with the shape, with three allocations: 100 ns.
OrtStatus* CopyShape(const OrtApi& api, const OrtValue* value, Shape* shape) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  OrtStatus* status = api.GetTensorTypeAndShape(value, &info);
  if (status != nullptr) return status;
  status = api.GetDimensionsCount(info, &shape->rank);
  if (status == nullptr && shape->rank <= Shape::kMostDims) {
    status = api.GetDimensions(info, shape->copied, shape->rank);
  }
  api.ReleaseTensorTypeAndShapeInfo(info);
  shape->dims = shape->copied;
  return status;
}

OrtStatus* GetShape(const Runtime& runtime, const OrtValue* value, Shape* shape) {
  if (runtime.shape_reference == nullptr) return CopyShape(*runtime.api, value, shape);
  ONNXTensorElementDataType type{};
  return runtime.shape_reference(value, &type, &shape->dims, &shape->rank);
}

}  // namespace

OrtStatus* ReadShape(const Runtime& runtime, const OrtValue* value, Shape* shape) {
  OrtStatus* const status = GetShape(runtime, value, shape);
  if (status != nullptr || shape->rank <= Shape::kMostDims) return status;
  return runtime.api->CreateStatus(ORT_INVALID_ARGUMENT, "strew takes tensors of up to 32 dims");
}

}  // namespace strew::onnxruntime
