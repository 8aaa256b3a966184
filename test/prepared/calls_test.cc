// SPDX-License-Identifier: Apache-2.0
//
// The list "the first line that fails decides" of strew.h for calls with plans: every defect alone,
// and every pair of defects from different lines.
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "op/request.h"
#include "reference/dtypes.h"
#include "reference/handles.h"
#include "reference/indices.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

enum class Function { kScatter, kGather, kGatherScatter };

std::string NameOf(Function function) {
  if (function == Function::kScatter) return "scatter";
  return function == Function::kGather ? "gather" : "gather_scatter";
}

// A call with a plan of the operator. What gathers takes rows or columns of the source by a plan of
// scatter_update; a gather alone takes them by the plan of the operator.
struct PlanRequest {
  Function function;
  Operator op;
  bool null_plan = false, null_from = false;
  int64_t axis, from_axis;  // as they were given when the plans were made
  Operand data, updates, source, weights, output;
  strew_reduction reduction = STREW_NONE;

  void SetDtype(strew_dtype dtype) {
    for (Operand* operand : {&data, &updates, &source, &weights, &output}) operand->dtype = dtype;
  }
};

PlanRequest GoodRequest(Function function, Operator op) {
  const Request good = strew_test::GoodRequest(op);
  PlanRequest r{function,     op,           false,
                false,        good.axis,    op == Operator::kScatterNd ? 0 : 1,
                good.data,    good.updates, good.data,
                good.updates, good.output};
  r.source.name = "source";
  r.source.offset = 1024;
  r.weights.name = "weights";
  r.weights.offset = 1536;
  if (function == Function::kGather) r.output.layout = r.updates.layout;
  return r;
}

Plan MakePlan(Operator op, int64_t axis) {
  const Request good = strew_test::GoodRequest(op);
  const Array indices = IndexArray(STREW_INT64, good.indices.layout.shape, good.indices.values);
  const int64_t rows = 3, columns = 4;
  strew_plan* plan = nullptr;
  if (op == Operator::kScatterElements) {
    EXPECT_EQ(strew_plan_scatter_elements(nullptr, indices.tensor(), axis, columns, &plan),
              STREW_OK);
  } else if (op == Operator::kScatterNd) {
    EXPECT_EQ(strew_plan_scatter_nd(nullptr, indices.tensor(), &rows, &plan), STREW_OK);
  } else {
    EXPECT_EQ(strew_plan_scatter_update(nullptr, indices.tensor(), axis, columns, &plan), STREW_OK);
  }
  return Plan(plan);
}

// Two slices of the source: rows for tuples, otherwise columns.
Plan MakeFrom(const PlanRequest& r) {
  const Array indices = IndexArray(STREW_INT32, {2}, {1, 0});
  strew_plan* plan = nullptr;
  EXPECT_EQ(strew_plan_scatter_update(nullptr, indices.tensor(), r.from_axis,
                                      r.op == Operator::kScatterNd ? 3 : 4, &plan),
            STREW_OK);
  return Plan(plan);
}

struct CallAnswer {
  strew_status status;
  std::string error;
  int64_t position;
  int64_t applied;
  bool wrote;
};

CallAnswer Send(const PlanRequest& r, strew_context* context) {
  Arena arena;
  for (size_t i = 0; i < Arena::kSize; ++i) *arena.at(i) = static_cast<unsigned char>(i % 61 + 1);
  const Arena before = arena;
  const Tensor data = Describe(r.data, arena), updates = Describe(r.updates, arena);
  const Tensor source = Describe(r.source, arena), weights = Describe(r.weights, arena);
  const Tensor output = Describe(r.output, arena);
  const Plan plan = r.null_plan ? nullptr : MakePlan(r.op, r.axis);
  strew_status status;
  if (r.function == Function::kScatter) {
    status = strew_plan_scatter(context, plan.get(), data.get(), updates.get(), r.reduction,
                                output.get());
  } else if (r.function == Function::kGather) {
    status = strew_plan_gather(context, plan.get(), source.get(), output.get());
  } else {
    const Plan from = r.null_from ? nullptr : MakeFrom(r);
    status = strew_plan_gather_scatter(context, from.get(), source.get(), weights.get(), plan.get(),
                                       data.get(), r.reduction, output.get());
  }
  return {status, strew_context_error(context), strew_context_error_position(context),
          strew_context_applied(context), !(arena == before)};
}

