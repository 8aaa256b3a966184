// SPDX-License-Identifier: Apache-2.0
// Compile-time checks of the list of reductions. This file generates no code.
#include "base/reduction.h"

namespace strew {
namespace {

// The type of the unnamed enum of constants in strew.h.
using Constant = decltype(STREW_NONE);

// Fails to compile if a constant has no row.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
constexpr bool HasRow(Constant constant) {
  switch (constant) {
    case STREW_NONE:
#define STREW_ROW(CONSTANT, ...) case STREW_##CONSTANT:
      STREW_FOR_EACH_KERNEL_REDUCTION(STREW_ROW)
      STREW_FOR_EACH_COMPOSED_REDUCTION(STREW_ROW)
#undef STREW_ROW
      return true;
    case STREW_EXCLUDE_SELF:
    case STREW_WIDE:
      break;
  }
  return false;
}
#pragma GCC diagnostic pop
static_assert(HasRow(STREW_NONE) && STREW_NONE == 0);

// __COUNTER__ increments once per row.
constexpr int kRowsBegin = __COUNTER__;
#define STREW_ROW(CONSTANT, ...) \
  static_assert(STREW_##CONSTANT == __COUNTER__ - kRowsBegin, "the rows are out of order");
STREW_FOR_EACH_KERNEL_REDUCTION(STREW_ROW)
STREW_FOR_EACH_COMPOSED_REDUCTION(STREW_ROW)
#undef STREW_ROW

}  // namespace
}  // namespace strew
