// SPDX-License-Identifier: Apache-2.0
//
// Tensors whose lines lie gigabytes apart, so that places have 64 bits: what the library puts there
// is what the oracle puts into an output without gaps. Memory is only what is touched.
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "reference/targets.h"
#include "reference/trial.h"
#include "support/call_shapes.h"
#include "support/reference.h"
#include "support/reservation.h"
#include "support/runners.h"

namespace strew_test {
namespace {

constexpr int64_t kApart = (int64_t{1} << 31) + 24;  // elements

// An output of the shape of data, with so many elements from one number of the first axis to the
// next.
class FarOutput {
 public:
  explicit FarOutput(const Case& c, int64_t apart = kApart)
      : view_{c.data.dtype(), RowMajor(c.data.shape()), nullptr},
        memory_(apart * c.data.shape()[0] * static_cast<int64_t>(WidthOf(c.data.dtype())),
                Access::kZeros) {
    view_.layout.strides[0] = apart;
    view_.origin = memory_.bytes();
    if (exists()) tensor_ = MakeTensor(view_.dtype, view_.layout, view_.origin);
  }

  bool exists() const { return memory_.bytes() != nullptr; }
  strew_tensor* tensor() const { return tensor_.get(); }

  // "" or the first element that is not as in the other view.
  std::string DifferenceFrom(const View& other) const {
    const size_t width = WidthOf(view_.dtype);
    std::string different;
    ForEachIndex(view_.shape(), [&](const Dims& i) {
      if (!different.empty()) return;
      if (std::memcmp(view_.At(i), other.At(i), width) != 0) different = ToString(i) + " differs";
    });
    return different;
  }

  void CopyFrom(const View& other) {
    ForEachIndex(view_.shape(), [&](const Dims& i) {
      std::memcpy(view_.At(i), other.At(i), WidthOf(view_.dtype));
    });
  }

  // Otherwise what an earlier call left would do.
  void Spoil() {
    ForEachIndex(view_.shape(),
                 [this](const Dims& i) { std::memset(view_.At(i), 0x5A, WidthOf(view_.dtype)); });
  }

