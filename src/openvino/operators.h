// SPDX-License-Identifier: Apache-2.0
// strew's operators as OpenVINO operations. They have the same inputs, in the same order, as the
// OpenVINO operations that they replace.
#ifndef STREW_OPENVINO_OPERATORS_H_
#define STREW_OPENVINO_OPERATORS_H_

#include <cstdint>
#include <memory>
#include <openvino/op/op.hpp>
#include <string>

#include "openvino/call.h"
#include "strew/strew.h"

namespace strew::openvino {

// Settings that are fixed in a model.
struct Attributes {
  std::string reduction = "none";
  bool exclude_self = false;
  std::string mode = "linear";  // of StrewTensorScatter
  std::int64_t axis = 0;        // of StrewTensorScatter; others have an input for it
  std::string index_policy = "error";
  bool negative_indices = true;
  std::string element_type;  // that of data, before a plugin converts it
};

// The base of all operations: the result has the type and shape of the first input.
class Operator : public ov::op::Op {
 public:
  OPENVINO_OP("StrewOperator", "strew")

  Operator() = default;
  Operator(const ov::OutputVector& inputs, Attributes attributes);

  void validate_and_infer_types() override;
  bool visit_attributes(ov::AttributeVisitor& visitor) override;
  bool has_evaluate() const override { return true; }
  bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;

 protected:
  virtual strew_status Run(const Context& context, const ov::TensorVector& inputs,
                           const Tensor& data, const Tensor& output) const = 0;

  const Attributes& attributes() const { return attributes_; }
  strew_reduction Reduction() const;
  Tensor Updates(const ov::Tensor& tensor) const { return {tensor, IsBoolean()}; }

 private:
  bool IsBoolean() const { return attributes_.element_type == "boolean"; }

  Attributes attributes_;
};

// Declares an operator that OpenVINO can make, copy, and run.
#define STREW_OPENVINO_OPERATOR(NAME)                                                        \
  class NAME final : public Operator {                                                       \
   public:                                                                                   \
    OPENVINO_OP("Strew" #NAME, "strew", Operator)                                            \
    using Operator::Operator;                                                                \
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector&) const override; \
                                                                                             \
   protected:                                                                                \
    strew_status Run(const Context&, const ov::TensorVector&, const Tensor&,                 \
                     const Tensor&) const override;                                          \
  }

STREW_OPENVINO_OPERATOR(ScatterElements);  // data, indices, updates, axis
STREW_OPENVINO_OPERATOR(ScatterNd);        // data, indices, updates
STREW_OPENVINO_OPERATOR(ScatterUpdate);    // data, indices, updates, axis
STREW_OPENVINO_OPERATOR(SliceScatter);     // data, updates, start, stop, step, axes or nothing
STREW_OPENVINO_OPERATOR(TensorScatter);    // past_cache, update, write_indices or nothing

}  // namespace strew::openvino

#endif  // STREW_OPENVINO_OPERATORS_H_