// ---- Defects ------------------------------------------------------------------------------------

struct CallDefect {
  int line;  // of the list
  std::string name;
  std::string mention;
  std::function<void(PlanRequest&)> spoil;
};
using CallDefects = std::vector<CallDefect>;
using OperandOf = Operand PlanRequest::*;

struct Role {
  const char* name;
  OperandOf operand;
};

// The operands of a function, output last.
std::vector<Role> RolesOf(Function function) {
  const Role data = {"data", &PlanRequest::data}, updates = {"updates", &PlanRequest::updates};
  const Role source = {"source", &PlanRequest::source},
             weights = {"weights", &PlanRequest::weights};
  const Role output = {"output", &PlanRequest::output};
  if (function == Function::kScatter) return {data, updates, output};
  if (function == Function::kGather) return {source, output};
  return {source, weights, data, output};
}

bool Reduces(Function function) { return function != Function::kGather; }

void AddHandles(Function function, CallDefects& defects) {
  const bool both = function == Function::kGatherScatter;
  defects.push_back({1, "NULL plan", both ? "to is NULL" : "plan is NULL",
                     [](PlanRequest& r) { r.null_plan = true; }});
  if (both) {
    defects.push_back({1, "NULL from", "from is NULL", [](PlanRequest& r) { r.null_from = true; }});
  }
  for (const Role& role : RolesOf(function)) {
    const OperandOf operand = role.operand;
    const std::string name = role.name;
    if (name != "weights") {
      defects.push_back({1, "NULL " + name, name + " is NULL",
                         [=](PlanRequest& r) { (r.*operand).null = true; }});
    }
    defects.push_back({1, "unbound " + name, name + " is not bound",
                       [=](PlanRequest& r) { (r.*operand).bound = false; }});
  }
  defects.push_back({1, "read-only output", "output", [](PlanRequest& r) {
                       r.output.read_only = true;
                       r.output.dtype = STREW_FLOAT32;  // DLPack has no opaque ones
                     }});
  if (!Reduces(function)) return;
  for (const strew_reduction reduction : std::vector<strew_reduction>{
           -1, 7, 0x80, STREW_EXCLUDE_SELF | 7, STREW_EXCLUDE_SELF | STREW_SUB, 1 << 30}) {
    defects.push_back({1, "reduction " + std::to_string(reduction), "reduction",
                       [=](PlanRequest& r) { r.reduction = reduction; }});
  }
}

void AddDtypes(Function function, CallDefects& defects) {
  const std::vector<Role> roles = RolesOf(function);
  for (size_t i = 1; i < roles.size(); ++i) {
    const OperandOf operand = roles[i].operand;
    defects.push_back({2, std::string(roles[i].name) + " of another dtype", roles[i].name,
                       [=](PlanRequest& r) { (r.*operand).dtype = STREW_INT32; }});
  }
  if (!Reduces(function)) return;
  struct Refusal {
    strew_dtype dtype;
    strew_reduction reduction;
  };
  const Refusal refusals[] = {{STREW_COMPLEX64, STREW_MIN},
                              {STREW_COMPLEX128, STREW_MAX | STREW_EXCLUDE_SELF},
                              {STREW_STRING, STREW_ADD},
                              {STREW_OPAQUE(4), STREW_MEAN},
                              {STREW_BOOL, STREW_MEAN}};
  for (const Refusal& refusal : refusals) {
    defects.push_back({2,
                       "reduction " + std::to_string(refusal.reduction) + " of dtype " +
                           std::to_string(refusal.dtype),
                       strew_dtype_name(refusal.dtype), [=](PlanRequest& r) {
                         r.SetDtype(refusal.dtype);
                         r.reduction = refusal.reduction;
                       }});
  }
  if (function != Function::kGatherScatter) return;
  for (const strew_dtype dtype : std::vector<strew_dtype>{STREW_STRING, STREW_OPAQUE(4)}) {
    defects.push_back({2, "weights of dtype " + std::to_string(dtype), "mul",
                       [=](PlanRequest& r) { r.SetDtype(dtype); }});
  }
}

