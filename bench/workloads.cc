// SPDX-License-Identifier: Apache-2.0
#include "workloads.h"

#include <functional>
#include <initializer_list>
#include <numeric>
#include <utility>

namespace strew_bench {
namespace {

enum Outputs { kNew = 1, kInPlace = 2, kBoth = kNew | kInPlace };

struct Entry {
  const char* name;
  const Operands& operands;
  strew_reduction reduction;
  Outputs outputs;
};

Operands Float32(Operator op, Shape data, Shape indices, Shape updates, int64_t axis = 0,
                 IndexPattern pattern = IndexPattern::kUniform) {
  return {op,   STREW_FLOAT32, std::move(data), std::move(indices), std::move(updates),
          axis, pattern};
}

Operands Float32Slice(Shape data, Shape updates, Slice slice) {
  return {Operator::kSlice,       STREW_FLOAT32,   std::move(data), {}, std::move(updates), 0,
          IndexPattern::kUniform, std::move(slice)};
}

std::vector<Workload> Expand(std::initializer_list<Entry> entries) {
  std::vector<Workload> workloads;
  for (const Entry& entry : entries) {
    const std::string name = entry.name;
    if (entry.outputs & kNew) {
      workloads.push_back({name + ".new", entry.operands, entry.reduction, false});
    }
    if (entry.outputs & kInPlace) {
      workloads.push_back({name + ".inp", entry.operands, entry.reduction, true});
    }
  }
  return workloads;
}

}  // namespace

std::vector<Workload> Workloads() {
  constexpr Operator kNd = Operator::kNd;
  constexpr Operator kElements = Operator::kElements;
  constexpr int64_t kMany = int64_t{1} << 24;
  constexpr int64_t kFewer = int64_t{1} << 22;
  const Shape square = {4096, 4096};
  const Shape wide = {481385, 80};

  const Operands seedxml = Float32(kNd, {1000, 256, 10, 15}, {25, 125, 3}, {25, 125, 15}, 0,
                                   IndexPattern::kUniqueTuples);
  const Operands rows = Float32(kNd, {100000, 256}, {20000, 1}, {20000, 256});
  Operands half_rows = rows;
  half_rows.dtype = STREW_FLOAT16;
  const Operands scalar = Float32(kNd, {kMany}, {kFewer, 1}, {kFewer});
  const Operands nd_tiny = Float32(kNd, {8}, {4, 1}, {4});

  const Operands last = Float32(kElements, square, square, square, 1);
  Operands byte_last = last;
  byte_last.dtype = STREW_INT8;
  const Operands first = Float32(kElements, square, square, square, 0);
  const Operands line = Float32(kElements, {kMany}, {kFewer}, {kFewer});
  const Operands wide_rows =
      Float32(kElements, {556416, 80}, wide, wide, 0, IndexPattern::kConstantRows);
  Operands wide_view = wide_rows;
  wide_view.pattern = IndexPattern::kStride0Rows;
  const Operands elements_tiny = Float32(kElements, {3, 3}, {2, 3}, {2, 3});

  const Operands key_value =
      Float32Slice({8, 16, 2048, 128}, {8, 16, 64, 128}, {{2}, {1000}, {1064}, {1}});
  const Operands step2 = Float32Slice(square, {4096, 2048}, {{1}, {0}, {4096}, {2}});
  const Operands reverse = Float32Slice(square, {4096, 4095}, {{1}, {4095}, {0}, {-1}});
  const Operands multi =
      Float32Slice({64, 256, 1024}, {32, 128, 1024}, {{0, 1}, {0, 0}, {64, 256}, {2, 2}});

  return Expand({
      {"nd.tiny", nd_tiny, STREW_NONE, kNew},
      {"nd.seedxml.none", seedxml, STREW_NONE, kNew},
      {"nd.rows.none", rows, STREW_NONE, kBoth},
      {"nd.rows.add", rows, STREW_ADD, kBoth},
      {"nd.rows.max", rows, STREW_MAX, kBoth},
      {"nd.f16.rows.add", half_rows, STREW_ADD, kInPlace},
      {"nd.scalar.none", scalar, STREW_NONE, kBoth},
      {"nd.scalar.add", scalar, STREW_ADD, kBoth},
      {"el.tiny", elements_tiny, STREW_NONE, kNew},
      {"el.last.none", last, STREW_NONE, kBoth},
      {"el.last.add", last, STREW_ADD, kBoth},
      {"el.first.none", first, STREW_NONE, kBoth},
      {"el.first.add", first, STREW_ADD, kBoth},
      {"el.first.max", first, STREW_MAX, kNew},
      {"el.1d.none", line, STREW_NONE, kBoth},
      {"el.1d.add", line, STREW_ADD, kBoth},
      {"el.i8.last.add", byte_last, STREW_ADD, kInPlace},
      {"rows.wide.add", wide_rows, STREW_ADD, kBoth},
      {"rows.wide.stride0.add", wide_view, STREW_ADD, kBoth},
      {"sl.kv", key_value, STREW_NONE, kBoth},
      {"sl.step2.last", step2, STREW_NONE, kBoth},
      {"sl.rev.last", reverse, STREW_NONE, kBoth},
      {"sl.multi", multi, STREW_NONE, kBoth},
  });
}

int64_t ElementCount(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
}

int64_t StoredIndexCount(const Operands& operands) {
  if (operands.op == Operator::kSlice) return 0;
  if (operands.pattern == IndexPattern::kStride0Rows) return operands.indices[0];
  return ElementCount(operands.indices);
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
