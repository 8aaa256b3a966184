// SPDX-License-Identifier: Apache-2.0
//
// Memory as NumPy allocates it, and owners of the library's handles.
#ifndef BENCH_HANDLES_H_
#define BENCH_HANDLES_H_

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "strew/strew.h"
#include "workloads.h"

namespace strew_bench {

// Memory as a NumPy array has it: from malloc, and on Linux from 4 MiB on with the kernel asked for
// huge pages. So it starts 16 bytes behind a page and has no alignment that a caller of the library
// could not be expected to bring.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t bytes);
  void* get() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
};

struct Destroy {
  void operator()(strew_tensor* tensor) const { strew_tensor_destroy(tensor); }
  void operator()(strew_context* context) const { strew_context_destroy(context); }
  void operator()(strew_plan* plan) const { strew_plan_destroy(plan); }
};
using Tensor = std::unique_ptr<strew_tensor, Destroy>;
using Context = std::unique_ptr<strew_context, Destroy>;
using Plan = std::unique_ptr<strew_plan, Destroy>;

// Throws std::runtime_error if the status is not STREW_OK.
void Check(strew_status status);

// NULL for one thread.
Context ContextFor(int32_t threads);

Tensor Describe(strew_dtype dtype, const Shape& shape, const int64_t* strides,
                const Buffer& buffer);

}  // namespace strew_bench

#endif  // BENCH_HANDLES_H_
