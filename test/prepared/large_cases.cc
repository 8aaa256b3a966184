// SPDX-License-Identifier: Apache-2.0
#include "prepared/large_cases.h"

#include <algorithm>
#include <utility>

#include "reference/dtypes.h"
#include "support/reference.h"

namespace strew_test {
namespace {

Array Tame(Random& random, strew_dtype dtype, const Dims& shape) {
  Array array(dtype, RowMajor(shape));
  FillWithTameNumbers(random, array);
  return array;
}

}  // namespace

std::vector<CallShape> PlanShapes(int64_t updates) {
  std::vector<CallShape> shapes;
  for (const CallShape& shape : AllCallShapes(updates)) {
    if (!IsSlice(shape.op) && !Takes(shape.op, "mode")) shapes.push_back(shape);
  }
  return shapes;
}

GatherScatterCase MakeLarge(Random& random, const CallShape& call_shape, strew_dtype dtype,
                            Taken taken, bool in_place) {
  Case to = MakeCase(random, call_shape, dtype, in_place);
  const Dims shape = to.updates.shape();
  Case from{taken == Taken::kRows ? Operator::kScatterUpdate : Operator::kScatterElements,
            Tame(random, dtype, shape), Array(dtype, RowMajor({0}))};
  const size_t axis = taken == Taken::kRows ? 0 : shape.size() - 1;
  from.axis = static_cast<int64_t>(axis);
  const Layout indices = RowMajor(taken == Taken::kRows ? Dims{shape[0]} : shape);
  from.indices = RandomIndices(random, STREW_INT32, indices, shape[axis]);
  return {std::move(from), std::move(to)};
}

void AddWeights(Random& random, GatherScatterCase& c) {
  const auto reductions = ReductionsOf(Find(c.to.data.dtype()));
  if (std::count(reductions.begin(), reductions.end(), STREW_MUL) == 0) return;
  Dims shape = c.to.updates.shape();
  if (shape.size() > 1) shape.back() = 1;
  c.weights = Tame(random, c.to.data.dtype(), shape);
}

std::vector<Setting> Settings() {
  const strew_reduction without = STREW_EXCLUDE_SELF;
  return {{STREW_INT8, STREW_NONE},
          {STREW_OPAQUE(3), STREW_NONE},
          {STREW_FLOAT32, STREW_ADD},
          {STREW_FLOAT32, STREW_MEAN},
          {STREW_FLOAT32, STREW_ADD | without},
          {STREW_INT64, STREW_MEAN | without},
          {STREW_FLOAT16, STREW_MAX},
          {STREW_BFLOAT16, STREW_MEAN},
          {STREW_UINT8, STREW_MIN | without},
          {STREW_BOOL, STREW_ADD | without},
          {STREW_FLOAT64, STREW_SUB},
          {STREW_COMPLEX64, STREW_MUL | without},
          {STREW_COMPLEX128, STREW_MEAN},
          {STREW_BFLOAT16, STREW_ADD | STREW_WIDE},
          {STREW_FLOAT8_E5M2, STREW_SUB | STREW_WIDE},
          {STREW_FLOAT16, STREW_MUL | STREW_WIDE | without}};
}

std::string NameOf(const Setting& setting) {
  return TestName(Find(setting.dtype)) + "_" + NameOf(setting.reduction) +
         ((setting.reduction & STREW_EXCLUDE_SELF) != 0 ? "_without_self" : "") +
         ((setting.reduction & STREW_WIDE) != 0 ? "_wide" : "");
}

}  // namespace strew_test
