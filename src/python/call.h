// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_CALL_H_
#define STREW_PYTHON_CALL_H_

#include <nanobind/nanobind.h>

#include "python/context.h"
#include "python/error.h"
#include "python/operand.h"
#include "python/shutdown.h"
#include "strew/strew.h"

namespace strew::python {

// The operands that all operators have: data, updates, and where the result goes.
class Call {
 public:
  Call(nanobind::handle data, nanobind::handle updates, nanobind::handle out);

  const strew_tensor* data() const { return data_.tensor.get(); }
  const strew_tensor* updates() const { return updates_.tensor.get(); }

  // run(context, output) -> strew_status, without the GIL. Returns the array of the output.
  template <typename Run>
  nanobind::object Finish(Context* context, const Run& run) {
    if (context == nullptr) {
      Context once;
      return Finish(&once, run);
    }
    const Context::Use use(*context);
    const strew_status status = WithoutGil([&] { return run(use.handle(), output()); });
    if (status != STREW_OK) {
      RaiseStatus(status, strew_context_error(use.handle()),
                  strew_context_error_position(use.handle()));
    }
    return out_;
  }

 private:
  strew_tensor* output() { return in_place_ ? data_.tensor.get() : output_.tensor.get(); }

  bool in_place_;
  Operand data_;
  Operand updates_;
  nanobind::object out_;
  Operand output_;
};

}  // namespace strew::python

#endif  // STREW_PYTHON_CALL_H_
