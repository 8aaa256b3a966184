// SPDX-License-Identifier: Apache-2.0
#include "jax/call.h"

#include <algorithm>
#include <string>

#include "jax/runner.h"

namespace ffi = xla::ffi;

namespace strew::jax {
namespace {

// 8-bit floats that strew does not compute with are opaque bytes. 0 for types of less than a byte.
strew_dtype DtypeOf(ffi::DataType type) {
  switch (type) {
    case ffi::PRED:
      return STREW_BOOL;
    case ffi::S8:
      return STREW_INT8;
    case ffi::S16:
      return STREW_INT16;
    case ffi::S32:
      return STREW_INT32;
    case ffi::S64:
      return STREW_INT64;
    case ffi::U8:
      return STREW_UINT8;
    case ffi::U16:
      return STREW_UINT16;
    case ffi::U32:
      return STREW_UINT32;
    case ffi::U64:
      return STREW_UINT64;
    case ffi::F16:
      return STREW_FLOAT16;
    case ffi::BF16:
      return STREW_BFLOAT16;
    case ffi::F32:
      return STREW_FLOAT32;
    case ffi::F64:
      return STREW_FLOAT64;
    case ffi::C64:
      return STREW_COMPLEX64;
    case ffi::C128:
      return STREW_COMPLEX128;
    case ffi::F8E4M3FN:
      return STREW_FLOAT8_E4M3FN;
    case ffi::F8E5M2:
      return STREW_FLOAT8_E5M2;
    case ffi::F8E4M3:
    case ffi::F8E4M3B11FNUZ:
    case ffi::F8E4M3FNUZ:
    case ffi::F8E5M2FNUZ:
    case ffi::F8E3M4:
    case ffi::F8E8M0FNU:
      return STREW_OPAQUE(1);
    default:
      return 0;
  }
}

ffi::ErrorCode CodeOf(strew_status status) {
  switch (status) {
    case STREW_OUT_OF_MEMORY:
      return ffi::ErrorCode::kResourceExhausted;
    case STREW_UNSUPPORTED:
      return ffi::ErrorCode::kUnimplemented;
    case STREW_RUNNER_FAILED:
      return ffi::ErrorCode::kInternal;
    default:
      return ffi::ErrorCode::kInvalidArgument;
  }
}

strew_status Configure(strew_context* context, ffi::ThreadPool& pool,
                       const Attributes& attributes) {
  const auto narrow = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  // XLA reports 0 threads if it has no pool.
  const std::int64_t workers = std::clamp<std::int64_t>(pool.num_threads(), 1, 1024);
  if (workers > 1) strew_context_set_parallel_for(context, RunOnPool, &pool, narrow(workers));
  for (const strew_status status :
       {strew_context_set_index_policy(context, narrow(attributes.index_policy)),
        strew_context_set_negative_indices(context, narrow(attributes.negative_indices)),
        strew_context_set_duplicate_policy(context, narrow(attributes.duplicate_policy))}) {
    if (status != STREW_OK) return status;
  }
  return STREW_OK;
}

}  // namespace

Tensor::Tensor(ffi::AnyBuffer buffer) {
  const strew_dtype dtype = DtypeOf(buffer.element_type());
  if (dtype == 0) {
    status_ = STREW_UNSUPPORTED;
    return;
  }
  strew_tensor* created = nullptr;
  const ffi::AnyBuffer::Dimensions dims = buffer.dimensions();
  status_ = strew_tensor_create(dtype, static_cast<std::int32_t>(dims.size()), dims.begin(),
                                nullptr, buffer.untyped_data(), &created);
  tensor_.reset(created);
}

Tensor::Tensor(ffi::Span<const std::int64_t> numbers) {
  strew_tensor* created = nullptr;
  const auto count = static_cast<std::int64_t>(numbers.size());
  auto* const memory = const_cast<std::int64_t*>(numbers.begin());  // an input is only read
  status_ = strew_tensor_create(STREW_INT64, 1, &count, nullptr, memory, &created);
  tensor_.reset(created);
}

Call::Call(ffi::ThreadPool& pool, const Attributes& attributes) {
  strew_context* created = nullptr;
  status_ = strew_context_create(&created);
  context_.reset(created);
  if (created != nullptr) status_ = Configure(created, pool, attributes);
}

ffi::Error Call::ErrorOf(strew_status status) const {
  const char* const sentence = strew_context_error(context_.get());
  return {CodeOf(status), *sentence != '\0' ? sentence : strew_status_description(status)};
}

}  // namespace strew::jax
