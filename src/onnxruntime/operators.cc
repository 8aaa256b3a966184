// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/operators.h"

#include <cstdlib>
#include <iterator>
#include <limits>

#include "onnxruntime/kernel.h"

namespace strew::onnxruntime {
namespace {

struct DataType {
  ONNXTensorElementDataType type;
  strew_dtype dtype;
};

// ONNX Runtime has no tensors of complex numbers. Two 4-bit numbers share a byte, so that strew
// cannot address them. Types for which strew has no arithmetic are copied as bytes.
constexpr DataType kDataTypes[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, STREW_FLOAT32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, STREW_FLOAT64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, STREW_FLOAT16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, STREW_BFLOAT16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, STREW_INT8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, STREW_INT16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, STREW_INT32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, STREW_INT64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, STREW_UINT8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, STREW_UINT16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, STREW_UINT32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, STREW_UINT64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, STREW_BOOL},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, STREW_STRING},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, STREW_FLOAT8_E4M3FN},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, STREW_FLOAT8_E5M2},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ, STREW_OPAQUE(1)},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ, STREW_OPAQUE(1)},
};

// The definition of a custom op is valid from its first opset on, also for all newer opsets.
constexpr NodeKind kScatter{Operator::kScatterElements, "Scatter", 9};
constexpr NodeKind kScatterElements{Operator::kScatterElements, "ScatterElements", 11};
constexpr NodeKind kScatterNd{Operator::kScatterNd, "ScatterND", 11};
constexpr NodeKind kTensorScatter{Operator::kTensorScatter, "TensorScatter", 24};

const Entry& EntryOf(const OrtCustomOp* op) { return *static_cast<const Entry*>(op); }

const char* GetName(const OrtCustomOp* op) { return EntryOf(op).kind.name; }
const char* GetExecutionProvider(const OrtCustomOp*) { return nullptr; }  // that of the CPU
int GetStartVersion(const OrtCustomOp* op) { return EntryOf(op).kind.first_opset; }
int GetEndVersion(const OrtCustomOp*) { return std::numeric_limits<int>::max(); }

size_t GetInputCount(const OrtCustomOp*) { return kInputs; }
size_t GetOutputCount(const OrtCustomOp*) { return 1; }

ONNXTensorElementDataType GetInputType(const OrtCustomOp* op, size_t input) {
  const Entry& entry = EntryOf(op);
  return input == IndexInput(entry.kind.op) ? entry.index_type : entry.data_type;
}
ONNXTensorElementDataType GetOutputType(const OrtCustomOp* op, size_t) {
  return EntryOf(op).data_type;
}
OrtCustomOpInputOutputCharacteristic GetInputCharacteristic(const OrtCustomOp* op, size_t input) {
  const Operator kind = EntryOf(op).kind.op;
  const bool optional = kind == Operator::kTensorScatter && input == IndexInput(kind);
  return optional ? INPUT_OUTPUT_OPTIONAL : INPUT_OUTPUT_REQUIRED;
}
OrtCustomOpInputOutputCharacteristic GetOutputCharacteristic(const OrtCustomOp*, size_t) {
  return INPUT_OUTPUT_REQUIRED;
}
OrtMemType GetInputMemoryType(const OrtCustomOp*, size_t) { return OrtMemTypeDefault; }

// The output may have the memory of data.
size_t GetMayInplace(int** inputs, int** outputs) {
  *inputs = static_cast<int*>(std::calloc(1, sizeof(int)));
  *outputs = static_cast<int*>(std::calloc(1, sizeof(int)));
  return *inputs != nullptr && *outputs != nullptr ? 1 : 0;
}
void ReleaseMayInplace(int* inputs, int* outputs) {
  std::free(inputs);
  std::free(outputs);
}

// The output has the shape of data, symbolic dims included.
OrtStatus* InferShape(const OrtCustomOp* op, OrtShapeInferContext* context) {
  const OrtApi& api = *EntryOf(op).runtime.api;
  OrtTensorTypeAndShapeInfo* shape = nullptr;
  OrtStatus* const status = api.ShapeInferContext_GetInputTypeShape(context, 0, &shape);
  return status != nullptr ? status : api.ShapeInferContext_SetOutputTypeShape(context, 0, shape);
}

OrtStatus* CreateKernel(const OrtCustomOp* op, const OrtApi*, const OrtKernelInfo* info,
                        void** kernel) {
  return Kernel::Create(EntryOf(op), info, kernel);
}
OrtStatus* Compute(void* kernel, OrtKernelContext* call) {
  return static_cast<Kernel*>(kernel)->Compute(call);
}
void Destroy(void* kernel) { delete static_cast<Kernel*>(kernel); }

Entry MakeEntry(const Runtime& runtime, const NodeKind& kind, const DataType& data,
                ONNXTensorElementDataType index_type) {
  Entry entry{};
  entry.runtime = runtime;
  entry.version = kApiVersion;
  entry.GetName = GetName;
  entry.GetExecutionProviderType = GetExecutionProvider;
  entry.GetStartVersion = GetStartVersion;
  entry.GetEndVersion = GetEndVersion;
  entry.GetInputTypeCount = GetInputCount;
  entry.GetInputType = GetInputType;
  entry.GetInputCharacteristic = GetInputCharacteristic;
  entry.GetInputMemoryType = GetInputMemoryType;
  entry.GetOutputTypeCount = GetOutputCount;
  entry.GetOutputType = GetOutputType;
  entry.GetOutputCharacteristic = GetOutputCharacteristic;
  // Memory is reused only if the output is known to have the shape of data.
  entry.InferOutputShapeFn = InferShape;
  entry.GetMayInplace = GetMayInplace;
  entry.ReleaseMayInplace = ReleaseMayInplace;
  entry.CreateKernelV2 = CreateKernel;
  entry.KernelComputeV2 = Compute;
  entry.KernelDestroy = Destroy;
  entry.kind = kind;
  entry.data_type = data.type;
  entry.index_type = index_type;
  entry.dtype = data.dtype;
  return entry;
}

}  // namespace

// The definition of a custom op replaces ONNX's own, so that a model with a pair of types that is
// missing here does not load. The indices of ScatterND and TensorScatter are int64.
void FillEntries(const Runtime& runtime, Entries* entries) {
  constexpr ONNXTensorElementDataType kInt32 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
  constexpr ONNXTensorElementDataType kInt64 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
  static_assert(std::size(kDataTypes) * 6 == kEntries);
  Entry* next = entries->data();
  for (const DataType& data : kDataTypes) {
    for (const NodeKind& kind : {kScatter, kScatterElements}) {
      *next++ = MakeEntry(runtime, kind, data, kInt32);
      *next++ = MakeEntry(runtime, kind, data, kInt64);
    }
    *next++ = MakeEntry(runtime, kScatterNd, data, kInt64);
    *next++ = MakeEntry(runtime, kTensorScatter, data, kInt64);
  }
}

}  // namespace strew::onnxruntime
