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

// run(context) -> strew_status, without the GIL, with a context of its own where none is given.
// Throws strew.Error with words(the sentence of the library).
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

// An array of the dtype of an operand, which was made of `given`: of its library where that makes
// them in C, else of NumPy, which Finished() then takes to the library.
nanobind::object NewArray(nanobind::handle given, const Operand& operand, const Shape& shape,
                          Contents contents);
nanobind::object Finished(nanobind::handle given, nanobind::object made);

// An operand beside data, and what errors call it.
struct Given {
  const char* name;
  nanobind::handle object;
};

// The operands that all operators have: data, updates, and where the result goes. Others may stand
// in place of the updates.
class Call {
 public:
  Call(nanobind::handle data, nanobind::handle updates, nanobind::handle out)
      : Call(data, {{"updates", updates}}, out) {}
  Call(nanobind::handle data, std::initializer_list<Given> others, nanobind::handle out);

  const strew_tensor* data() const { return data_.tensor.get(); }
  const strew_tensor* updates() const { return other(0); }
  // nullptr for one that was not given.
  const strew_tensor* other(std::size_t i) const { return others_[i].tensor.get(); }

  // Repeats updates as NumPy does, where the operator wants more of them.
  void BroadcastUpdates(const NamedAxes& named, const Dims& indices);

  // run(context, output) -> strew_status, without the GIL. Returns the array of the output.
  template <typename Run>
  nanobind::object Finish(Context* context, const Run& run) {
    RunWith(
        context, [&](strew_context* with) { return run(with, output()); },
        [&](const char* sentence) { return InWordsOfNumpy(sentence); });
    return is_new_ ? Finished(given_, out_) : out_;
  }

 private:
  using Others = std::array<Operand, 2>;
  Others ReadOthers(std::initializer_list<Given> others) const;

  // With the dtype that an opaque operand has to NumPy.
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
