// SPDX-License-Identifier: Apache-2.0
#include "python/call.h"

#include "python/shutdown.h"
#include "python/support.h"

namespace nb = nanobind;

namespace strew::python {

nb::object NewArray(nb::handle given, const Operand& operand,
                    const std::vector<std::int64_t>& shape, Contents contents) {
  const nb::handle array = operand.array.is_none() ? given : nb::handle(operand.array);
  const nb::str dtype(strew_dtype_name(strew_tensor_dtype(operand.tensor.get())));
  nb::list dims;
  for (const std::int64_t dim : shape) dims.append(dim);
  const char* const function = contents == Contents::kZeros ? "new_zeros" : "new_output";
  return CallPython(Support(function), array, dims, dtype);
}

namespace {

nb::object NewOutput(nb::handle given, const Operand& data) {
  const std::int64_t* const shape = strew_tensor_shape(data.tensor.get());
  const std::int32_t rank = strew_tensor_rank(data.tensor.get());
  return NewArray(given, data, {shape, shape + rank}, Contents::kAny);
}

}  // namespace

Call::Others Call::ReadOthers(std::initializer_list<Given> given) {
  Others others;
  std::size_t i = 0;
  for (const Given& other : given) others[i++] = ReadOperand(other.object);
  return others;
}

Call::Call(nb::handle data, std::initializer_list<Given> others, nb::handle out)
    : in_place_(out.is(data)),
      data_(in_place_ ? WriteOperand(data) : ReadOperand(data)),
      others_(ReadOthers(others)),
      out_(out.is_none() ? NewOutput(data, data_) : nb::borrow(out)) {
  std::size_t i = 0;
  for (const Given& other : others) {
    RequireSameDtype({"data", data_}, {other.name, others_[i++]});
  }
  if (in_place_) return;
  output_ = WriteOperand(out_);
  RequireSameDtype({"data", data_}, {"out", output_});
}

}  // namespace strew::python
