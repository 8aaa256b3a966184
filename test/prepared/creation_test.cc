// SPDX-License-Identifier: Apache-2.0
//
// The arguments that plans are made from: the list of errors of strew.h, every defect alone and
// every pair of defects from different lines.
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "op/request.h"
#include "reference/handles.h"
#include "support/counting_allocator.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

struct Making {
  Operator op;
  Operand indices;
  int64_t axis;
  Dims extents;
  bool null_extents = false;
  bool null_out = false;
};

// For data of shape [3, 4].
Making GoodMaking(Operator op) {
  const Request request = GoodRequest(op);
  return {op, request.indices, request.axis, op == Operator::kScatterNd ? Dims{3} : Dims{4}};
}

struct MakingAnswer {
  strew_status status;
  std::string error;
  int64_t position;
  bool has_plan;
  bool wrote;
};

// *out holds this before.
strew_plan* Rubbish() {
  static int64_t memory;
  return reinterpret_cast<strew_plan*>(&memory);
}

MakingAnswer Make(const Making& m, strew_context* context) {
  Arena arena;
  WriteValues(m.indices, arena);
  const Arena before = arena;
  const Tensor indices = Describe(m.indices, arena);
  strew_plan* plan = Rubbish();
  strew_plan** const out = m.null_out ? nullptr : &plan;
  strew_status status;
  if (m.op == Operator::kScatterNd) {
    const int64_t* const extents = m.null_extents ? nullptr : m.extents.data();
    status = strew_plan_scatter_nd(context, indices.get(), extents, out);
  } else if (m.op == Operator::kScatterElements) {
    status = strew_plan_scatter_elements(context, indices.get(), m.axis, m.extents[0], out);
  } else {
    status = strew_plan_scatter_update(context, indices.get(), m.axis, m.extents[0], out);
  }
  const Plan owner(plan == Rubbish() ? nullptr : plan);
  EXPECT_EQ(plan == Rubbish(), m.null_out);
  EXPECT_EQ(strew_context_applied(context), 0);
  return {status, strew_context_error(context), strew_context_error_position(context),
          owner != nullptr, !(arena == before)};
}

// ---- Defects ------------------------------------------------------------------------------------

// The lines of the list in section "which status" that creation has; sizes come behind extents.
enum Line { kArguments = 1, kDtypes = 2, kRanks = 4, kAxes = 5, kSizes = 8, kValues = 9 };

strew_status StatusOfLine(int line) {
  switch (line) {
    case kArguments:
      return STREW_INVALID_ARGUMENT;
    case kDtypes:
      return STREW_INVALID_DTYPE;
    case kRanks:
      return STREW_INVALID_SHAPE;
    case kAxes:
      return STREW_INVALID_AXIS;
    case kSizes:
      return STREW_SIZE_OVERFLOW;
    default:
      return STREW_INDEX_OUT_OF_RANGE;
  }
}

struct MakingDefect {
  int line;
  std::string name;
  std::string mention;
  std::function<void(Making&)> spoil;
};

void AddArguments(Operator op, std::vector<MakingDefect>& defects) {
  defects.push_back({kArguments, "NULL out", "out", [](Making& m) { m.null_out = true; }});
  defects.push_back(
      {kArguments, "NULL indices", "indices", [](Making& m) { m.indices.null = true; }});
  defects.push_back(
      {kArguments, "unbound indices", "indices", [](Making& m) { m.indices.bound = false; }});
  for (const int64_t extent : {int64_t{-1}, kLeast}) {
    defects.push_back({kArguments, "extent " + std::to_string(extent),
                       "extent" + std::string(op == Operator::kScatterNd ? "s[0]" : "") + " = " +
                           std::to_string(extent),
                       [=](Making& m) { m.extents[0] = extent; }});
  }
  if (op != Operator::kScatterNd) return;
  defects.push_back(
      {kArguments, "NULL extents", "extents", [](Making& m) { m.null_extents = true; }});
  defects.push_back({kArguments, "negative second extent", "extents[1] = -7", [](Making& m) {
                       m.indices.SetValues({1, 2}, {0, 0});
                       m.extents = {3, -7};
                     }});
}

