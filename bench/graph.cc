// SPDX-License-Identifier: Apache-2.0
#include "graph.h"

#include <cstring>

#include "random_fill.h"

namespace strew_bench {
namespace {

constexpr int64_t kRowBytes = Graph::kFeatures * static_cast<int64_t>(sizeof(float));
constexpr int64_t kListBytes = Graph::kEdges * static_cast<int64_t>(sizeof(int64_t));

// False if the edge names no node.
bool FindNode(const Buffer& nodes, int64_t edge, int64_t* node) {
  const int64_t index = static_cast<const int64_t*>(nodes.get())[edge];
  *node = index < 0 ? index + Graph::kNodes : index;
  return *node >= 0 && *node < Graph::kNodes;
}

float* RowOf(const Buffer& rows, int64_t row) {
  return static_cast<float*>(rows.get()) + row * Graph::kFeatures;
}

}  // namespace

Operands Graph::RowsOfEdges() {
  return {Operator::kNd, STREW_FLOAT32, {kNodes, kFeatures}, {kEdges}, {kEdges, kFeatures}};
}

Graph::Graph(int32_t threads)
    : context_(ContextFor(threads)),
      sources_(kListBytes),
      targets_(kListBytes),
      features_(kNodes * kRowBytes),
      messages_(kEdges * kRowBytes),
      sums_(kNodes * kRowBytes) {
  const Operands rows = RowsOfEdges();
  RandomFill fill;
  fill.Values(rows.dtype, kNodes * kFeatures, features_.get());
  fill.Indices(rows, static_cast<int64_t*>(sources_.get()));
  fill.Indices(rows, static_cast<int64_t*>(targets_.get()));
  sources_tensor_ = Describe(STREW_INT64, rows.indices, nullptr, sources_);
  targets_tensor_ = Describe(STREW_INT64, rows.indices, nullptr, targets_);
  features_tensor_ = Describe(rows.dtype, rows.data, nullptr, features_);
  messages_tensor_ = Describe(rows.dtype, rows.updates, nullptr, messages_);
  sums_tensor_ = Describe(rows.dtype, rows.data, nullptr, sums_);
  from_ = MakePlan(sources_tensor_);
  to_ = MakePlan(targets_tensor_);
  error_ = Verify();
}

Plan Graph::MakePlan(const Tensor& indices) const {
  strew_plan* plan = nullptr;
  Check(strew_plan_scatter_update(context_.get(), indices.get(), 0, kNodes, &plan));
  return Plan(plan);
}

std::string Graph::Verify() {
  const auto bytes = static_cast<size_t>(kNodes * kRowBytes);
  const Buffer expected(kNodes * kRowBytes);
  std::memset(sums_.get(), 0, bytes);
  if (!GatherScatterLoop()) return "the loop met an index out of range";
  std::memcpy(expected.get(), sums_.get(), bytes);
  const auto agrees = [&](const auto& call) {
    std::memset(sums_.get(), 0, bytes);
    return call() && std::memcmp(sums_.get(), expected.get(), bytes) == 0;
  };
  if (!agrees([this] { return GatherLoop() && Scatter(); })) return "the loops differ";
  if (!agrees([this] { return TwoSteps(); })) return "two steps and the loop differ";
  return agrees([this] { return GatherScatter(); }) ? "" : "one step and the loop differ";
}

bool Graph::GatherScatter() {
  return strew_plan_gather_scatter(context_.get(), from_.get(), features_tensor_.get(), nullptr,
                                   to_.get(), sums_tensor_.get(), STREW_ADD,
                                   sums_tensor_.get()) == STREW_OK;
}

bool Graph::Gather() {
  return strew_plan_gather(context_.get(), from_.get(), features_tensor_.get(),
                           messages_tensor_.get()) == STREW_OK;
}

bool Graph::Scatter() {
  return strew_scatter_update(context_.get(), sums_tensor_.get(), targets_tensor_.get(),
                              messages_tensor_.get(), 0, STREW_ADD, sums_tensor_.get()) == STREW_OK;
}

bool Graph::TwoSteps() { return Gather() && Scatter(); }

bool Graph::GatherLoop() {
  for (int64_t edge = 0; edge < kEdges; ++edge) {
    int64_t node;
    if (!FindNode(sources_, edge, &node)) return false;
    std::memcpy(RowOf(messages_, edge), RowOf(features_, node), kRowBytes);
  }
  return true;
}

bool Graph::GatherScatterLoop() {
  for (int64_t edge = 0; edge < kEdges; ++edge) {
    int64_t source, target;
    if (!FindNode(sources_, edge, &source) || !FindNode(targets_, edge, &target)) return false;
    float* const sums = RowOf(sums_, target);
    const float* const features = RowOf(features_, source);
    for (int64_t i = 0; i < kFeatures; ++i) sums[i] += features[i];
  }
  return true;
}

bool Graph::CopyMessages() {
  const int64_t half = kMessageBytes / 2;
  std::memcpy(messages_.get(), RowOf(messages_, kEdges / 2), static_cast<size_t>(half));
  return true;
}

}  // namespace strew_bench
