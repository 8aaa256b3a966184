// SPDX-License-Identifier: Apache-2.0
#include "reference/wide.h"

#include "reference/arithmetic.h"
#include "reference/dtypes.h"

namespace strew::reference {

bool RoundsOnce(strew_dtype dtype, strew_reduction reduction) {
  if ((reduction & STREW_WIDE) == 0 || !IsNamed(dtype)) return false;
  const strew_reduction kind = reduction & ~(STREW_WIDE | STREW_EXCLUDE_SELF);
  const bool is_arithmetic = kind == STREW_ADD || kind == STREW_SUB || kind == STREW_MUL;
  const Dtype& line = LineOf(dtype);
  return is_arithmetic && line.kind == Kind::kFloat && line.width <= 2;
}

void WideValue::Combine(strew_dtype dtype, strew_reduction kind, const unsigned char* term) {
  const float value = ReadSingle(LineOf(dtype), term);
  value_ = has_terms_ ? CombineSingle(kind, value_, value) : value;
  has_terms_ = true;
}

void WideValue::Write(strew_dtype dtype, unsigned char* element) const {
  WriteSingle(LineOf(dtype), value_, element);
}

}  // namespace strew::reference
