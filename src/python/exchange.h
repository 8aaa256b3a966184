// SPDX-License-Identifier: Apache-2.0
// Tensors of libraries with C functions for DLPack, such as PyTorch: an object's `__dlpack__` takes
// two microseconds, the C function a tenth of one.
#ifndef STREW_PYTHON_EXCHANGE_H_
#define STREW_PYTHON_EXCHANGE_H_

#include <cstdint>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "python/shape.h"

namespace strew::python {

// The functions that a type has in `__dlpack_c_exchange_api__`: DLPackExchangeAPI of DLPack 1.3,
// whose layout stays within a major version.
struct ExchangeFunctions;

// The functions of exactly this type, or nullptr: a derived type may give its memory another
// meaning.
const ExchangeFunctions* ExchangeFunctionsOfType(nanobind::handle type);
const ExchangeFunctions* ExchangeFunctionsOf(nanobind::handle object);

// Describes the memory of a tensor that has such functions, as long as the tensor lives. False with
// a Python error set.
bool DescribeMemory(const ExchangeFunctions& functions, nanobind::handle tensor,
                    nanobind::dlpack::dltensor* described);

// The same, but false without an error if the object's `__dlpack__` must be called, which may
// refuse with a sentence.
bool DescribeByExchange(const ExchangeFunctions& functions, nanobind::handle tensor,
                        nanobind::dlpack::dltensor* described);

// The contents of a new tensor.
enum class Contents { kAny, kZeros };
nanobind::object NewByExchange(const ExchangeFunctions& functions, nanobind::dlpack::dtype dtype,
                               const Shape& shape, Contents contents);

}  // namespace strew::python

#endif  // STREW_PYTHON_EXCHANGE_H_
