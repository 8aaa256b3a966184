// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_SUPPORT_H_
#define STREW_PYTHON_SUPPORT_H_

#include <nanobind/nanobind.h>

namespace strew::python {

// What the package leaves to Python, by its name in strew/_support.py.
inline nanobind::object Support(const char* name) {
  return nanobind::module_::import_("strew._support").attr(name);
}

}  // namespace strew::python

#endif  // STREW_PYTHON_SUPPORT_H_
