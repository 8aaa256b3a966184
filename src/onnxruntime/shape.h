// SPDX-License-Identifier: Apache-2.0
// The shapes of the operands of a run.
#ifndef STREW_ONNXRUNTIME_SHAPE_H_
#define STREW_ONNXRUNTIME_SHAPE_H_

#include <cstdint>

#include "onnxruntime/runtime.h"

namespace strew::onnxruntime {

struct Shape {
  static constexpr size_t kMostDims = 32;

  const std::int64_t* dims = nullptr;
  size_t rank = 0;
  std::int64_t copied[kMostDims];
};

// `shape` is good as long as `value`, and no other call, has it.
OrtStatus* ReadShape(const Runtime& runtime, const OrtValue* value, Shape* shape);

}  // namespace strew::onnxruntime

#endif  // STREW_ONNXRUNTIME_SHAPE_H_