 private:
  View view_;
  Reservation memory_;
  Tensor tensor_;
};

struct FarCase {
  std::string name;
  CallShape call_shape;
  strew_dtype dtype;
  strew_reduction reduction;
  std::function<void(Random&, Case&)> change = nullptr;
  int64_t apart = kApart;
};

std::vector<FarCase> FarCases() {
  constexpr Operator kElements = Operator::kScatterElements;
  constexpr Operator kNd = Operator::kScatterNd;
  constexpr strew_reduction kOfUpdates = STREW_MEAN | STREW_EXCLUDE_SELF;
  const CallShape few{"", kNd, {2, 3000}, {7, 2}};
  const CallShape pairs{"", kNd, {2, 3000}, {40000, 2}};
  const CallShape rows{"", kNd, {3, 100, 40}, {3000, 2}};
  const CallShape lanes{"", kElements, {2, 50, 6}, {2, 50, 6}, 2};
  const auto drops = [](Random& random, Case& c) {
    c.policy = STREW_INDEX_DROP;
    c.indices = RandomIndices(random, STREW_INT64, RowMajor(c.indices->shape()), 3);
  };
  // Lines of indices do not lie together across the far axis.
  const auto apart = [](Random& random, Case& c) {
    c.indices = RandomIndices(random, STREW_INT32, {{2, 50, 6}, {307, 6, 1}}, 6);
  };
  const auto strided = [](Random& random, Case& c) {
    const Dims& shape = c.updates.shape();
    c.updates = RandomArray(random, c.data.dtype(), {shape, {2 * shape[1], 2}});
  };
  const auto with_gaps = [](Random& random, Case& c) {
    c.updates = RandomArray(random, c.data.dtype(), WithGap(c.updates.shape(), 5));
  };
  // So many that they have sums only if enough of them are touched. Their numbers, of which most
  // stand for no element, do not fit 32 bits.
  const CallShape many_pairs{"", kNd, {2, 60000}, {20000, 2}};
  // The offsets of rows have 32 bits, those of all of their elements do not.
  constexpr int64_t kAlmost = (int64_t{1} << 31) - 2;
  return {
      {"FewElements", few, STREW_INT8, STREW_ADD},
      {"SingleElements", pairs, STREW_INT32, STREW_ADD},
      {"SingleElementsDropped", pairs, STREW_INT16, STREW_MAX, drops},
      {"Rows", rows, STREW_FLOAT32, STREW_NONE},
      {"Boxes", {"", kNd, {2, 30, 30}, {100, 1}}, STREW_INT32, STREW_ADD, with_gaps},
      {"ShortRows", {"", kNd, {3, 3}, {3000, 1}}, STREW_INT8, STREW_ADD},
      {"ShortRowsOfGaps", {"", kNd, {3, 5}, {3000, 1}}, STREW_INT8, STREW_ADD, strided},
      {"ShortRowsAcrossTheLimit",
       {"", kNd, {2, 3}, {3000, 1}},
       STREW_INT8,
       STREW_ADD,
       nullptr,
       kAlmost},
      {"Lines", {"", kElements, {2, 9000}, {2, 9000}, 1}, STREW_INT8, STREW_ADD},
      {"FarAxis", {"", kElements, {3, 900}, {50, 900}, 0}, STREW_INT32, STREW_ADD},
      {"SmallSheets", lanes, STREW_INT16, STREW_ADD, apart},
      {"Updates", {"", Operator::kScatterUpdate, {2, 300, 40}, {70}, 1}, STREW_INT32, STREW_MIN},
      {"Slices",
       {"", Operator::kSliceScatterInt64, {2, 40, 50}, {1, -3, 2}},
       STREW_INT16,
       STREW_ADD},
      {"Caches", {"", Operator::kTensorScatter, {3, 400, 30}, {90}, 1}, STREW_INT8, STREW_NONE},
      {"ComplexProducts", pairs, STREW_COMPLEX64, STREW_MUL | STREW_EXCLUDE_SELF},
      {"ComplexProductsOfSmallSheets", lanes, STREW_COMPLEX64, STREW_MUL | STREW_EXCLUDE_SELF,
       apart},
      {"MeansOfRows", rows, STREW_FLOAT32, STREW_MEAN},
      {"MeansOfSingleElements", pairs, STREW_INT16, STREW_MEAN},
      {"MeansOfSingleElementsDropped", pairs, STREW_INT16, kOfUpdates, drops},
      {"MeansOfManyElements", many_pairs, STREW_INT64, STREW_MEAN},
      {"MeansOfLines", {"", kElements, {2, 9000}, {2, 9000}, 1}, STREW_INT32, STREW_MEAN},
  };
}

class Far : public testing::TestWithParam<FarCase> {};

INSTANTIATE_TEST_SUITE_P(Places, Far, testing::ValuesIn(FarCases()),
                         [](const auto& test) { return test.param.name; });

TEST_P(Far, AreAsGoodAsNearOnes) {
  Random random(Seed());
  Case c = MakeCase(random, GetParam().call_shape, GetParam().dtype, true);
  c.reduction = GetParam().reduction;
  if (GetParam().change) GetParam().change(random, c);
  FarOutput output(c, GetParam().apart);
  if (!output.exists()) GTEST_SKIP() << "no room for addresses of 64 bits";
  std::vector<unsigned char> near = c.data.Snapshot();
  const Outcome outcome = Expect(c, c.data.view(), c.data.ViewOf(near.data()));
  ASSERT_EQ(outcome.status, STREW_OK);
  StdThreads threads;
  for (const Target& target : Targets()) {
    strew_context* const context = target.context.get();
    ASSERT_EQ(strew_context_set_index_policy(context, c.policy), STREW_OK);
    for (const int32_t workers : {1, 8}) {
      output.Spoil();
      threads.InstallIn(context, workers);
      EXPECT_EQ(Call(c, context, output.tensor()), STREW_OK) << strew_context_error(context);
      EXPECT_EQ(strew_context_applied(context), outcome.applied);
      EXPECT_EQ(output.DifferenceFrom(c.data.ViewOf(near.data())), "")
          << target.name << ", " << workers << " workers: " << Describe(c);
    }
    ASSERT_EQ(strew_context_set_index_policy(context, STREW_INDEX_ERROR), STREW_OK);
    ASSERT_EQ(strew_context_set_parallel_for(context, nullptr, nullptr, 0), STREW_OK);
  }
}

// Between far tensors, and between their copies without gaps.
using MakePlan = strew_plan* (*)(const strew_tensor* indices);

// Compares weighted sums between far tensors with those between near ones.
void ExpectFarPasses(const CallShape& shape, MakePlan make) {
  Random random(Seed());
  for (const strew_dtype dtype : {STREW_INT16, STREW_COMPLEX64, STREW_COMPLEX128}) {
    Case cases[] = {MakeCase(random, shape, dtype, true), MakeCase(random, shape, dtype, true)};
    FarOutput far[] = {FarOutput(cases[0]), FarOutput(cases[1])};
    if (!far[0].exists() || !far[1].exists()) GTEST_SKIP() << "no room for addresses of 64 bits";
    Plan plans[2];
    for (int i = 0; i < 2; ++i) {
      plans[i].reset(make(cases[i].indices->tensor()));
      ASSERT_NE(plans[i], nullptr);
      far[i].CopyFrom(cases[i].data.view());
    }
    const auto pass = [&](strew_tensor* source, strew_tensor* output) {
      return strew_plan_gather_scatter(nullptr, plans[0].get(), source, cases[0].updates.tensor(),
                                       plans[1].get(), output, STREW_ADD, output);
    };
    EXPECT_EQ(pass(far[0].tensor(), far[1].tensor()), STREW_OK);
    EXPECT_EQ(pass(cases[0].data.tensor(), cases[1].data.tensor()), STREW_OK);
    EXPECT_EQ(far[1].DifferenceFrom(cases[1].data.view()), "") << NameOf(dtype);
  }
}

TEST(FarPlans, PassShortLoops) {
  ExpectFarPasses({"", Operator::kScatterElements, {2, 50, 6}, {2, 50, 6}, 2},
                  [](const strew_tensor* indices) {
                    strew_plan* plan = nullptr;
                    strew_plan_scatter_elements(nullptr, indices, 2, 6, &plan);
                    return plan;
                  });
}

TEST(FarPlans, PassShortRows) {
  ExpectFarPasses({"", Operator::kScatterUpdate, {50, 3}, {300}, 0},
                  [](const strew_tensor* indices) {
                    strew_plan* plan = nullptr;
                    strew_plan_scatter_update(nullptr, indices, 0, 50, &plan);
                    return plan;
                  });
}

}  // namespace
}  // namespace strew_test
