// SPDX-License-Identifier: Apache-2.0
#include "openvino/call.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <openvino/core/except.hpp>
#include <utility>
#include <vector>

namespace strew::openvino {
namespace {

// 0 for types of less than a byte.
strew_dtype DtypeOf(const ov::element::Type& type) {
  switch (static_cast<ov::element::Type_t>(type)) {
    case ov::element::Type_t::boolean:
      return STREW_BOOL;
    case ov::element::Type_t::i8:
      return STREW_INT8;
    case ov::element::Type_t::i16:
      return STREW_INT16;
    case ov::element::Type_t::i32:
      return STREW_INT32;
    case ov::element::Type_t::i64:
      return STREW_INT64;
    case ov::element::Type_t::u8:
      return STREW_UINT8;
    case ov::element::Type_t::u16:
      return STREW_UINT16;
    case ov::element::Type_t::u32:
      return STREW_UINT32;
    case ov::element::Type_t::u64:
      return STREW_UINT64;
    case ov::element::Type_t::f16:
      return STREW_FLOAT16;
    case ov::element::Type_t::bf16:
      return STREW_BFLOAT16;
    case ov::element::Type_t::f32:
      return STREW_FLOAT32;
    case ov::element::Type_t::f64:
      return STREW_FLOAT64;
    case ov::element::Type_t::f8e4m3:
      return STREW_FLOAT8_E4M3FN;
    case ov::element::Type_t::f8e5m2:
      return STREW_FLOAT8_E5M2;
    default:
      return 0;
  }
}

struct {
  std::mutex mutex;
  std::string sentence;
} last_error;

// A strew_parallel_for on the arena of the calling thread, which takes part in it.
std::int32_t RunInArena(void*, std::int64_t count, strew_task run, void* task) {
  try {
    tbb::parallel_for(
        std::int64_t{0}, count, [&](std::int64_t i) { run(task, i); }, tbb::simple_partitioner());
  } catch (...) {
    return 1;
  }
  return 0;
}

}  // namespace

Tensor::Tensor(const ov::Tensor& tensor, bool is_boolean) {
  const strew_dtype dtype = is_boolean ? STREW_BOOL : DtypeOf(tensor.get_element_type());
  if (dtype == 0) Refuse("strew has no element type " + tensor.get_element_type().to_string());
  const ov::Shape& dims = tensor.get_shape();
  const std::vector<std::int64_t> shape(dims.begin(), dims.end());
  std::vector<std::int64_t> strides;
  for (const std::size_t stride : tensor.get_strides()) {
    strides.push_back(static_cast<std::int64_t>(stride / tensor.get_element_type().size()));
  }
  // An input is only read.
  void* const memory = const_cast<void*>(tensor.data());
  strew_tensor* created = nullptr;
  const strew_status status =
      strew_tensor_create(dtype, static_cast<std::int32_t>(shape.size()), shape.data(),
                          strides.empty() ? nullptr : strides.data(), memory, &created);
  if (status != STREW_OK) Refuse(strew_last_error());
  tensor_.reset(created);
}

Context::Context() {
  strew_context* created = nullptr;
  const strew_status status = strew_context_create(&created);
  if (status != STREW_OK) Refuse(strew_last_error());
  context_.reset(created);
  const int threads = std::clamp(tbb::this_task_arena::max_concurrency(), 1, 1024);
  if (threads > 1) strew_context_set_parallel_for(created, RunInArena, nullptr, threads);
}

void Context::Check(strew_status status) const {
  if (status == STREW_OK) return;
  const char* const told = strew_context_error(get());
  Refuse(*told != '\0' ? told : strew_status_description(status));
}

void Refuse(const std::string& sentence) {
  {
    const std::lock_guard<std::mutex> lock(last_error.mutex);
    last_error.sentence = sentence;
  }
  OPENVINO_THROW("strew: ", sentence);
}

std::string TakeError() {
  const std::lock_guard<std::mutex> lock(last_error.mutex);
  return std::exchange(last_error.sentence, {});
}

}  // namespace strew::openvino
