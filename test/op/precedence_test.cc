// SPDX-License-Identifier: Apache-2.0
//
// The list "the first line that fails decides" of strew.h: every fault of every operator alone, and
// every pair of faults from different lines.
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "request.h"
#include "support/handles.h"

namespace strew_test {
namespace {

struct Fault {
  int line;  // in strew.h
  strew_status status;
  std::string name;
  std::string mention;  // what the error text must contain: the operand or attribute
  std::function<void(Request&)> spoil;
};
using Faults = std::vector<Fault>;

using OperandOf = Operand Request::*;

struct Role {
  const char* name;
  OperandOf operand;
};

std::vector<Role> IndexRoles(Operator op) {
  if (op == Operator::kSliceScatter) {
    return {{"start", &Request::start},
            {"stop", &Request::stop},
            {"step", &Request::step},
            {"axes", &Request::axes}};
  }
  if (op == Operator::kSliceScatterInt64) return {};
  return {{"indices", &Request::indices}};
}

std::vector<Role> AllRoles(Operator op) {
  std::vector<Role> roles = {
      {"data", &Request::data}, {"updates", &Request::updates}, {"output", &Request::output}};
  for (const Role& role : IndexRoles(op)) roles.push_back(role);
  return roles;
}

// ---- Line 1: handles and reductions ----------------------------------------------------------

void AddHandles(Operator op, Faults& faults) {
  for (const Role& role : AllRoles(op)) {
    const OperandOf operand = role.operand;
    const std::string name = role.name;
    if (name != "axes") {  // NULL axes are the default
      faults.push_back({1, STREW_INVALID_ARGUMENT, "NULL " + name, name,
                        [=](Request& r) { (r.*operand).null = true; }});
    }
    faults.push_back({1, STREW_INVALID_ARGUMENT, "unbound " + name, name,
                      [=](Request& r) { (r.*operand).bound = false; }});
  }
  faults.push_back({1, STREW_INVALID_ARGUMENT, "read-only output", "output", [](Request& r) {
                      r.output.read_only = true;
                      r.output.dtype = STREW_FLOAT32;  // DLPack, which says so, has no opaque ones
                    }});
}

void AddUnknownReductions(Faults& faults) {
  for (const strew_reduction reduction : std::vector<strew_reduction>{
           -1, 7, 0x80, 0x200, STREW_EXCLUDE_SELF | 7, STREW_EXCLUDE_SELF | STREW_SUB,
           std::numeric_limits<strew_reduction>::min()}) {
    faults.push_back({1, STREW_INVALID_ARGUMENT, "reduction " + std::to_string(reduction),
                      "reduction", [=](Request& r) { r.reduction = reduction; }});
  }
}

void AddLists(Operator op, Faults& faults) {
  if (op != Operator::kSliceScatterInt64) return;
  faults.push_back(
      {1, STREW_INVALID_ARGUMENT, "negative count", "count", [](Request& r) { r.count = -1; }});
  const std::vector<Role> lists = {
      {"start", &Request::start}, {"stop", &Request::stop}, {"step", &Request::step}};
  for (const Role& list : lists) {
    const OperandOf operand = list.operand;
    faults.push_back({1, STREW_INVALID_ARGUMENT, std::string("NULL ") + list.name, list.name,
                      [=](Request& r) { (r.*operand).null = true; }});
  }
}

// ---- Lines 2 and 3: dtypes and what this version does not have -------------------------------

void AddDtypes(Operator op, Faults& faults) {
  faults.push_back({2, STREW_INVALID_DTYPE, "updates of another dtype", "updates",
                    [](Request& r) { r.updates.dtype = STREW_INT32; }});
  faults.push_back({2, STREW_INVALID_DTYPE, "output of another dtype", "output",
                    [](Request& r) { r.output.dtype = STREW_UINT32; }});
  faults.push_back({2, STREW_INVALID_DTYPE, "opaque of another size", "updates", [](Request& r) {
                      r.SetDtype(STREW_OPAQUE(4));
                      r.updates.dtype = STREW_OPAQUE(5);
                    }});
  for (const Role& role : IndexRoles(op)) {
    for (const strew_dtype dtype :
         std::vector<strew_dtype>{STREW_BOOL, STREW_FLOAT32, STREW_STRING, STREW_OPAQUE(8)}) {
      const OperandOf operand = role.operand;
      faults.push_back({2, STREW_INVALID_DTYPE,
                        std::string(role.name) + " of dtype " + std::to_string(dtype), role.name,
                        [=](Request& r) { (r.*operand).dtype = dtype; }});
    }
  }
}

void AddRefusedReductions(Faults& faults) {
  struct Refusal {
    strew_dtype dtype;
    strew_reduction reduction;
  };
  const Refusal refusals[] = {{STREW_COMPLEX64, STREW_MIN},
                              {STREW_COMPLEX64, STREW_MAX},
                              {STREW_COMPLEX128, STREW_MIN},
                              {STREW_COMPLEX128, STREW_MAX},
                              {STREW_STRING, STREW_ADD},
                              {STREW_STRING, STREW_MAX},
                              {STREW_OPAQUE(4), STREW_ADD},
                              {STREW_OPAQUE(4), STREW_MUL},
                              {STREW_STRING, STREW_SUB},
                              {STREW_OPAQUE(4), STREW_MEAN},
                              {STREW_BOOL, STREW_MEAN},
                              {STREW_COMPLEX64, STREW_MIN | STREW_EXCLUDE_SELF},
                              {STREW_STRING, STREW_ADD | STREW_EXCLUDE_SELF}};
  for (const Refusal& refusal : refusals) {
    faults.push_back({2, STREW_INVALID_DTYPE,
                      "reduction " + std::to_string(refusal.reduction) + " of dtype " +
                          std::to_string(refusal.dtype),
                      strew_dtype_name(refusal.dtype), [=](Request& r) {
                        r.SetDtype(refusal.dtype);
                        r.reduction = refusal.reduction;
                      }});
  }
}

void AddUnsupported(Faults& faults) {
  for (const strew_reduction reduction : std::vector<strew_reduction>{
           STREW_MEAN, STREW_NONE | STREW_EXCLUDE_SELF, STREW_ADD | STREW_EXCLUDE_SELF,
           STREW_MEAN | STREW_EXCLUDE_SELF}) {
    faults.push_back({3, STREW_UNSUPPORTED, "reduction " + std::to_string(reduction), "reduction",
                      [=](Request& r) { r.reduction = reduction; }});
  }
}

// ---- Line 4: ranks and the lists of a slice --------------------------------------------------

void AddRanks(Operator op, Faults& faults) {
  faults.push_back({4, STREW_INVALID_SHAPE, "data of rank 0", "data", [](Request& r) {
                      r.data.SetShape({});
                      r.output.SetShape({});
                    }});
  faults.push_back({4, STREW_INVALID_SHAPE, "output of another rank", "output",
                    [](Request& r) { r.output.SetShape({12}); }});
  faults.push_back({4, STREW_INVALID_SHAPE, "updates of another rank", "updates", [](Request& r) {
                      r.updates.SetShape({2, 2, 2});
                    }});
  if (op == Operator::kScatterElements) {
    faults.push_back({4, STREW_INVALID_SHAPE, "indices of another rank", "indices",
                      [](Request& r) { r.indices.SetShape({6}); }});
  }
  if (op == Operator::kScatterNd) {
    faults.push_back({4, STREW_INVALID_SHAPE, "indices of rank 0", "indices",
                      [](Request& r) { r.indices.SetShape({}); }});
    faults.push_back(
        {4, STREW_INVALID_SHAPE, "more components than dims", "indices", [](Request& r) {
           r.indices.SetValues({2, 3}, {0, 0, 0, 1, 1, 1});
           r.updates.SetShape({2});
         }});
  }
}

void AddSliceLists(Operator op, Faults& faults) {
  if (op == Operator::kSliceScatter) {
    for (const Role& role : IndexRoles(op)) {
      const OperandOf operand = role.operand;
      const std::string name = role.name;
      faults.push_back({4, STREW_INVALID_SHAPE, name + " of rank 2", name, [=](Request& r) {
                          (r.*operand).SetShape({1, 1});
                        }});
      faults.push_back({4, STREW_INVALID_SHAPE, name + " of rank 0", name,
                        [=](Request& r) { (r.*operand).SetShape({}); }});
      faults.push_back({4, STREW_INVALID_SHAPE, name + " of another length", "", [=](Request& r) {
                          (r.*operand).SetList({1, 1, 1});
                        }});
    }
  }
  if (IsSlice(op)) {
    faults.push_back({4, STREW_INVALID_SHAPE, "more entries than dims", "", [](Request& r) {
                        r.SetSlice({0, 0, 0}, {2, 2, 2}, {1, 1, 1}, {0, 1, 2});
                      }});
  }
}

// ---- Lines 5 to 7: axes, steps and extents ---------------------------------------------------

void AddAxes(Operator op, Faults& faults) {
  const Dims wrong = {2, -3, std::numeric_limits<int64_t>::max(),
                      std::numeric_limits<int64_t>::min()};
  for (const int64_t axis : wrong) {
    const std::string name = "axis " + std::to_string(axis);
    if (op == Operator::kScatterElements) {
      faults.push_back({5, STREW_INVALID_AXIS, name, "axis", [=](Request& r) { r.axis = axis; }});
    }
    if (IsSlice(op)) {
      faults.push_back(
          {5, STREW_INVALID_AXIS, name, "axes", [=](Request& r) { r.axes.SetList({axis}); }});
    }
  }
  if (!IsSlice(op)) return;
  for (const int64_t twin : {0, -2}) {
    faults.push_back(
        {5, STREW_INVALID_AXIS, "repeated axis " + std::to_string(twin), "axes", [=](Request& r) {
           r.SetSlice({0, 0}, {2, 2}, {1, 1}, {0, twin});
         }});
  }
}

void AddSteps(Operator op, Faults& faults) {
  if (!IsSlice(op)) return;
  faults.push_back({6, STREW_INVALID_ARGUMENT, "step 0", "step",
                    [](Request& r) { r.step.values.assign(r.step.values.size(), 0); }});
}

void AddExtents(Operator op, Faults& faults) {
  faults.push_back({7, STREW_INVALID_SHAPE, "output of another shape", "output", [](Request& r) {
                      r.output.SetShape({4, 3});
                    }});
  faults.push_back({7, STREW_INVALID_SHAPE, "updates of another shape", "updates", [](Request& r) {
                      r.updates.SetShape({2, 5});
                    }});
  if (op == Operator::kScatterElements) {
    faults.push_back({7, STREW_INVALID_SHAPE, "indices beyond data", "indices", [](Request& r) {
                        r.indices.SetShape({4, 2});
                        r.updates.SetShape({4, 2});
                      }});
  }
  if (op == Operator::kScatterNd) {
    faults.push_back(
        {7, STREW_INVALID_SHAPE, "more tuples than updates", "updates", [](Request& r) {
           r.indices.SetShape({3, 1});
         }});
  }
}

// ---- Lines 8 and 10: memory and index values -------------------------------------------------

void AddOverlaps(Operator op, Faults& faults) {
  faults.push_back({8, STREW_OVERLAPPING_MEMORY, "output over part of data", "output",
                    [](Request& r) { r.output.offset = r.data.offset + 16; }});
  faults.push_back({8, STREW_OVERLAPPING_MEMORY, "output over updates", "output",
                    [](Request& r) { r.output.offset = r.updates.offset; }});
  faults.push_back(
      {8, STREW_OVERLAPPING_MEMORY, "output that meets itself", "output", [](Request& r) {
         r.output.layout.strides = {0, 1};
       }});
  for (const Role& role : IndexRoles(op)) {
    const OperandOf operand = role.operand;
    faults.push_back({8, STREW_OVERLAPPING_MEMORY, std::string("output over ") + role.name,
                      "output", [=](Request& r) { r.output.offset = (r.*operand).offset; }});
  }
}

void AddIndexValues(Operator op, Faults& faults) {
  if (IsSlice(op)) return;
  for (const int64_t value : {4, -5}) {
    faults.push_back({10, STREW_INDEX_OUT_OF_RANGE, "index " + std::to_string(value), "indices[",
                      [=](Request& r) { r.indices.values.front() = value; }});
  }
}

Faults FaultsOf(Operator op) {
  Faults faults;
  AddHandles(op, faults);
  AddUnknownReductions(faults);
  AddLists(op, faults);
  AddDtypes(op, faults);
  AddRefusedReductions(faults);
  AddUnsupported(faults);
  AddRanks(op, faults);
  AddSliceLists(op, faults);
  AddAxes(op, faults);
  AddSteps(op, faults);
  AddExtents(op, faults);
  AddOverlaps(op, faults);
  AddIndexValues(op, faults);
  return faults;
}

class Precedence : public testing::TestWithParam<Operator> {
 protected:
  // A refusal that leaves all memory alone and says what is wrong.
  void ExpectRefusal(const Request& request, const Fault& fault) {
    const Answer answer = Send(request, context_.get());
    EXPECT_EQ(answer.status, fault.status) << answer.error;
    EXPECT_NE(answer.error, "");
    EXPECT_EQ(answer.position, fault.line == 10 ? 0 : -1);
    EXPECT_EQ(answer.applied, 0);
    EXPECT_FALSE(answer.wrote);
    error_ = answer.error;
  }

