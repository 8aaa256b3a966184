// SPDX-License-Identifier: Apache-2.0
//
// Lists the instruction sets that the library has and this CPU can run.
//
// Environment: STREW_WITHOUT_TARGETS names those that tests leave out, with spaces between.
#ifndef STREW_REFERENCE_TARGETS_H_
#define STREW_REFERENCE_TARGETS_H_

#include <string>
#include <vector>

#include "reference/handles.h"

namespace strew::reference {

// A context that is forced to use one instruction set. It is used for one case after another, so
// that tests notice if an earlier call affects a later one.
struct Target {
  std::string name;
  Context context;
};

// All targets but those left out, best first. Aborts the program if none is left, or the library
// refuses one that it lists.
const std::vector<Target>& Targets();

}  // namespace strew::reference

#endif  // STREW_REFERENCE_TARGETS_H_
