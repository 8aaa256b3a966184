// SPDX-License-Identifier: Apache-2.0
#include "python/call.h"

#include "python/shutdown.h"
#include "python/support.h"

namespace nb = nanobind;

namespace strew::python {
namespace {

nb::object NewOutput(nb::handle given, const Operand& data) {
  const nb::handle array = data.array.is_none() ? given : nb::handle(data.array);
  const nb::str dtype(strew_dtype_name(strew_tensor_dtype(data.tensor.get())));
  nb::list shape;
  for (std::size_t i = 0; i < data.memory.ndim(); ++i) shape.append(data.memory.shape(i));
  return CallPython(Support("new_output"), array, shape, dtype);
}

}  // namespace

Call::Call(nb::handle data, nb::handle updates, nb::handle out)
    : in_place_(out.is(data)),
      data_(in_place_ ? WriteOperand(data) : ReadOperand(data)),
      updates_(ReadOperand(updates)),
      out_(out.is_none() ? NewOutput(data, data_) : nb::borrow(out)) {
  RequireSameDtype(data_, updates_, "updates");
  if (in_place_) return;
  output_ = WriteOperand(out_);
  RequireSameDtype(data_, output_, "out");
}

}  // namespace strew::python
