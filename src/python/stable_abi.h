// SPDX-License-Identifier: Apache-2.0
// Functions that CPython's stable ABI lacks or names differently, for builds with and without it.
#ifndef STREW_PYTHON_STABLE_ABI_H_
#define STREW_PYTHON_STABLE_ABI_H_

#include <nanobind/nanobind.h>

namespace strew::python {

// The type that a type is derived from.
inline PyTypeObject* BaseOf(PyTypeObject* type) {
#if defined(Py_LIMITED_API)
  return static_cast<PyTypeObject*>(PyType_GetSlot(type, Py_tp_base));
#else
  return type->tp_base;  // CPython 3.9 has no slots of static types
#endif
}

// True for functions that are written in Python.
inline bool IsPythonFunction(nanobind::handle object) {
#if defined(Py_LIMITED_API)
  static const nanobind::handle type =
      nanobind::object(nanobind::module_::import_("types").attr("FunctionType")).release();
  return object.type().is(type);
#else
  return PyFunction_Check(object.ptr());
#endif
}

}  // namespace strew::python

#endif  // STREW_PYTHON_STABLE_ABI_H_
