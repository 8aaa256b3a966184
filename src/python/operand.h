// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_OPERAND_H_
#define STREW_PYTHON_OPERAND_H_

#include <cstdint>
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "strew/strew.h"

namespace strew::python {

struct DestroyTensor {
  void operator()(strew_tensor* tensor) const { strew_tensor_destroy(tensor); }
};
using Tensor = std::unique_ptr<strew_tensor, DestroyTensor>;

// A caller's tensor: its descriptor, and the object that keeps the memory alive.
struct Operand {
  Tensor tensor;
  nanobind::ndarray<nanobind::ro> memory;
  // The NumPy array of an operand that DLPack cannot describe; for the others None.
  nanobind::object array = nanobind::none();
  std::vector<std::int64_t> numbers;
};

// Takes anything with __dlpack__, __array__ or a buffer, and all that numpy.asarray() takes.
Operand ReadOperand(nanobind::handle object);

// The same of indices, which may be an empty list.
Operand IndexOperand(nanobind::handle object);

// Takes an array that can be written; neither a list nor a copy would do.
Operand WriteOperand(nanobind::handle object);

// Of one dimension, of a number, a list or a tuple of numbers, or an array. Like the bounds of a
// slice in Python numbers beyond 64 bits mean the nearest within.
Operand NumbersOperand(nanobind::handle object);

// A number, or those of a list, a tuple or an array; to numbers beyond 64 bits the same applies.
std::vector<std::int64_t> Numbers(nanobind::handle object);

// n ones.
Operand OnesOperand(std::int64_t n);

// Elements of two dtypes of one size are both opaque to strew, and must not meet.
struct NamedOperand {
  const char* name;
  const Operand& operand;
};
void RequireSameDtype(NamedOperand first, NamedOperand second);

}  // namespace strew::python

#endif  // STREW_PYTHON_OPERAND_H_