void AddIndexDtypes(std::vector<MakingDefect>& defects) {
  for (const strew_dtype dtype :
       std::vector<strew_dtype>{STREW_BOOL, STREW_FLOAT32, STREW_STRING, STREW_OPAQUE(8)}) {
    defects.push_back({kDtypes, "indices of dtype " + std::to_string(dtype), "indices",
                       [=](Making& m) { m.indices.dtype = dtype; }});
  }
}

void AddIndexRanks(Operator op, std::vector<MakingDefect>& defects) {
  if (op == Operator::kScatterUpdate) return;
  if (op == Operator::kScatterElements) {
    defects.push_back(
        {kRanks, "indices of rank 0", "indices", [](Making& m) { m.indices.SetShape({}); }});
    return;
  }
  defects.push_back({kRanks, "tuples of 33 numbers", "indices", [](Making& m) {
                       m.indices.SetValues({1, 33}, Dims(33, 0));
                       m.extents.assign(33, 1);
                     }});
}

void AddAxes(Operator op, std::vector<MakingDefect>& defects) {
  if (op != Operator::kScatterElements) return;
  for (const int64_t axis : {int64_t{2}, int64_t{-3}, kMost, kLeast}) {
    defects.push_back({kAxes, "axis " + std::to_string(axis), "axis = " + std::to_string(axis),
                       [=](Making& m) { m.axis = axis; }});
  }
}

void AddSizes(Operator op, std::vector<MakingDefect>& defects) {
  if (op == Operator::kScatterElements) {
    for (const int64_t extent : {kMost, kMost / 3 + 1}) {
      defects.push_back({kSizes, "three lines of " + std::to_string(extent), "extent",
                         [=](Making& m) { m.extents[0] = extent; }});
    }
  }
  if (op != Operator::kScatterNd) return;
  for (const Dims& extents : {Dims{kMost, 2}, Dims{int64_t{1} << 32, int64_t{1} << 31}}) {
    defects.push_back({kSizes, "extents " + ToString(extents), "extents", [=](Making& m) {
                         m.indices.SetValues({1, 2}, {0, 0});
                         m.extents = extents;
                       }});
  }
}

void AddIndexValues(std::vector<MakingDefect>& defects) {
  for (const int64_t value : {int64_t{4}, int64_t{-5}, kMost, kLeast}) {
    defects.push_back({kValues, "index " + std::to_string(value), "= " + std::to_string(value),
                       [=](Making& m) { m.indices.values.front() = value; }});
  }
}

std::vector<MakingDefect> MakingDefectsOf(Operator op) {
  std::vector<MakingDefect> defects;
  AddArguments(op, defects);
  AddIndexDtypes(defects);
  AddIndexRanks(op, defects);
  AddAxes(op, defects);
  AddSizes(op, defects);
  AddIndexValues(defects);
  return defects;
}

// ---- Precedence ---------------------------------------------------------------------------------

class Creation : public testing::TestWithParam<Operator> {
 protected:
  void ExpectRefusal(const Making& making, int line, const std::string& mention) {
    const MakingAnswer answer = Make(making, context_.get());
    EXPECT_EQ(answer.status, StatusOfLine(line)) << answer.error;
    EXPECT_FALSE(answer.has_plan);
    EXPECT_FALSE(answer.wrote);
    EXPECT_NE(answer.error, "");
    EXPECT_NE(answer.error.find(mention), std::string::npos)
        << "'" << answer.error << "' lacks '" << mention << "'";
    EXPECT_EQ(answer.position, line == kValues ? 0 : -1);
  }

  void ExpectPlan(const Making& making) {
    const MakingAnswer answer = Make(making, context_.get());
    EXPECT_EQ(answer.status, STREW_OK) << answer.error;
    EXPECT_TRUE(answer.has_plan);
    EXPECT_FALSE(answer.wrote);
    EXPECT_EQ(answer.error, "");
    EXPECT_EQ(answer.position, -1);
  }

  Making WithDuplicates() {
    EXPECT_EQ(strew_context_set_duplicate_policy(context_.get(), STREW_DUPLICATE_ERROR), STREW_OK);
    Making making = GoodMaking(GetParam());
    making.indices.values.assign(making.indices.values.size(), 1);
    return making;
  }

  Context context_ = MakeContext();
};

const Operator kKinds[] = {Operator::kScatterElements, Operator::kScatterNd,
                           Operator::kScatterUpdate};

