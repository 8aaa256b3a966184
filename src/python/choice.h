// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_CHOICE_H_
#define STREW_PYTHON_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include <nanobind/nanobind.h>

namespace strew::python {

// Compares to the end of the text, which as a string in C would end at its first NUL.
inline bool IsNamed(const nanobind::str& text, const char* name) {
  return PyUnicode_CompareWithASCIIString(text.ptr(), name) == 0;
}

// The position of a name in a list, which is in the order of an enum in strew.h. Throws ValueError.
template <std::size_t n>
std::int32_t Choice(const char* argument, const char* const (&names)[n],
                    const nanobind::str& name) {
  for (std::size_t i = 0; i < n; ++i) {
    if (IsNamed(name, names[i])) return static_cast<std::int32_t>(i);
  }
  std::string listed = names[0];
  for (std::size_t i = 1; i < n; ++i) listed += std::string(", ") + names[i];
  const nanobind::str sentence("{} {!r} is not one of: {}");
  const nanobind::object text = sentence.format(argument, name, listed.c_str());
  PyErr_SetObject(PyExc_ValueError, text.ptr());
  throw nanobind::python_error();
}

}  // namespace strew::python

#endif  // STREW_PYTHON_CHOICE_H_
