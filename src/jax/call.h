// SPDX-License-Identifier: Apache-2.0
// One call of an operator from XLA: its settings, its operands, and its error.
#ifndef STREW_JAX_CALL_H_
#define STREW_JAX_CALL_H_

#include <xla/ffi/api/ffi.h>

#include <cstdint>
#include <memory>

#include "strew/strew.h"

namespace strew::jax {

// The arguments of an operator with indices, other than its operands. The axis or the reduction is
// 0 if the operator has none.
struct Attributes {
  std::int64_t axis = 0;
  std::int64_t reduction = STREW_NONE;  // the mode of tensor_scatter
  std::int64_t index_policy = STREW_INDEX_ERROR;
  std::int64_t negative_indices = 1;
  std::int64_t duplicate_policy = STREW_DUPLICATE_LAST;

  strew_reduction Reduction() const { return static_cast<strew_reduction>(reduction); }
  strew_cache_mode Mode() const { return static_cast<strew_cache_mode>(reduction); }
};

struct DestroyTensor {
  void operator()(strew_tensor* tensor) const { strew_tensor_destroy(tensor); }
};
struct DestroyContext {
  void operator()(strew_context* context) const { strew_context_destroy(context); }
};

// A descriptor of XLA's memory, which is row-major and aligned, or of numbers in an attribute.
class Tensor {
 public:
  explicit Tensor(xla::ffi::AnyBuffer buffer);
  explicit Tensor(xla::ffi::Span<const std::int64_t> numbers);

  strew_status status() const { return status_; }
  strew_tensor* get() const { return tensor_.get(); }

 private:
  std::unique_ptr<strew_tensor, DestroyTensor> tensor_;
  strew_status status_;
};

// A context whose large calls run on the thread pool of XLA, which must outlive it.
class Call {
 public:
  Call(xla::ffi::ThreadPool& pool, const Attributes& attributes);

  // Calls run(context, tensor...) -> strew_status, and converts the status for XLA.
  template <typename Run, typename... Tensors>
  xla::ffi::Error Finish(const Run& run, const Tensors&... tensors) {
    for (const strew_status status : {status_, tensors.status()...}) {
      if (status != STREW_OK) return ErrorOf(status);
    }
    const strew_status status = run(context_.get(), tensors.get()...);
    return status == STREW_OK ? xla::ffi::Error::Success() : ErrorOf(status);
  }

 private:
  xla::ffi::Error ErrorOf(strew_status status) const;

  std::unique_ptr<strew_context, DestroyContext> context_;
  strew_status status_;
};

}  // namespace strew::jax

XLA_FFI_REGISTER_STRUCT_ATTR_DECODING(strew::jax::Attributes,
                                      xla::ffi::StructMember<std::int64_t>("axis"),
                                      xla::ffi::StructMember<std::int64_t>("reduction"),
                                      xla::ffi::StructMember<std::int64_t>("index_policy"),
                                      xla::ffi::StructMember<std::int64_t>("negative_indices"),
                                      xla::ffi::StructMember<std::int64_t>("duplicate_policy"));

#endif  // STREW_JAX_CALL_H_
