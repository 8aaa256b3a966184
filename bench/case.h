// SPDX-License-Identifier: Apache-2.0
//
// A workload with its memory: the buffers that all contestants share, and one call of each.
#ifndef BENCH_CASE_H_
#define BENCH_CASE_H_

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "scalar_loops.h"
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

class Case {
 public:
  // Makes and fills the buffers, applies the workload once by strew and once by the scalar loop,
  // and compares the bytes. No page is touched for the first time after that. With one thread strew
  // has no context.
  Case(const Workload& workload, int32_t threads);

  // "" where the two results were the same, else what went wrong.
  const std::string& error() const { return error_; }

  // One call of each contestant; false where it failed.
  bool Strew();
  bool Scalar() { return ScalarInto(output_.get()); }
  bool Memcpy();

 private:
  struct DestroyContext {
    void operator()(strew_context* context) const { strew_context_destroy(context); }
  };
  using Context = std::unique_ptr<strew_context, DestroyContext>;
  struct DestroyTensor {
    void operator()(strew_tensor* tensor) const { strew_tensor_destroy(tensor); }
  };
  using Tensor = std::unique_ptr<strew_tensor, DestroyTensor>;

  static Context ContextFor(int32_t threads);
  static Tensor Describe(strew_dtype dtype, const Shape& shape, const int64_t* strides,
                         const Buffer& buffer);
  bool ScalarInto(void* output);
  std::string Verify();

  const Workload workload_;
  const ScalarLoop scalar_loop_;
  const Context context_;
  Buffer data_, indices_, updates_, output_;
  Tensor data_tensor_, indices_tensor_, updates_tensor_, output_tensor_;
  std::string error_;
};

}  // namespace strew_bench

#endif  // BENCH_CASE_H_
