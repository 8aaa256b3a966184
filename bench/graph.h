// SPDX-License-Identifier: Apache-2.0
//
// A round of messages of a graph network: each of 2 million random edges adds the features of its
// first node, of 200,000, to the sums of its second one. A node has 64 float32.
#ifndef BENCH_GRAPH_H_
#define BENCH_GRAPH_H_

#include <cstdint>
#include <string>

#include "handles.h"
#include "strew/strew.h"

namespace strew_bench {

class Graph {
 public:
  static constexpr int64_t kNodes = 200000;
  static constexpr int64_t kFeatures = 64;
  static constexpr int64_t kEdges = 2000000;

  // Makes plans and buffers, and compares the results of the contestants. With one thread strew has
  // no context.
  explicit Graph(int32_t threads);

  // "" if the results were the same, else what went wrong.
  const std::string& error() const { return error_; }

  static constexpr int64_t kMessageBytes = kEdges * kFeatures * static_cast<int64_t>(sizeof(float));

  // One call of each contestant; false if it failed.
  bool GatherScatter();
  // strew_plan_gather() makes the messages, 512 MB, and strew_scatter_update() adds them up.
  bool TwoSteps();
  bool Gather();
  // The loops that a programmer without a library would write.
  bool GatherScatterLoop();
  bool GatherLoop();
  // Copies as many bytes as the messages have.
  bool CopyMessages();

 private:
  static Operands RowsOfEdges();
  Plan MakePlan(const Tensor& indices) const;
  bool Scatter();
  std::string Verify();

  const Context context_;
  Buffer sources_, targets_, features_, messages_, sums_;
  Tensor sources_tensor_, targets_tensor_, features_tensor_, messages_tensor_, sums_tensor_;
  Plan from_, to_;
  std::string error_;
};

}  // namespace strew_bench

#endif  // BENCH_GRAPH_H_