void AddRanks(Function function, Operator op, CallDefects& defects) {
  const auto both = [&](const char* name, const Dims& shape, const char* mention) {
    defects.push_back({4, name, mention, [=](PlanRequest& r) {
                         r.data.SetShape(shape);
                         r.source.SetShape(shape);
                         if (function != Function::kGather) r.output.SetShape(shape);
                       }});
  };
  const char* const indexed = function == Function::kScatter ? "data" : "source";
  both("everything of rank 0", {}, indexed);
  if (op == Operator::kScatterElements) both("everything of another rank", {12}, "rank 1");
  defects.push_back({4, "output of another rank", "output", [](PlanRequest& r) {
                       r.output.SetShape({2, 2, 2});
                     }});
  if (function == Function::kScatter) {
    defects.push_back({4, "updates of another rank", "updates", [](PlanRequest& r) {
                         r.updates.SetShape({2, 2, 2});
                       }});
  }
  if (function != Function::kGatherScatter) return;
  defects.push_back({4, "data of rank 0", "data", [](PlanRequest& r) {
                       r.data.SetShape({});
                       r.output.SetShape({});
                     }});
  defects.push_back({4, "source of another rank",
                     "the plan for source gathers updates of rank 3, but the plan for data "
                     "scatters updates of rank 2",
                     [](PlanRequest& r) {
                       r.source.SetShape({3, 4, 2});
                     }});
  defects.push_back({4, "weights of a higher rank", "weights", [](PlanRequest& r) {
                       r.weights.SetShape({1, 3, 2});
                     }});
}

void AddAxes(Function function, Operator op, CallDefects& defects) {
  for (const int64_t axis : {int64_t{2}, int64_t{-3}, kMost, kLeast}) {
    const std::string name = "axis " + std::to_string(axis);
    const std::string mention = "axis = " + std::to_string(axis) + " is out of range [-2, 1]";
    if (op == Operator::kScatterUpdate) {
      defects.push_back({5, name, mention, [=](PlanRequest& r) { r.axis = axis; }});
    }
    if (function == Function::kGatherScatter) {
      defects.push_back(
          {5, name + " of from", mention, [=](PlanRequest& r) { r.from_axis = axis; }});
    }
  }
}

void AddExtents(Function function, Operator op, CallDefects& defects) {
  defects.push_back({7, "output of another shape", "output", [](PlanRequest& r) {
                       r.output.SetShape({4, 3});
                     }});
  if (function != Function::kGather) {
    defects.push_back({7, "data of another extent", "data has shape", [](PlanRequest& r) {
                         r.data.SetShape({5, 5});
                         r.output.SetShape({5, 5});
                       }});
  }
  if (function != Function::kScatter) {
    defects.push_back({7, "source of another extent", "source has shape", [](PlanRequest& r) {
                         r.source.SetShape({5, 5});
                       }});
  }
  if (function == Function::kScatter) {
    defects.push_back({7, "updates of another shape", "updates", [](PlanRequest& r) {
                         r.updates.SetShape({2, 5});
                       }});
  }
  if (op == Operator::kScatterElements) {
    defects.push_back({7, "fewer rows than the indices had", "indices", [=](PlanRequest& r) {
                         r.data.SetShape({2, 4});
                         if (function == Function::kGather) r.source.SetShape({2, 4});
                         if (function != Function::kGather) r.output.SetShape({2, 4});
                       }});
  }
  if (function != Function::kGatherScatter) return;
  defects.push_back({7, "updates of two shapes", "but the plan for data scatters updates of shape",
                     [=](PlanRequest& r) {
                       r.source.SetShape(op == Operator::kScatterNd ? Dims{3, 5} : Dims{2, 4});
                     }});
  for (const Dims& shape : {Dims{5}, Dims{5, 1}, Dims{1, 5}}) {
    defects.push_back({7, "weights of shape " + ToString(shape), "weights has shape",
                       [=](PlanRequest& r) { r.weights.SetShape(shape); }});
  }
}

void AddOverlaps(Function function, CallDefects& defects) {
  for (const Role& role : RolesOf(function)) {
    const OperandOf operand = role.operand;
    const std::string name = role.name;
    if (name == "output") continue;
    defects.push_back({8, "output over a part of " + name, name,
                       [=](PlanRequest& r) { r.output.offset = (r.*operand).offset + 16; }});
  }
  defects.push_back({8, "output that meets itself", "output", [](PlanRequest& r) {
                       r.output.layout.strides = {0, 1};
                     }});
}

