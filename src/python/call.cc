// SPDX-License-Identifier: Apache-2.0
#include "python/call.h"

#include "python/shutdown.h"
#include "python/support.h"

namespace nb = nanobind;

namespace strew::python {

nb::object NewArray(nb::handle given, const Operand& operand, const Shape& shape,
                    Contents contents) {
  if (operand.exchange != nullptr) {
    return NewByExchange(*operand.exchange, operand.dtype, shape, contents);
  }
  const nb::handle array = operand.array.is_none() ? given : nb::handle(operand.array);
  const nb::str dtype(strew_dtype_name(strew_tensor_dtype(operand.tensor.get())));
  nb::list dims;
  for (const std::int64_t dim : shape) dims.append(dim);
  const char* const function = contents == Contents::kZeros ? "new_zeros" : "new_output";
  return CallPython(Support(function), array, dims, dtype);
}

nb::object Finished(nb::handle given, nb::object made) {
  if (Py_TYPE(given.ptr()) == Py_TYPE(made.ptr())) return made;
  return CallPython(Support("of_kind"), made, given);
}

void NoteWrite(const Operand& operand, nb::handle array) {
  // Only PyTorch's tensors count their writes, and only libraries with C functions may be PyTorch.
  if (operand.exchange != nullptr) CallPython(Support("written"), array);
}

Call::Others Call::ReadOthers(std::initializer_list<Given> given) const {
  Others others;
  std::size_t i = 0;
  for (const Given& other : given) others[i++] = ReadOperandLike(other.object, given_, data_);
  return others;
}

Call::Call(nb::handle data, std::initializer_list<Given> others, nb::handle out)
    : given_(data),
      in_place_(out.is(data)),
      is_new_(out.is_none()),
      data_(in_place_ ? WriteOperand(data) : ReadOperand(data)),
      others_(ReadOthers(others)),
      out_(is_new_ ? NewArray(data, data_, ShapeOf(DimsOf(data_)), Contents::kAny)
                   : nb::borrow(out)) {
  std::size_t i = 0;
  for (const Given& other : others) {
    RequireSameDtype({"data", data_}, {other.name, others_[i++]});
  }
  if (in_place_) return;
  output_ = WriteOperand(out_);
  RequireSameDtype({"data", data_}, {"out", output_});
}

nb::str Call::InWordsOfNumpy(const char* sentence) const {
  nb::str words(sentence);
  for (const Operand* operand : {&data_, &others_[0], &others_[1]}) {
    if (operand->array.is_none()) continue;
    const nb::object dtype = operand->array.attr("dtype");
    const nb::str opaque = nb::str("opaque[{}]").format(dtype.attr("itemsize"));
    words = nb::str(CallPython(words.attr("replace"), opaque, nb::str(dtype)));
  }
  return words;
}

void Call::BroadcastUpdates(const NamedAxes& named, const Dims& indices) {
  const Dims data = DimsOf(data_);
  if (MayRepeat(DimsOf(others_[0]), UpdatesRank(named, indices, data))) {
    BroadcastTo(UpdatesShape(named, indices, data), &others_[0]);
  }
}

}  // namespace strew::python
