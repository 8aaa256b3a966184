// SPDX-License-Identifier: Apache-2.0 The contents of the library for ov::Core::add_extension():
// the operations, and conversions by which the frontend of ONNX makes them of the operators of
// ONNX.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/frontend/node_context.hpp>
#include <openvino/frontend/onnx/extension/conversion.hpp>
#include <openvino/op/constant.hpp>
#include <string>
#include <utility>
#include <vector>

#include "openvino/operators.h"

namespace strew::openvino {
namespace {

using ov::frontend::NodeContext;

template <typename Kind>
ov::OutputVector Make(const ov::OutputVector& inputs, Attributes attributes) {
  const auto node = std::make_shared<Kind>(inputs, std::move(attributes));
  node->constructor_validate_and_infer_types();
  return node->outputs();
}

Attributes Reducing(const NodeContext& node) {
  Attributes attributes;
  attributes.reduction = node.get_attribute<std::string>("reduction", "none");
  return attributes;
}

ov::OutputVector ConvertScatterElements(const NodeContext& node) {
  const auto axis = node.get_attribute<std::int64_t>("axis", 0);
  return Make<ScatterElements>(
      {node.get_input(0), node.get_input(1), node.get_input(2),
       ov::op::v0::Constant::create(ov::element::i64, ov::Shape{}, {axis})},
      Reducing(node));
}

ov::OutputVector ConvertScatterNd(const NodeContext& node) {
  return Make<ScatterNd>({node.get_input(0), node.get_input(1), node.get_input(2)}, Reducing(node));
}

ov::OutputVector ConvertTensorScatter(const NodeContext& node) {
  Attributes attributes;
  attributes.axis = node.get_attribute<std::int64_t>("axis", -2);
  attributes.mode = node.get_attribute<std::string>("mode", "linear");
  ov::OutputVector inputs{node.get_input(0), node.get_input(1)};
  if (node.get_input_size() > 2) inputs.push_back(node.get_input(2));
  return Make<TensorScatter>(inputs, std::move(attributes));
}

std::vector<ov::Extension::Ptr> Extensions() {
  using Conversion = ov::frontend::onnx::ConversionExtension;
  return {
      std::make_shared<ov::OpExtension<ScatterElements>>(),
      std::make_shared<ov::OpExtension<ScatterNd>>(),
      std::make_shared<ov::OpExtension<ScatterUpdate>>(),
      std::make_shared<ov::OpExtension<SliceScatter>>(),
      std::make_shared<ov::OpExtension<TensorScatter>>(),
      std::make_shared<Conversion>("Scatter", ConvertScatterElements),
      std::make_shared<Conversion>("ScatterElements", ConvertScatterElements),
      std::make_shared<Conversion>("ScatterND", ConvertScatterNd),
      std::make_shared<Conversion>("TensorScatter", ConvertTensorScatter),
  };
}

}  // namespace
}  // namespace strew::openvino

OPENVINO_CREATE_EXTENSIONS(strew::openvino::Extensions())

// For strew.openvino.last_error(): copies the sentence, cut to fit. Returns its length in bytes
// without the NUL.
extern "C" OPENVINO_CORE_EXPORTS std::size_t strew_openvino_take_error(char* sentence,
                                                                       std::size_t size) {
  const std::string taken = strew::openvino::TakeError();
  const std::size_t copied = taken.copy(sentence, size - 1);
  sentence[copied] = '\0';
  return copied;
}
