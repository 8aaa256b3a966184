// SPDX-License-Identifier: Apache-2.0
//
// Defects that a request may have, by the lines of the list "the first line that fails decides" of
// strew.h.
#ifndef STREW_TEST_OP_DEFECTS_H_
#define STREW_TEST_OP_DEFECTS_H_

#include <functional>
#include <string>
#include <vector>

#include "op/request.h"

namespace strew_test {

struct Defect {
  int line;  // in strew.h, which decides the status
  std::string name;
  std::string mention;  // what the error text must contain: the operand or attribute
  std::function<void(Request&)> spoil;
};
using Defects = std::vector<Defect>;

// Every one that a request of the operator may have, but for duplicates.
Defects DefectsOf(Operator op);

}  // namespace strew_test

#endif  // STREW_TEST_OP_DEFECTS_H_
