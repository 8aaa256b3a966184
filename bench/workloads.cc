// SPDX-License-Identifier: Apache-2.0
#include "workloads.h"

#include <functional>
#include <numeric>

namespace strew_bench {

int64_t ElementCount(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
}

int64_t StoredIndexCount(const Operands& operands) {
  if (operands.op == Operator::kSlice) return 0;
  if (operands.pattern == IndexPattern::kStride0Rows) return operands.indices[0];
  return ElementCount(operands.indices);
}

int64_t EntryCount(const Operands& operands) {
  if (operands.op == Operator::kSlice) return 0;
  const int64_t values = ElementCount(operands.indices);
  return operands.op == Operator::kNd ? values / operands.indices.back() : values;
}

int64_t DataBytes(const Operands& operands) {
  return ElementCount(operands.data) * static_cast<int64_t>(strew_dtype_size(operands.dtype));
}

int64_t UpdateBytes(const Operands& operands) {
  return ElementCount(operands.updates) * static_cast<int64_t>(strew_dtype_size(operands.dtype));
}

int64_t MovedBytes(const Workload& workload) {
  const Operands& operands = workload.operands;
  const int64_t updates = UpdateBytes(operands);
  const int64_t inputs =
      StoredIndexCount(operands) * static_cast<int64_t>(sizeof(int64_t)) + updates;
  if (!workload.in_place) return inputs + 2 * DataBytes(operands);
  return inputs + (workload.reduction == STREW_NONE ? 1 : 2) * updates;
}

int64_t CopiedBytes(const Workload& workload) {
  return workload.in_place ? UpdateBytes(workload.operands) : DataBytes(workload.operands);
}

}  // namespace strew_bench
