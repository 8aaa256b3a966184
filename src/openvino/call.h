// SPDX-License-Identifier: Apache-2.0
// One call of an operator from OpenVINO: its operands, its threads, and its error.
#ifndef STREW_OPENVINO_CALL_H_
#define STREW_OPENVINO_CALL_H_

#include <cstddef>
#include <memory>
#include <openvino/runtime/tensor.hpp>
#include <string>

#include "strew/strew.h"

namespace strew::openvino {

struct DestroyTensor {
  void operator()(strew_tensor* tensor) const { strew_tensor_destroy(tensor); }
};
struct DestroyContext {
  void operator()(strew_context* context) const { strew_context_destroy(context); }
};

// A descriptor of memory of OpenVINO. Throws ov::Exception for element types that are less than a
// byte.
class Tensor {
 public:
  Tensor() = default;  // NULL, for an operand that is not there
  // A plugin may store booleans as bytes; the type in the model decides.
  Tensor(const ov::Tensor& tensor, bool is_boolean);

  strew_tensor* get() const { return tensor_.get(); }

 private:
  std::unique_ptr<strew_tensor, DestroyTensor> tensor_;
};

// A context whose large calls run on OpenVINO's threads, in the arena of the calling thread.
class Context {
 public:
  Context();

  strew_context* get() const { return context_.get(); }

  // Calls Refuse() with the sentence of the last call, unless the status is STREW_OK.
  void Check(strew_status status) const;

 private:
  std::unique_ptr<strew_context, DestroyContext> context_;
};

// Throws ov::Exception, and keeps the sentence for TakeError().
[[noreturn]] void Refuse(const std::string& sentence);

// Returns and clears the sentence of the last call that was refused in this process; "" if there is
// none. It is needed because a synchronous inference on one thread drops all exceptions.
std::string TakeError();

}  // namespace strew::openvino

#endif  // STREW_OPENVINO_CALL_H_
