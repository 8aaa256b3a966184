// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_CALL_H_
#define STREW_PYTHON_CALL_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <nanobind/nanobind.h>

#include "python/context.h"
#include "python/error.h"
#include "python/operand.h"
#include "python/shutdown.h"
#include "strew/strew.h"

namespace strew::python {

// run(context) -> strew_status, without the GIL, with a context of its own where none is given.
// Throws strew.Error.
template <typename Run>
void RunWith(Context* context, const Run& run) {
  if (context == nullptr) {
    Context once;
    return RunWith(&once, run);
  }
  const Context::Use use(*context);
  const strew_status status = WithoutGil([&] { return run(use.handle()); });
  if (status == STREW_OK) return;
  RaiseStatus(status, strew_context_error(use.handle()),
              strew_context_error_position(use.handle()));
}

// A NumPy array of the dtype of an operand, which was made of `given`.
enum class Contents { kAny, kZeros };
nanobind::object NewArray(nanobind::handle given, const Operand& operand,
                          const std::vector<std::int64_t>& shape, Contents contents);

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

  // run(context, output) -> strew_status, without the GIL. Returns the array of the output.
  template <typename Run>
  nanobind::object Finish(Context* context, const Run& run) {
    RunWith(context, [&](strew_context* with) { return run(with, output()); });
    return out_;
  }

 private:
  using Others = std::array<Operand, 2>;
  static Others ReadOthers(std::initializer_list<Given> given);

  strew_tensor* output() { return in_place_ ? data_.tensor.get() : output_.tensor.get(); }

  bool in_place_;
  Operand data_;
  Others others_;
  nanobind::object out_;
  Operand output_;
};

}  // namespace strew::python

#endif  // STREW_PYTHON_CALL_H_
