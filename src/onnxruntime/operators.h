// SPDX-License-Identifier: Apache-2.0
// The ONNX operators that strew implements, with one OrtCustomOp for each pair of types.
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

// 18 types of data for each of six pairs of operator and index type.
constexpr size_t kEntries = size_t{18} * 6;
using Entries = std::array<Entry, kEntries>;

void FillEntries(const Runtime& runtime, Entries* entries);

}  // namespace strew::onnxruntime

#endif  // STREW_ONNXRUNTIME_OPERATORS_H_