  void ExpectSuccess() {
    const Answer answer = Send(GoodRequest(GetParam()), context_.get());
    EXPECT_EQ(answer.status, STREW_OK) << answer.error;
    EXPECT_EQ(answer.error, "");
    EXPECT_EQ(answer.position, -1);
    EXPECT_GT(answer.applied, 0);
    EXPECT_TRUE(answer.wrote);
  }

  Context context_ = MakeContext();
  std::string error_;  // of the last refusal
};

INSTANTIATE_TEST_SUITE_P(EveryOperator, Precedence, testing::ValuesIn(Operators()),
                         [](const auto& info) { return NameOf(info.param); });

TEST_P(Precedence, EveryFaultAlone) {
  for (const Fault& fault : FaultsOf(GetParam())) {
    SCOPED_TRACE(fault.name);
    Request request = GoodRequest(GetParam());
    fault.spoil(request);
    ExpectRefusal(request, fault);
    EXPECT_TRUE(error_.find(fault.mention) != std::string::npos)
        << "'" << error_ << "' lacks '" << fault.mention << "'";
    const Answer without_context = Send(request, nullptr);
    EXPECT_EQ(without_context.status, fault.status);
    EXPECT_EQ(without_context.error, "");
    EXPECT_FALSE(without_context.wrote);
    ExpectSuccess();
  }
}

// The stronger fault is made last, so that it stands whole.
TEST_P(Precedence, FirstLineOfTwoDecides) {
  const Faults faults = FaultsOf(GetParam());
  for (const Fault& strong : faults) {
    for (const Fault& weak : faults) {
      if (strong.line >= weak.line) continue;
      SCOPED_TRACE(strong.name + " before " + weak.name);
      Request request = GoodRequest(GetParam());
      weak.spoil(request);
      strong.spoil(request);
      ExpectRefusal(request, strong);
    }
  }
}

}  // namespace
}  // namespace strew_test
