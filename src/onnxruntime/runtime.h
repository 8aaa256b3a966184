// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's C API, and how this room speaks with it.
#ifndef STREW_ONNXRUNTIME_RUNTIME_H_
#define STREW_ONNXRUNTIME_RUNTIME_H_

#include <cstdint>

#include <onnxruntime_c_api.h>

#include "strew/strew.h"

namespace strew::onnxruntime {

// The first version with OrtCustomOp::GetMayInplace, without which every node would copy its data.
// OrtCustomOp::InferOutputShapeFn and KernelContext_ParallelFor came with 17. ONNX Runtime 1.18 and
// all newer ones have this version.
constexpr std::uint32_t kApiVersion = 18;
static_assert(ORT_API_VERSION >= kApiVersion, "headers of ONNX Runtime 1.18 or newer are needed");

// Version 24 tells a shape without making an object for it: headers and a runtime of 1.24 are needed.
#define STREW_ORT_SHAPE_REFERENCE 24

// One of those that may be in a process.
struct Runtime {
  const OrtApi* api;
  bool has_shape_reference;
};

// nullptr for STREW_OK, else an error with the sentence.
OrtStatus* StatusOf(const OrtApi& api, strew_status status, const char* sentence);
OrtStatus* OutOfMemory(const OrtApi& api);

}  // namespace strew::onnxruntime

#endif  // STREW_ONNXRUNTIME_RUNTIME_H_
