// SPDX-License-Identifier: Apache-2.0
#include "openvino/operators.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <openvino/core/attribute_visitor.hpp>
#include <string>
#include <utility>

namespace strew::openvino {
namespace {

// Names indexed by their values in strew.h.
constexpr const char* kReductions[] = {"none", "add", "mul", "min", "max", "sub", "mean"};
constexpr const char* kPolicies[] = {"error", "drop", "clamp"};
constexpr const char* kModes[] = {"linear", "circular"};

template <std::size_t kCount>
std::int32_t Choice(const char* what, const char* const (&names)[kCount], const std::string& name) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (name == names[i]) return static_cast<std::int32_t>(i);
  }
  Refuse(std::string("no ") + what + " is named " + name);
}

// The only number of a tensor.
std::int64_t Number(const ov::Tensor& tensor) {
  if (tensor.get_size() != 1) {
    Refuse("axis has " + std::to_string(tensor.get_size()) + " elements, but must have one");
  }
  const auto read = [&](auto number) {
    std::memcpy(&number, tensor.data(), sizeof(number));
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    const bool fits = number <= 0 || static_cast<std::uint64_t>(number) <= std::uint64_t{kMost};
    return fits ? static_cast<std::int64_t>(number) : kMost;
  };
  switch (static_cast<ov::element::Type_t>(tensor.get_element_type())) {
    case ov::element::Type_t::i8:
      return read(std::int8_t{});
    case ov::element::Type_t::i16:
      return read(std::int16_t{});
    case ov::element::Type_t::i32:
      return read(std::int32_t{});
    case ov::element::Type_t::i64:
      return read(std::int64_t{});
    case ov::element::Type_t::u8:
      return read(std::uint8_t{});
    case ov::element::Type_t::u16:
      return read(std::uint16_t{});
    case ov::element::Type_t::u32:
      return read(std::uint32_t{});
    case ov::element::Type_t::u64:
      return read(std::uint64_t{});
    default:
      Refuse("axis is of " + tensor.get_element_type().to_string() + ", which is no integer type");
  }
}

Tensor Indices(const ov::Tensor& tensor) { return {tensor, false}; }

}  // namespace

Operator::Operator(const ov::OutputVector& inputs, Attributes attributes)
    : Op(inputs), attributes_(std::move(attributes)) {}

void Operator::validate_and_infer_types() {
  // A plugin that converts the inputs calls this again with its own types.
  if (attributes_.element_type.empty()) {
    attributes_.element_type = get_input_element_type(0).get_type_name();
  }
  set_output_type(0, get_input_element_type(0), get_input_partial_shape(0));
}

bool Operator::visit_attributes(ov::AttributeVisitor& visitor) {
  visitor.on_attribute("reduction", attributes_.reduction);
  visitor.on_attribute("exclude_self", attributes_.exclude_self);
  visitor.on_attribute("mode", attributes_.mode);
  visitor.on_attribute("axis", attributes_.axis);
  visitor.on_attribute("index_policy", attributes_.index_policy);
  visitor.on_attribute("negative_indices", attributes_.negative_indices);
  visitor.on_attribute("element_type", attributes_.element_type);
  return true;
}

bool Operator::evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const {
  if (outputs[0].get_shape() != inputs[0].get_shape()) outputs[0].set_shape(inputs[0].get_shape());
  const Context context;
  const std::int32_t policy = Choice("index policy", kPolicies, attributes_.index_policy);
  strew_context_set_index_policy(context.get(), policy);
  strew_context_set_negative_indices(context.get(), attributes_.negative_indices ? 1 : 0);
  context.Check(Run(context, inputs, Updates(inputs[0]), Updates(outputs[0])));
  return true;
}

strew_reduction Operator::Reduction() const {
  const std::int32_t kind = Choice("reduction", kReductions, attributes_.reduction);
  return attributes_.exclude_self ? kind | STREW_EXCLUDE_SELF : kind;
}

#define STREW_CLONE(NAME)                                                                       \
  std::shared_ptr<ov::Node> NAME::clone_with_new_inputs(const ov::OutputVector& inputs) const { \
    const auto copy = std::make_shared<NAME>(inputs, attributes());                             \
    copy->constructor_validate_and_infer_types();                                               \
    return copy;                                                                                \
  }
STREW_CLONE(ScatterElements)
STREW_CLONE(ScatterNd)
STREW_CLONE(ScatterUpdate)
STREW_CLONE(SliceScatter)
STREW_CLONE(TensorScatter)

strew_status ScatterElements::Run(const Context& context, const ov::TensorVector& inputs,
                                  const Tensor& data, const Tensor& output) const {
  return strew_scatter_elements(context.get(), data.get(), Indices(inputs[1]).get(),
                                Updates(inputs[2]).get(), Number(inputs[3]), Reduction(),
                                output.get());
}

strew_status ScatterNd::Run(const Context& context, const ov::TensorVector& inputs,
                            const Tensor& data, const Tensor& output) const {
  return strew_scatter_nd(context.get(), data.get(), Indices(inputs[1]).get(),
                          Updates(inputs[2]).get(), Reduction(), output.get());
}

strew_status ScatterUpdate::Run(const Context& context, const ov::TensorVector& inputs,
                                const Tensor& data, const Tensor& output) const {
  return strew_scatter_update(context.get(), data.get(), Indices(inputs[1]).get(),
                              Updates(inputs[2]).get(), Number(inputs[3]), Reduction(),
                              output.get());
}

strew_status SliceScatter::Run(const Context& context, const ov::TensorVector& inputs,
                               const Tensor& data, const Tensor& output) const {
  const Tensor axes = inputs.size() > 5 ? Indices(inputs[5]) : Tensor();
  return strew_slice_scatter(context.get(), data.get(), Updates(inputs[1]).get(),
                             Indices(inputs[2]).get(), Indices(inputs[3]).get(),
                             Indices(inputs[4]).get(), axes.get(), Reduction(), output.get());
}

strew_status TensorScatter::Run(const Context& context, const ov::TensorVector& inputs,
                                const Tensor& data, const Tensor& output) const {
  const Tensor places = inputs.size() > 2 ? Indices(inputs[2]) : Tensor();
  return strew_tensor_scatter(context.get(), data.get(), Updates(inputs[1]).get(), places.get(),
                              attributes().axis, Choice("mode", kModes, attributes().mode),
                              output.get());
}

}  // namespace strew::openvino
