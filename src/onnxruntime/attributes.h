// SPDX-License-Identifier: Apache-2.0
// The attributes of a node.
#ifndef STREW_ONNXRUNTIME_ATTRIBUTES_H_
#define STREW_ONNXRUNTIME_ATTRIBUTES_H_

#include <cstdint>

#include "onnxruntime/operators.h"
#include "onnxruntime/runtime.h"
#include "strew/strew.h"

namespace strew::onnxruntime {

struct Attributes {
  std::int64_t axis = 0;
  strew_reduction reduction = STREW_NONE;
  strew_cache_mode mode = STREW_CACHE_LINEAR;
};

// Attributes that a node leaves out have ONNX's defaults.
OrtStatus* ReadAttributes(const Entry& entry, const OrtKernelInfo* info, Attributes* attributes);

}  // namespace strew::onnxruntime

#endif  // STREW_ONNXRUNTIME_ATTRIBUTES_H_
