// SPDX-License-Identifier: Apache-2.0
//
// The workloads of the benchmarks. The list is workloads.json, which determines buffers, calls,
// loops and names of benchmarks.
#ifndef BENCH_WORKLOADS_H_
#define BENCH_WORKLOADS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "strew/strew.h"

namespace strew_bench {

using Shape = std::vector<int64_t>;

enum class Operator { kElements, kNd, kSlice };

enum class IndexPattern {
  kUniform,       // independent, uniform over the axis
  kUniqueTuples,  // uniform, but no tuple twice
  kConstantRows,  // one uniform index for each row, stored for every column
  kStride0Rows,   // the same as a view: one stored index for each row, stride 0 over the columns
};

// Entry j slices axis axes[j]. start and stop are absolute: none counts from the end.
struct Slice {
  std::vector<int64_t> axes, start, stop, step;
};

// The operands of a call, whatever the reduction and wherever the output is.
struct Operands {
  Operator op;
  strew_dtype dtype;
  Shape data;
  Shape indices;  // empty for a slice
  Shape updates;
  int64_t axis = 0;
  IndexPattern pattern = IndexPattern::kUniform;
  Slice slice{};
};

struct Workload {
  std::string name;
  Operands operands;
  strew_reduction reduction;
  bool in_place;
};

// Every workload, in the order in which they run; workload_list.py writes this function. A name
// ends in ".new" if the output is new and in ".inp" if data is updated in place.
std::vector<Workload> Workloads();

int64_t ElementCount(const Shape& shape);

// Elements of the buffer of indices: fewer than the tensor has if a stride is 0.
int64_t StoredIndexCount(const Operands& operands);

// Index values of scatter_elements, tuples of scatter_nd; 0 for a slice.
int64_t EntryCount(const Operands& operands);

int64_t DataBytes(const Operands& operands);
int64_t UpdateBytes(const Operands& operands);

// The bytes that a call must at least move, which is what bytes per second are computed from:
//   new       data read + output written + indices read + updates read
//   in place  indices read + updates read + touched elements written, and also read where a
//             reduction needs the old value
// An element is touched as often as updates name it. Slices have no indices.
int64_t MovedBytes(const Workload& workload);

// The bytes that the memcpy of a workload copies: the output if it is new, else the updates.
int64_t CopiedBytes(const Workload& workload);

}  // namespace strew_bench

#endif  // BENCH_WORKLOADS_H_
