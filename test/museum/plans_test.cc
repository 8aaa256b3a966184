// SPDX-License-Identifier: Apache-2.0
//
// Defects of what is prepared once and used often, of gathers, and of repeated indices on several
// threads.
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "exhibit.h"
#include "prepared/check_plans.h"
#include "reference/gather.h"
#include "reference/gather_trial.h"
#include "reference/indices.h"
#include "reference/targets.h"
#include "reference/trial.h"
#include "support/reference.h"

namespace strew_test {
namespace {

std::vector<Exhibit> PlannedExhibits() {
  std::vector<Exhibit> exhibits;
  for (const Exhibit& exhibit : IndexedExhibits()) {
    if (exhibit.op != Operator::kTensorScatter) exhibits.push_back(exhibit);
  }
  return exhibits;
}

// The case gathers from its data: the output has the shape of updates.
Case GatherAt(const Exhibit& exhibit, Guard guard) {
  Case c = exhibit.At({guard, true});
  c.output = ::strew_test::Numbers(exhibit.dtype, RowMajor(UpdatesShapeOf(c)), guard);
  return c;
}

Case PlannedAt(const Exhibit& exhibit, const Place& place) {
  Case c = exhibit.At(place);
  c.updates = ::strew_test::Numbers(exhibit.dtype, RowMajor(UpdatesShapeOf(c)), place.guard);
  return c;
}

void ExpectNoTrouble(Trial& trial, const PlanCall& call, const std::string& about) {
  EXPECT_TRUE(CheckEverywhere(trial, call, 1, about));
}

// ---- Plans and their indices --------------------------------------------------------------------

// TensorFlow Lite Micro, Gather: the index that was compared with the axis was not the one that was
// used (pull request 3645). Whoever looks twice at memory of others may find two values there: a
// plan has its own, so that its indices may become anything, and then be unmapped.
TEST(TfliteMicro3645, IndicesChangeAfterTheCheck) {
  for (const Exhibit& exhibit : PlannedExhibits()) {
    for (const Place& place : Places()) {
      Case c = exhibit.At(place);
      const Plan plan = PlanOf(c);
      Trial trial(c);
      const auto call = [&](strew_context* context) {
        return strew_plan_scatter(context, plan.get(), c.data.tensor(), c.updates.tensor(),
                                  c.reduction, c.destination().tensor());
      };
      c.indices->buffer().SetReadOnly(false);
      FillWithLargeIndices(*c.indices);
      ExpectNoTrouble(trial, call, "changed indices, " + Describe(c));
      c.indices.reset();
      ExpectNoTrouble(trial, call, "no indices, " + Describe(c));
    }
  }
}

// The same where values are read.
TEST(TfliteMicro3645, IndicesOfAGatherChangeAfterTheCheck) {
  for (const Exhibit& exhibit : PlannedExhibits()) {
    for (const Guard guard : {Guard::kBehind, Guard::kBefore}) {
      Case c = GatherAt(exhibit, guard);
      const Plan plan = PlanOf(c);
      GatherTrial gather(c);
      const auto call = [&](strew_context* context) { return gather.Call(plan.get(), context); };
      c.indices->buffer().SetReadOnly(false);
      FillWithLargeIndices(*c.indices);
      ExpectNoTrouble(gather.trial(), call, "changed indices, " + Describe(c));
      c.indices.reset();
      ExpectNoTrouble(gather.trial(), call, "no indices, " + Describe(c));
    }
  }
}

// SciPy, csr_matrix: a matrix could be made with columns out of range, and the first product read
// elsewhere (issue 8778). Here nothing can be made of them.
TEST(SciPy8778, NoPlanOfIndicesOutOfRange) {
  const Context context = MakeContext();
  for (const Exhibit& exhibit : PlannedExhibits()) {
    for (const int64_t bad :
         {kAxis, -kAxis - 1, int64_t{1001}, std::numeric_limits<int64_t>::max()}) {
      Case c = exhibit.At({Guard::kBehind, true});
      const Dims good = ReadIndices(c.indices->view());
      for (const size_t position : {size_t{0}, good.size() / 2, good.size() - 1}) {
        Dims values = good;
        values[position] = bad;
        WriteIndices(*c.indices, values);
        Plan plan;
        EXPECT_EQ(MakePlan(c, context.get(), &plan), STREW_INDEX_OUT_OF_RANGE) << Describe(c);
        EXPECT_EQ(strew_context_error_position(context.get()), static_cast<int64_t>(position));
        EXPECT_EQ(plan, nullptr);
      }
    }
  }
}

// PyTorch, torch.sparse.mm: columns were not compared with the rows of the dense matrix, of which
// there were none (issue 190045). A plan goes with tensors of the extents that it was made for.
TEST(PyTorch190045, PlansOfOtherExtents) {
  for (const Exhibit& exhibit : PlannedExhibits()) {
    const Plan plan = PlanOf(exhibit.At({Guard::kBehind, true}));
    for (const int64_t extent : {int64_t{0}, kAxis - 1, kAxis + 1}) {
      Exhibit other = exhibit;
      other.data[static_cast<size_t>(exhibit.axis)] = extent;
      for (const Place& place : Places()) {
        Case c = PlannedAt(other, place);
        Trial scatter(c, STREW_INVALID_SHAPE, -1);
        ExpectNoTrouble(
            scatter,
            [&](strew_context* context) {
              return strew_plan_scatter(context, plan.get(), c.data.tensor(), c.updates.tensor(),
                                        c.reduction, c.destination().tensor());
            },
            "scatter, " + Describe(c));
      }
      Case c = GatherAt(other, Guard::kBehind);
      Trial gather(c, STREW_INVALID_SHAPE, -1);
      ExpectNoTrouble(
          gather,
          [&](strew_context* context) {
            return strew_plan_gather(context, plan.get(), c.data.tensor(), c.output->tensor());
          },
          "gather, " + Describe(c));
    }
  }
}

// hipSPARSE, hipsparseSpMV: what one call had prepared, with the size of its buffer, was taken for
// prepared in the next, which was another (ROCm/rocm-libraries, pull request 7645). gather_scatter
// keeps the places of one plan in the order of another: here the other one is replaced again and
// again, most often by one at the same address, and so are dtypes and the lengths of rows.
TEST(RocmLibraries7645, StateOfAnEarlierCall) {
  constexpr int64_t kEdges = 200;
  const auto edges = [](strew_dtype dtype, int64_t features, const Dims& values) {
    Exhibit rows{Operator::kScatterUpdate, {kAxis, features}, {kEdges}, {kEdges, features}};
    rows.dtype = dtype;
    rows.reduction = STREW_ADD;
    rows.values = values;
    return rows.At({Guard::kBehind, true});
  };
  const Dims targets = {3, 0, 5, 0, 1, 4, 2};
  const Plan to = PlanOf(edges(STREW_FLOAT32, 1, targets));
  for (int64_t round = 0; round < 12; ++round) {
    const strew_dtype dtype = round % 2 == 0 ? STREW_FLOAT32 : STREW_FLOAT64;
    const int64_t features = Dims{1, 3, 64}[static_cast<size_t>(round % 3)];
    GatherScatterCase c{edges(dtype, features, {round % kAxis, 1, 4, round * 5 % kAxis}),
                        edges(dtype, features, targets)};
    const Plan from = PlanOf(c.from);
    GatherScatterTrial trial(c);
    // Twice: the second call may use what the first one kept.
    for (int call = 0; call < 2; ++call) {
      ExpectNoTrouble(
          trial.trial(),
          [&](strew_context* context) { return trial.Call(from.get(), to.get(), context); },
          Describe(c));
    }
  }
}

// ---- Gathers ------------------------------------------------------------------------------------

// TVM, gather_nd and gather_elements: a negative index read before the tensor, and each of four
// ways to write the same model returned something else (issue 20297).
TEST(Tvm20297, GathersFromTheEnd) {
  for (Exhibit exhibit : PlannedExhibits()) {
    for (const bool wrap : {true, false}) {
      exhibit.wrap = wrap;
      exhibit.values = {-1, -kAxis, 0, -2, kAxis - 1};
      for (const Guard guard : {Guard::kBehind, Guard::kBefore}) {
        Case c = GatherAt(exhibit, guard);
        if (wrap) {
          EXPECT_TRUE(CheckGather(c));
          continue;
        }
        const Context context = MakeContext();
        Plan plan;
        ASSERT_TRUE(SetPolicies(c, context.get()));
        EXPECT_EQ(MakePlan(c, context.get(), &plan), STREW_INDEX_OUT_OF_RANGE);
        EXPECT_EQ(strew_context_error_position(context.get()), 0);
      }
    }
  }
}

// ---- Repeated indices ---------------------------------------------------------------------------

// ND4J, ScatterUpdate: threads added to one row at the same time, so that a sum was wrong in one of
// some hundred calls, with indices like these (issue 2153). dpctl, put: the first of two writers
// was the one whose value stayed (issue 1360).
TEST(Nd4j2153, ThreadsAddToOneRow) {
  for (const strew_reduction reduction : {STREW_ADD, STREW_NONE}) {
    for (const Dims& values : std::vector<Dims>{{0, 1, 2, 3, 0}, {0, 0, 0, 3, 0}, {0}}) {
      Exhibit rows{Operator::kScatterUpdate, {10, 5}, {20000}, {20000, 5}, 0};
      rows.reduction = reduction;
      rows.values = values;
      Case c = rows.At({Guard::kBehind, true});
      for (const int32_t workers : {2, 3, 8}) {
        EXPECT_TRUE(CheckWithWorkers(c, {workers}));  // the operator, and a plan made for the call
        EXPECT_TRUE(CheckScatter(c, workers));
        GatherScatterCase messages{rows.At({Guard::kBehind, true}),
                                   rows.At({Guard::kBehind, true})};
        EXPECT_TRUE(CheckGatherScatter(messages, workers));
      }
    }
  }
}

}  // namespace
}  // namespace strew_test
