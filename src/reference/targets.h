// SPDX-License-Identifier: Apache-2.0
//
// Every instruction set that the library has and this CPU can run.
#ifndef STREW_REFERENCE_TARGETS_H_
#define STREW_REFERENCE_TARGETS_H_

#include <string>
#include <vector>

#include "reference/handles.h"

namespace strew::reference {

// A context that is forced to one instruction set. It serves one case after another, so that what
// an earlier call left behind would show.
struct Target {
  std::string name;
  Context context;
};

// Best first. Aborts the test program where the library refuses one that it lists.
const std::vector<Target>& Targets();

}  // namespace strew::reference

#endif  // STREW_REFERENCE_TARGETS_H_
