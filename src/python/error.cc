// SPDX-License-Identifier: Apache-2.0
#include "python/error.h"

#include "python/shutdown.h"
#include "python/support.h"

namespace nb = nanobind;

namespace strew::python {

void RaiseStatus(strew_status status, const char* sentence, std::int64_t position) {
  const nb::str name(strew_status_name(status));
  const nb::object type = CallPython(Support("error_type"), name);
  const nb::object error = CallPython(type, nb::str(sentence), name, nb::int_(position));
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

void Check(strew_status status) {
  if (status != STREW_OK) RaiseStatus(status, strew_last_error(), -1);
}

}  // namespace strew::python
