// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_CHOICE_H_
#define STREW_PYTHON_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace strew::python {

// The place of a name in a list whose order is that of an enum in strew.h. Throws ValueError.
template <std::size_t n>
std::int32_t Choice(const char* argument, const char* const (&names)[n], const std::string& name) {
  std::string listed;
  for (std::size_t i = 0; i < n; ++i) {
    if (name == names[i]) return static_cast<std::int32_t>(i);
    listed += std::string(i == 0 ? "" : ", ") + names[i];
  }
  throw std::invalid_argument(std::string(argument) + " '" + name + "' is not one of: " + listed);
}

}  // namespace strew::python

#endif  // STREW_PYTHON_CHOICE_H_
