// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_SUPPORT_H_
#define STREW_PYTHON_SUPPORT_H_

#include <nanobind/nanobind.h>

namespace strew::python {

// A function in Python, by its name in strew/_support.py.
inline nanobind::object Support(const char* name) {
  constexpr const char* kModule = "strew._support";
  // The package has imported it, and a search takes a quarter of the time of an import.
  const nanobind::str module_name(kModule);
  const nanobind::object found = nanobind::steal(PyImport_GetModule(module_name.ptr()));
  return (found.is_valid() ? found : nanobind::module_::import_(kModule)).attr(name);
}

}  // namespace strew::python

#endif  // STREW_PYTHON_SUPPORT_H_
