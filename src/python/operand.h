// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_OPERAND_H_
#define STREW_PYTHON_OPERAND_H_

#include <cstdint>
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "python/exchange.h"
#include "python/shape.h"
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
  // Not NULL for a tensor of a library that has them; its dtype is then `dtype`.
  const ExchangeFunctions* exchange = nullptr;
  nanobind::dlpack::dtype dtype;
  // The object that was made for the call.
  nanobind::object owner = nanobind::none();
};

inline Dims DimsOf(const Operand& operand) {
  return {strew_tensor_shape(operand.tensor.get()),
          static_cast<std::size_t>(strew_tensor_rank(operand.tensor.get()))};
}

// Accepts objects with __dlpack__, __array__ or a buffer, and all that numpy.asarray() accepts.
Operand ReadOperand(nanobind::handle object);

// The same of an operand beside data. A number, and lists of numbers, take the dtype of data, where
// NumPy casts their kind to its; where not, the operator refuses them.
Operand ReadOperandLike(nanobind::handle object, nanobind::handle data, const Operand& described);

// Broadcasts the operand as NumPy does. If its shape does not fit, it stays as it is, so that the
// operator refuses it.
void BroadcastTo(const Shape& shape, Operand* operand);

// The same of indices, which may be an empty list.
Operand IndexOperand(nanobind::handle object);

// Accepts only an array that can be written, and no list; never makes a copy.
Operand WriteOperand(nanobind::handle object);

// An operand of one dimension: a number, a list or a tuple of numbers, or an array. As in the
// bounds of a slice in Python, a number beyond 64 bits means the nearest one within.
Operand NumbersOperand(nanobind::handle object);

// A number, or the numbers of a list, a tuple or an array. Numbers beyond 64 bits are clamped too.
std::vector<std::int64_t> Numbers(nanobind::handle object);

// n ones.
Operand OnesOperand(std::int64_t n);

// An operand and its name. Two dtypes of one size may both be opaque to strew, but must not be
// mixed.
struct NamedOperand {
  const char* name;
  const Operand& operand;
};
void RequireSameDtype(NamedOperand first, NamedOperand second);

}  // namespace strew::python

#endif  // STREW_PYTHON_OPERAND_H_
