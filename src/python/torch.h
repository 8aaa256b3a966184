// SPDX-License-Identifier: Apache-2.0
// The part of strew.torch that must be fast: calls on the memory of torch tensors, on PyTorch's
// threads. It is built without PyTorch, whose functions are passed in as addresses.
#ifndef STREW_PYTHON_TORCH_H_
#define STREW_PYTHON_TORCH_H_

#include <cstdint>

#include <nanobind/nanobind.h>

#include "python/context.h"
#include "python/exchange.h"
#include "python/operand.h"
#include "strew/strew.h"

namespace strew::python {

// The functions of torch/csrc/stable/c/shim.h, 0 being success.
using TorchRange = void (*)(std::int64_t begin, std::int64_t end, void* opaque);
using TorchParallelFor = std::int32_t (*)(std::int64_t begin, std::int64_t end,
                                          std::int64_t grain_size, TorchRange run, void* opaque);
using TorchNumThreads = std::int32_t (*)(std::uint32_t* n);

// _strew.TorchCalls: PyTorch's type of tensors and its functions, found once for each process.
class TorchCalls {
 public:
  // The type of tensors, whose __dlpack_c_exchange_api__ tells their memory, and the addresses of
  // torch_parallel_for() and torch_get_num_threads(). Throws TypeError for a type without one.
  TorchCalls(nanobind::handle tensor_type, std::uintptr_t parallel_for, std::uintptr_t num_threads);

  // A descriptor that borrows the memory, and its shape while the call lasts. Throws TypeError,
  // strew.Error and what PyTorch throws for tensors without memory.
  Tensor Describe(nanobind::handle tensor) const;

  // As many workers as PyTorch has threads now.
  void LendThreads(strew_context* context) const;

 private:
  nanobind::object tensor_type_;
  const ExchangeFunctions& exchange_;
  TorchParallelFor parallel_for_;
  TorchNumThreads num_threads_;
};

void BindTorchCalls(nanobind::module_& module);

}  // namespace strew::python

#endif  // STREW_PYTHON_TORCH_H_
