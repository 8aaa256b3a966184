// SPDX-License-Identifier: Apache-2.0
#include "reference/call.h"

namespace strew::reference {

strew_status Arguments::Call(Operator op, strew_context* context) const {
  switch (op) {
#define STREW_ROW(NAME, FUNCTION, NAMES, SUMMARY, ...) \
  case Operator::k##NAME:                              \
    return strew_##FUNCTION(context, __VA_ARGS__);
    STREW_FOR_EACH_OPERATOR(STREW_ROW)
#undef STREW_ROW
  }
  return STREW_INVALID_ARGUMENT;
}

}  // namespace strew::reference
