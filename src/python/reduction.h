// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_REDUCTION_H_
#define STREW_PYTHON_REDUCTION_H_

#include <nanobind/nanobind.h>

#include "base/reduction.h"
#include "python/choice.h"
#include "strew/strew.h"

namespace strew::python {

// The reduction that keyword arguments describe. Throws ValueError.
inline strew_reduction ReductionCode(const nanobind::str& name, bool exclude_self, bool wide) {
  return Choice("reduction", kReductionNames, name) | (exclude_self ? STREW_EXCLUDE_SELF : 0) |
         (wide ? STREW_WIDE : 0);
}

}  // namespace strew::python

#endif  // STREW_PYTHON_REDUCTION_H_
