// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's C API, and how this room uses it.
#ifndef STREW_ONNXRUNTIME_RUNTIME_H_
#define STREW_ONNXRUNTIME_RUNTIME_H_

#include <cstddef>
#include <cstdint>

#include <onnxruntime_c_api.h>

#include "strew/strew.h"

namespace strew::onnxruntime {

// The first version with OrtCustomOp::GetMayInplace, without which every node would copy its data.
// OrtCustomOp::InferOutputShapeFn and KernelContext_ParallelFor came with 17. ONNX Runtime 1.18 and
// all newer ones have this version.
constexpr std::uint32_t kApiVersion = 18;
static_assert(ORT_API_VERSION >= kApiVersion, "headers of ONNX Runtime 1.18 or newer are needed");

// GetTensorElementTypeAndShapeDataReference of version 24, which tells a shape without making an
// object for it. Members of OrtApi keep their places in all later versions, so that it needs no
// newer headers.
using ShapeReference = OrtStatus*(ORT_API_CALL*)(const OrtValue*, ONNXTensorElementDataType*,
                                                 const std::int64_t**, std::size_t*);
constexpr std::uint32_t kVersionOfShapeReference = 24;
constexpr std::size_t kPlaceOfShapeReference = 414;
#if ORT_API_VERSION >= 24
static_assert(offsetof(OrtApi, GetTensorElementTypeAndShapeDataReference) ==
              kPlaceOfShapeReference * sizeof(ShapeReference));
#endif

// One of the runtimes that may be loaded in a process.
struct Runtime {
  const OrtApi* api;
  ShapeReference shape_reference;  // nullptr before 1.24
};

// nullptr for STREW_OK, else an error with the sentence.
OrtStatus* StatusOf(const OrtApi& api, strew_status status, const char* sentence);
OrtStatus* OutOfMemory(const OrtApi& api);

}  // namespace strew::onnxruntime

#endif  // STREW_ONNXRUNTIME_RUNTIME_H_
