// SPDX-License-Identifier: Apache-2.0
//
// Policies and reductions of their own plan, in calls that are large enough for every plan of the
// library: against the oracle, on every instruction set and with several workers.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/trial.h"
#include "support/call_shapes.h"
#include "support/check.h"
#include "support/reference.h"

namespace strew_test {
namespace {

struct Rule {
  const char* name;
  strew_reduction reduction;
  strew_index_policy policy = STREW_INDEX_ERROR;
  bool wrap = true;
};

const Rule kRules[] = {
    {"NoneDrop", STREW_NONE, STREW_INDEX_DROP},
    {"NoneClamp", STREW_NONE, STREW_INDEX_CLAMP},
    {"NoneDropWithoutWrap", STREW_NONE, STREW_INDEX_DROP, false},
    {"AddDrop", STREW_ADD, STREW_INDEX_DROP},
    {"AddClampWithoutWrap", STREW_ADD, STREW_INDEX_CLAMP, false},
    {"SubClamp", STREW_SUB, STREW_INDEX_CLAMP},
    {"MaxDrop", STREW_MAX, STREW_INDEX_DROP},
    {"MulDrop", STREW_MUL, STREW_INDEX_DROP},
    {"AddExcludeSelf", STREW_ADD | STREW_EXCLUDE_SELF},
    {"MulExcludeSelf", STREW_MUL | STREW_EXCLUDE_SELF},
    {"MinExcludeSelf", STREW_MIN | STREW_EXCLUDE_SELF},
    {"MaxExcludeSelf", STREW_MAX | STREW_EXCLUDE_SELF},
    {"NoneExcludeSelf", STREW_NONE | STREW_EXCLUDE_SELF},
    {"AddExcludeSelfDrop", STREW_ADD | STREW_EXCLUDE_SELF, STREW_INDEX_DROP},
    {"MulExcludeSelfClamp", STREW_MUL | STREW_EXCLUDE_SELF, STREW_INDEX_CLAMP},
    {"Mean", STREW_MEAN},
    {"MeanExcludeSelf", STREW_MEAN | STREW_EXCLUDE_SELF},
    {"MeanDrop", STREW_MEAN, STREW_INDEX_DROP},
    {"MeanExcludeSelfClamp", STREW_MEAN | STREW_EXCLUDE_SELF, STREW_INDEX_CLAMP},
    {"AddWide", STREW_ADD | STREW_WIDE},
    {"SubWideDrop", STREW_SUB | STREW_WIDE, STREW_INDEX_DROP},
    {"AddWideExcludeSelfClamp", STREW_ADD | STREW_WIDE | STREW_EXCLUDE_SELF, STREW_INDEX_CLAMP},
    {"MulWideExcludeSelf", STREW_MUL | STREW_WIDE | STREW_EXCLUDE_SELF},
};

// One after the other of the dtypes on which the reduction is defined; mostly those on which
// STREW_WIDE makes a difference.
strew_dtype DtypeFor(strew_reduction reduction, size_t turn) {
  static const strew_dtype rounded[] = {STREW_BFLOAT16, STREW_FLOAT8_E4M3FN, STREW_FLOAT16,
                                        STREW_FLOAT8_E5M2, STREW_FLOAT32};
  if ((reduction & STREW_WIDE) != 0) return rounded[turn % 5];
  static const std::vector<strew_dtype> dtypes = {
      STREW_FLOAT32,    STREW_INT8,    STREW_BFLOAT16,   STREW_INT64,  STREW_COMPLEX64,
      STREW_UINT16,     STREW_FLOAT64, STREW_OPAQUE(12), STREW_UINT64, STREW_FLOAT8_E5M2,
      STREW_COMPLEX128, STREW_BOOL,    STREW_INT32};
  for (size_t i = turn;; ++i) {
    const strew_dtype dtype = dtypes[i % dtypes.size()];
    const auto defined = AllReductionsOf(Find(dtype));
    if (std::count(defined.begin(), defined.end(), reduction) > 0) return dtype;
  }
}

// Writes values that no axis has, each in one of about `distance` places.
void SpoilSome(Random& random, Case& c, int64_t distance) {
  if (!c.indices || c.mode == STREW_CACHE_CIRCULAR) return;
  const strew_dtype dtype = c.indices->dtype();
  ForEachIndex(c.indices->shape(), [&](const Dims& i) {
    if (!random.OneIn(distance)) return;
    const bool below = LowestIndex(dtype) < 0 && random.OneIn(2);
    const int64_t value = below ? LowestIndex(dtype) : HighestIndex(dtype);
    WriteIndex(dtype, c.indices->view().At(i), value);
  });
}

class Rules : public testing::TestWithParam<Rule> {
 protected:
  // Every call shape in place or into a new output, each time of another dtype.
  void CheckCallShapes(const std::vector<CallShape>& call_shapes, int64_t distance) {
    Random random(Seed());
    size_t turn = static_cast<size_t>(&GetParam() - kRules);
    for (const CallShape& call_shape : call_shapes) {
      const bool moved = !Takes(call_shape.op, "reduction");
      const strew_reduction reduction = moved ? STREW_NONE : GetParam().reduction;
      Case c = MakeCase(random, call_shape, DtypeFor(reduction, turn), turn % 2 == 0);
      c.reduction = reduction;
      c.policy = GetParam().policy;
      c.wrap = GetParam().wrap;
      if (c.policy != STREW_INDEX_ERROR) SpoilSome(random, c, distance);
      ASSERT_TRUE(CheckWithWorkers(c, {1, 2, 8})) << call_shape.name;
      ++turn;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(EveryRule, Rules, testing::ValuesIn(kRules),
                         [](const auto& test) { return test.param.name; });

TEST_P(Rules, HoldForElementsTuplesAndSlices) { CheckCallShapes(CallShapes(1 << 15, 1 << 17), 50); }

TEST_P(Rules, HoldForAxes) { CheckCallShapes(AxisCallShapes(1 << 15, 1 << 17), 10); }

TEST_P(Rules, HoldForSkewedIndices) {
  for (const Spread spread : {Spread::kAllEqual, Spread::kSorted, Spread::kZipf}) {
    std::vector<CallShape> call_shapes = CallShapes(1 << 15, 1 << 15);
    call_shapes.erase(
        std::remove_if(call_shapes.begin(), call_shapes.end(),
                       [](const CallShape& call_shape) { return IsSlice(call_shape.op); }),
        call_shapes.end());
    for (CallShape& call_shape : call_shapes) call_shape.spread = spread;
    CheckCallShapes(call_shapes, 1000);
    if (HasFailure()) return;
  }
}

// ---- Errors ------------------------------------------------------------------------------------

// The first bad one of a million indices of every form is reported, whoever finds it.
TEST(FirstBadIndex, IsReportedForAxes) {
  constexpr int64_t kIndices = 1 << 20;
  std::vector<CallShape> call_shapes = {
      {"one line", Operator::kScatterUpdate, {100}, {kIndices}, 0, STREW_INT32},
      {"columns", Operator::kScatterUpdate, {2, 100}, {kIndices / 256, 256}, 1, STREW_INT16},
      {"caches", Operator::kTensorScatter, {kIndices, 2}, {1}, 1, STREW_INT64},
  };
  Random random(Seed());
  for (const CallShape& call_shape : call_shapes) {
    Case c = MakeCase(random, call_shape, STREW_INT8, true);
    const int64_t size = Product(c.indices->shape());
    for (const int64_t first : {int64_t{0}, size / 3, size - 2}) {
      const std::vector<unsigned char> good = c.indices->Snapshot();
      const auto width = static_cast<int64_t>(WidthOf(call_shape.index));
      for (const int64_t position : {first, size - 1}) {
        WriteIndex(call_shape.index, c.indices->buffer().bytes() + position * width, -101);
      }
      EXPECT_EQ(Trial(c).outcome().error_position, first) << call_shape.name;
      ASSERT_TRUE(CheckWithWorkers(c, {1, 2, 8})) << call_shape.name;
      c.indices->Restore(good);
    }
  }
}

}  // namespace
}  // namespace strew_test
