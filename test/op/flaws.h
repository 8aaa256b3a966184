// SPDX-License-Identifier: Apache-2.0
//
// What may be wrong with a request, by the lines of the list "the first line that fails decides" of
// strew.h.
#ifndef STREW_TEST_OP_FLAWS_H_
#define STREW_TEST_OP_FLAWS_H_

#include <functional>
#include <string>
#include <vector>

#include "request.h"

namespace strew_test {

struct Flaw {
  int line;  // in strew.h
  strew_status status;
  std::string name;
  std::string mention;  // what the error text must contain: the operand or attribute
  std::function<void(Request&)> spoil;
};
using Flaws = std::vector<Flaw>;

// Every one that a request of the operator may have, but for duplicates.
Flaws FlawsOf(Operator op);

}  // namespace strew_test

#endif  // STREW_TEST_OP_FLAWS_H_
