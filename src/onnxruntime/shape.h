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

// Reads the shape of `value`. It is valid until the next call with the same `shape`, and only as
// long as `value` lives.
OrtStatus* ReadShape(const Runtime& runtime, const OrtValue* value, Shape* shape);

}  // namespace strew::onnxruntime

#endif  // STREW_ONNXRUNTIME_SHAPE_H_