INSTANTIATE_TEST_SUITE_P(EveryKind, Creation, testing::ValuesIn(kKinds),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(Creation, EveryDefectAlone) {
  ExpectPlan(GoodMaking(GetParam()));
  for (const MakingDefect& defect : MakingDefectsOf(GetParam())) {
    SCOPED_TRACE(defect.name);
    Making making = GoodMaking(GetParam());
    defect.spoil(making);
    ExpectRefusal(making, defect.line, defect.mention);
    EXPECT_EQ(Make(making, nullptr).status, StatusOfLine(defect.line));
    ExpectPlan(GoodMaking(GetParam()));
  }
}

// The stronger defect is made last, so that it stands whole.
TEST_P(Creation, FirstLineOfTwoDecides) {
  const std::vector<MakingDefect> defects = MakingDefectsOf(GetParam());
  for (const MakingDefect& strong : defects) {
    for (const MakingDefect& weak : defects) {
      if (strong.line >= weak.line) continue;
      SCOPED_TRACE(strong.name + " before " + weak.name);
      Making making = GoodMaking(GetParam());
      weak.spoil(making);
      strong.spoil(making);
      ExpectRefusal(making, strong.line, "");
    }
  }
}

TEST_P(Creation, DuplicatesComeLast) {
  const Making duplicates = WithDuplicates();
  const MakingAnswer answer = Make(duplicates, context_.get());
  EXPECT_EQ(answer.status, STREW_DUPLICATE_INDEX);
  EXPECT_FALSE(answer.has_plan);
  EXPECT_EQ(answer.position, 1);
  EXPECT_EQ(Make(duplicates, nullptr).status, STREW_OK);
  for (const MakingDefect& defect : MakingDefectsOf(GetParam())) {
    SCOPED_TRACE(defect.name);
    Making making = duplicates;
    defect.spoil(making);
    ExpectRefusal(making, defect.line, defect.mention);
  }
}

// Memory is asked for when all else is checked, duplicates aside.
TEST_P(Creation, MemoryComesBetweenValuesAndDuplicates) {
  Making duplicates = WithDuplicates();
  // Not in order of destinations: a sort takes scratch.
  switch (GetParam()) {
    case Operator::kScatterElements:
      duplicates.indices.values = {2, 1, 1, 1, 1, 1};
      break;
    case Operator::kScatterNd:
      duplicates.indices.SetValues({3, 1}, {2, 1, 1});
      break;
    default:
      duplicates.indices.SetValues({3}, {2, 1, 1});
  }
  CountingAllocator allocator(0);
  allocator.InstallIn(context_.get());
  const MakingAnswer answer = Make(duplicates, context_.get());
  EXPECT_EQ(answer.status, STREW_OUT_OF_MEMORY);
  EXPECT_FALSE(answer.has_plan);
  EXPECT_NE(answer.error, "");
  EXPECT_EQ(answer.position, -1);
  for (const MakingDefect& defect : MakingDefectsOf(GetParam())) {
    SCOPED_TRACE(defect.name);
    Making making = duplicates;
    defect.spoil(making);
    ExpectRefusal(making, defect.line, defect.mention);
  }
  EXPECT_EQ(strew_context_set_allocator(context_.get(), nullptr, nullptr, nullptr), STREW_OK);
}

// ---- What is legal ------------------------------------------------------------------------------

TEST_P(Creation, FromNothing) {
  Making making = GoodMaking(GetParam());
  making.indices.values = {};
  making.indices.bound = false;
  making.extents = {0};
  making.indices.SetShape(GetParam() == Operator::kScatterElements ? Dims{3, 0} : Dims{0, 1});
  ExpectPlan(making);
  // Shapes whose product would not fit without the 0.
  const int64_t huge = int64_t{1} << 40;
  making.indices.SetShape({huge, huge, 0});
  if (GetParam() == Operator::kScatterNd) making.indices.SetShape({huge, huge, 0, 1});
  ExpectPlan(making);
}

// If an axis has no element, no destination has one.
TEST(CreationOfTuples, WithAnEmptyAxisHaveNoSize) {
  const Context context = MakeContext();
  ASSERT_EQ(strew_context_set_index_policy(context.get(), STREW_INDEX_DROP), STREW_OK);
  const int64_t huge = int64_t{1} << 40;
  for (const Dims& extents : {Dims{huge, huge, 0}, Dims{0, huge, huge}, Dims{huge, 0, huge}}) {
    Making making = GoodMaking(Operator::kScatterNd);
    making.extents = extents;
    making.indices.SetValues({2, 3}, {0, 1, 2, -1, kMost, kLeast});
    EXPECT_EQ(Make(making, context.get()).status, STREW_OK) << ToString(extents);
  }
}

TEST(CreationOfTuples, OfUpTo32Numbers) {
  const Context context = MakeContext();
  Making making = GoodMaking(Operator::kScatterNd);
  making.extents.assign(32, 1);
  making.indices.SetValues({1, 32}, Dims(32, 0));
  EXPECT_EQ(Make(making, context.get()).status, STREW_OK);
  making.extents.back() = 3;
  making.indices.values.back() = -4;
  const MakingAnswer answer = Make(making, context.get());
  EXPECT_EQ(answer.status, STREW_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(answer.position, 31);
  EXPECT_NE(answer.error.find("indices[0,31] = -4 is out of range [-3, 2] for axis 31"),
            std::string::npos)
      << answer.error;
}

// They have no length and so no extents, good or bad.
TEST(CreationOfTuples, FromIndicesOfRank0AreRefused) {
  const Context context = MakeContext();
  Making making = GoodMaking(Operator::kScatterNd);
  making.indices.SetShape({});
  making.null_extents = true;
  const MakingAnswer answer = Make(making, context.get());
  EXPECT_EQ(answer.status, STREW_INVALID_SHAPE);
  EXPECT_EQ(answer.error.find("indices has rank 0"), 0u) << answer.error;
  making.indices.dtype = STREW_FLOAT64;
  EXPECT_EQ(Make(making, context.get()).status, STREW_INVALID_DTYPE);
}

// Tuples of no numbers take no memory, but places of a plan would.
TEST(CreationOfTuples, MoreThanAnyMachineHasAreRefused) {
  const Context context = MakeContext();
  Making making = GoodMaking(Operator::kScatterNd);
  making.indices.SetShape({int64_t{1} << 40, int64_t{1} << 40, 0});
  EXPECT_EQ(Make(making, context.get()).status, STREW_SIZE_OVERFLOW);
  making.indices.SetShape({kMost, 0});
  EXPECT_EQ(Make(making, context.get()).status, STREW_OUT_OF_MEMORY);
}

TEST(CreationOfTuples, OfNoNumbersNeedNoExtents) {
  const Context context = MakeContext();
  Making making = GoodMaking(Operator::kScatterNd);
  making.indices.SetValues({3, 0}, {});
  making.null_extents = true;
  EXPECT_EQ(Make(making, context.get()).status, STREW_OK);
  ASSERT_EQ(strew_context_set_duplicate_policy(context.get(), STREW_DUPLICATE_ERROR), STREW_OK);
  const MakingAnswer answer = Make(making, context.get());
  EXPECT_EQ(answer.status, STREW_DUPLICATE_INDEX);
  EXPECT_EQ(answer.position, -1);
}

// Each call resolves it, even where the indices are refused.
TEST(CreationOfUpdates, TakesAnyAxis) {
  const Context context = MakeContext();
  for (const int64_t axis : {int64_t{0}, int64_t{31}, int64_t{32}, int64_t{-1}, int64_t{-33}, kMost,
                             kLeast, int64_t{1} << 32}) {
    Making making = GoodMaking(Operator::kScatterUpdate);
    making.axis = axis;
    EXPECT_EQ(Make(making, context.get()).status, STREW_OK) << axis;
    making.indices.values.back() = -5;
    const MakingAnswer answer = Make(making, context.get());
    EXPECT_EQ(answer.status, STREW_INDEX_OUT_OF_RANGE) << axis;
    EXPECT_EQ(answer.position, 1) << axis;
    EXPECT_NE(answer.error, "");
    EXPECT_NE(answer.error.find("indices[1] = -5 is out of range [-4, 3] for axis " +
                                std::to_string(axis) + " of data"),
              std::string::npos)
        << answer.error;
    making.extents = {0};
    EXPECT_NE(Make(making, context.get()).error.find(": axis " + std::to_string(axis) + " of data"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace strew_test