CallDefects DefectsOf(Function function, Operator op) {
  CallDefects defects;
  AddHandles(function, defects);
  AddDtypes(function, defects);
  AddRanks(function, op, defects);
  AddAxes(function, op, defects);
  AddExtents(function, op, defects);
  AddOverlaps(function, defects);
  return defects;
}

strew_status StatusOfLine(int line) {
  switch (line) {
    case 1:
      return STREW_INVALID_ARGUMENT;
    case 2:
      return STREW_INVALID_DTYPE;
    case 5:
      return STREW_INVALID_AXIS;
    case 8:
      return STREW_OVERLAPPING_MEMORY;
    default:
      return STREW_INVALID_SHAPE;
  }
}

// ---- Precedence ---------------------------------------------------------------------------------

class PlanCalls : public testing::TestWithParam<std::tuple<Function, Operator>> {
 protected:
  static PlanRequest Good() {
    return GoodRequest(std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
  static CallDefects Defects() {
    return DefectsOf(std::get<0>(GetParam()), std::get<1>(GetParam()));
  }

  void ExpectRefusal(const PlanRequest& request, int line, const std::string& mention) {
    const CallAnswer answer = Send(request, context_.get());
    EXPECT_EQ(answer.status, StatusOfLine(line)) << answer.error;
    EXPECT_NE(answer.error, "");
    EXPECT_NE(answer.error.find(mention), std::string::npos)
        << "'" << answer.error << "' lacks '" << mention << "'";
    EXPECT_EQ(answer.position, -1);
    EXPECT_EQ(answer.applied, 0);
    EXPECT_FALSE(answer.wrote);
  }

  void ExpectSuccess() {
    const CallAnswer answer = Send(Good(), context_.get());
    EXPECT_EQ(answer.status, STREW_OK) << answer.error;
    EXPECT_EQ(answer.error, "");
    EXPECT_EQ(answer.position, -1);
    EXPECT_EQ(answer.applied, std::get<1>(GetParam()) == Operator::kScatterNd ? 8 : 6);
    EXPECT_TRUE(answer.wrote);
  }

  Context context_ = MakeContext();
};

INSTANTIATE_TEST_SUITE_P(EveryFunctionAndKind, PlanCalls,
                         testing::Combine(testing::Values(Function::kScatter, Function::kGather,
                                                          Function::kGatherScatter),
                                          testing::Values(Operator::kScatterElements,
                                                          Operator::kScatterNd,
                                                          Operator::kScatterUpdate)),
                         [](const auto& test) {
                           return NameOf(std::get<0>(test.param)) + "_" +
                                  NameOf(std::get<1>(test.param));
                         });

TEST_P(PlanCalls, EveryDefectAlone) {
  ExpectSuccess();
  for (const CallDefect& defect : Defects()) {
    SCOPED_TRACE(defect.name);
    PlanRequest request = Good();
    defect.spoil(request);
    ExpectRefusal(request, defect.line, defect.mention);
    const CallAnswer without_context = Send(request, nullptr);
    EXPECT_EQ(without_context.status, StatusOfLine(defect.line));
    EXPECT_EQ(without_context.error, "");
    EXPECT_FALSE(without_context.wrote);
    ExpectSuccess();
  }
}

// The stronger defect is made last, so that it stands whole.
TEST_P(PlanCalls, FirstLineOfTwoDecides) {
  const CallDefects defects = Defects();
  for (const CallDefect& strong : defects) {
    for (const CallDefect& weak : defects) {
      if (strong.line >= weak.line) continue;
      SCOPED_TRACE(strong.name + " before " + weak.name);
      PlanRequest request = Good();
      weak.spoil(request);
      strong.spoil(request);
      ExpectRefusal(request, strong.line, "");
    }
  }
}

// ---- Ranks below that of the plan ---------------------------------------------------------------

TEST(CallsOfTuples, NeedTheAxesOfThePlan) {
  const Array indices = IndexArray(STREW_INT8, {1, 2}, {0, 0});
  const int64_t extents[] = {3, 4};
  strew_plan* made = nullptr;
  ASSERT_EQ(strew_plan_scatter_nd(nullptr, indices.tensor(), extents, &made), STREW_OK);
  const Plan plan(made);
  const Array data(STREW_FLOAT32, RowMajor({3})), updates(STREW_FLOAT32, RowMajor({1}));
  const Context context = MakeContext();
  EXPECT_EQ(strew_plan_scatter(context.get(), plan.get(), data.tensor(), updates.tensor(),
                               STREW_ADD, data.tensor()),
            STREW_INVALID_SHAPE);
  EXPECT_STREQ(strew_context_error(context.get()), "data has rank 1, but the plan indexes 2 axes");
}

// ---- Tuples of no numbers -----------------------------------------------------------------------

// They index no axis, and yet operands of rank 0 are refused.
TEST(TuplesOfNoNumbers, NeedOperandsOfRank1) {
  const Context context = MakeContext();
  const Array indices = IndexArray(STREW_INT64, {3, 0}, {});
  strew_plan* made = nullptr;
  ASSERT_EQ(strew_plan_scatter_nd(nullptr, indices.tensor(), nullptr, &made), STREW_OK);
  const Plan plan(made);
  float numbers[8] = {}, output[8] = {};
  const Tensor scalar = MakeTensor(STREW_FLOAT32, RowMajor({}), numbers);
  const Tensor line = MakeTensor(STREW_FLOAT32, RowMajor({2}), numbers);
  const Tensor to_scalar = MakeTensor(STREW_FLOAT32, RowMajor({}), output);
  const Tensor to_line = MakeTensor(STREW_FLOAT32, RowMajor({2}), output);
  const Tensor scalars = MakeTensor(STREW_FLOAT32, RowMajor({3}), output);
  const Tensor lines = MakeTensor(STREW_FLOAT32, RowMajor({3, 2}), output);
  const auto scatter = [&](const Tensor& data, const Tensor& updates, const Tensor& to) {
    return strew_plan_scatter(context.get(), plan.get(), data.get(), updates.get(), STREW_ADD,
                              to.get());
  };
  const auto gather = [&](const Tensor& source, const Tensor& to) {
    return strew_plan_gather(context.get(), plan.get(), source.get(), to.get());
  };
  const auto both = [&](const Tensor& source, const Tensor& to) {
    return strew_plan_gather_scatter(context.get(), plan.get(), source.get(), nullptr, plan.get(),
                                     to.get(), STREW_ADD, to.get());
  };
  EXPECT_EQ(scatter(to_scalar, scalar, to_scalar), STREW_INVALID_SHAPE);
  EXPECT_EQ(gather(scalar, scalars), STREW_INVALID_SHAPE);
  EXPECT_EQ(both(scalar, to_scalar), STREW_INVALID_SHAPE);
  EXPECT_EQ(both(line, to_scalar), STREW_INVALID_SHAPE);
  EXPECT_EQ(both(scalar, to_line), STREW_INVALID_SHAPE);
  EXPECT_EQ(gather(line, lines), STREW_OK) << strew_context_error(context.get());
  EXPECT_EQ(both(line, to_line), STREW_OK) << strew_context_error(context.get());
}

// ---- Ranks above 32 -----------------------------------------------------------------------------

// Updates that are never made could have a rank of 63.
TEST(GatherScatterRanks, AreAtMost32) {
  const Context context = MakeContext();
  const Array indices = IndexArray(STREW_INT8, Dims(31, 1), {0});
  strew_plan* made = nullptr;
  ASSERT_EQ(strew_plan_scatter_update(nullptr, indices.tensor(), 0, 1, &made), STREW_OK);
  const Plan plan(made);
  const auto call = [&](const Dims& source, const Dims& data) {
    std::vector<float> numbers(16);
    const Tensor from = MakeTensor(STREW_FLOAT32, RowMajor(source), numbers.data());
    const Tensor to = MakeTensor(STREW_FLOAT32, RowMajor(data), numbers.data() + 8);
    return strew_plan_gather_scatter(context.get(), plan.get(), from.get(), nullptr, plan.get(),
                                     to.get(), STREW_ADD, to.get());
  };
  EXPECT_EQ(call({1, 2}, {1, 2}), STREW_OK) << strew_context_error(context.get());
  EXPECT_EQ(call({1, 2, 2}, {1, 2, 2}), STREW_INVALID_SHAPE);
  Dims huge(32, kMost);
  huge[0] = 1;
  huge[31] = 0;
  Dims other = huge;
  other[30] = kMost - 1;
  EXPECT_EQ(call(huge, other), STREW_INVALID_SHAPE);
  EXPECT_NE(std::string(strew_context_error(context.get())).find("32"), std::string::npos);
}

}  // namespace
}  // namespace strew_test
