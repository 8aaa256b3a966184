// SPDX-License-Identifier: Apache-2.0
// The operators of ONNX that strew computes, and one OrtCustomOp for each pair of types.
#ifndef STREW_ONNXRUNTIME_OPERATORS_H_
#define STREW_ONNXRUNTIME_OPERATORS_H_

#include <array>

#include "onnxruntime/runtime.h"
#include "strew/strew.h"

namespace strew::onnxruntime {

enum class Operator { kScatterElements, kScatterNd, kTensorScatter };

// The name of a node in a model.
struct NodeKind {
  Operator op;
  const char* name;
  int first_opset;
};

// The custom op of one pair of types, with what its callbacks need to know.
struct Entry : OrtCustomOp {
  Runtime runtime;  // in which it is registered
  NodeKind kind;
  ONNXTensorElementDataType data_type;
  ONNXTensorElementDataType index_type;
  strew_dtype dtype;
};

// One pair of types that ONNX Runtime has for each operator.
constexpr size_t kEntries = size_t{18} * 6;
using Entries = std::array<Entry, kEntries>;

void FillEntries(const Runtime& runtime, Entries* entries);

}  // namespace strew::onnxruntime

#endif  // STREW_ONNXRUNTIME_OPERATORS_H_
