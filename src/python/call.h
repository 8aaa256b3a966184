// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_CALL_H_
#define STREW_PYTHON_CALL_H_

#include <array>
#include <cstdint>
#include <initializer_list>

#include <nanobind/nanobind.h>

#include "python/context.h"
#include "python/error.h"
#include "python/operand.h"
#include "python/shutdown.h"
#include "strew/strew.h"

namespace strew::python {

// Calls run(context) -> strew_status without the GIL, with a new context if none is given. Throws
// strew.Error with words(the sentence of the library).
template <typename Run, typename Words>
void RunWith(Context* context, const Run& run, const Words& words) {
  if (context == nullptr) {
    Context once;
    return RunWith(&once, run, words);
  }
  const Context::Use use(*context);
  const strew_status status = WithoutGil([&] { return run(use.handle()); });
  if (status == STREW_OK) return;
  RaiseStatus(status, words(strew_context_error(use.handle())).c_str(),
              strew_context_error_position(use.handle()));
}

template <typename Run>
void RunWith(Context* context, const Run& run) {
  RunWith(context, run, [](const char* sentence) { return nanobind::str(sentence); });
}

// An array with the dtype of an operand, which was read from `given`: of the same library if that
// makes arrays in C, else of NumPy, which Finished() then converts to the library's.
nanobind::object NewArray(nanobind::handle given, const Operand& operand, const Shape& shape,
                          Contents contents);
nanobind::object Finished(nanobind::handle given, nanobind::object made);

// Tells the library of an array that the array, which the caller gave, was written.
void NoteWrite(const Operand& operand, nanobind::handle array);

// An operand other than data, and its name in errors.
struct Given {
  const char* name;
  nanobind::handle object;
};

// A call of an operator: its data, updates and output, which all operators have, and the other
// operands.
class Call {
 public:
  Call(nanobind::handle data, nanobind::handle updates, nanobind::handle out)
      : Call(data, {{"updates", updates}}, out) {}
  Call(nanobind::handle data, std::initializer_list<Given> others, nanobind::handle out);

  const strew_tensor* data() const { return data_.tensor.get(); }
  const strew_tensor* updates() const { return other(0); }
  // nullptr for one that was not given.
  const strew_tensor* other(std::size_t i) const { return others_[i].tensor.get(); }

  // Broadcasts updates as NumPy does, if the operator requires a larger shape.
  void BroadcastUpdates(const NamedAxes& named, const Dims& indices);

  // Calls run(context, output) -> strew_status without the GIL. Returns the array of the output.
  template <typename Run>
  nanobind::object Finish(Context* context, const Run& run) {
    RunWith(
        context, [&](strew_context* with) { return run(with, output()); },
        [&](const char* sentence) { return InWordsOfNumpy(sentence); });
    if (is_new_) return Finished(given_, out_);
    NoteWrite(in_place_ ? data_ : output_, out_);
    return out_;
  }

 private:
  using Others = std::array<Operand, 2>;
  Others ReadOthers(std::initializer_list<Given> others) const;

  // The sentence with NumPy's name in place of an opaque dtype's.
  nanobind::str InWordsOfNumpy(const char* sentence) const;

  strew_tensor* output() { return in_place_ ? data_.tensor.get() : output_.tensor.get(); }

  nanobind::handle given_;  // data, which the caller holds
  bool in_place_;
  bool is_new_;
  Operand data_;
  Others others_;
  nanobind::object out_;
  Operand output_;
};

}  // namespace strew::python

#endif  // STREW_PYTHON_CALL_H_
