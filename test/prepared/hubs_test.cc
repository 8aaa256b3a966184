// SPDX-License-Identifier: Apache-2.0
//
// Destinations that many entries name: many times more than are looked at together, and around the
// numbers at which that many end.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "prepared/check_plans.h"
#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/random.h"
#include "support/call_shapes.h"
#include "support/crash_report.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kRows = 40;  // of the source

Array Tame(Random& random, strew_dtype dtype, const Dims& shape) {
  Array array(dtype, RowMajor(shape));
  FillWithTameNumbers(random, array);
  return array;
}

// Entries that `from` drops.
enum class Dropped { kNone, kFirst, kMiddle, kLast, kAll, kSome };
const Dropped kDropped[] = {Dropped::kNone, Dropped::kFirst, Dropped::kMiddle,
                            Dropped::kLast, Dropped::kAll,   Dropped::kSome};

bool IsDropped(Dropped which, int64_t entry, int64_t entries) {
  switch (which) {
    case Dropped::kNone:
      return false;
    case Dropped::kFirst:
      return entry < std::min<int64_t>(entries / 2, 300);
    case Dropped::kMiddle:
      return entry >= entries / 3 && entry < entries / 3 + std::min<int64_t>(entries / 3, 600);
    case Dropped::kLast:
      return entry >= entries - std::min<int64_t>(entries / 2, 300);
    case Dropped::kAll:
      return true;
    default:
      return entry % 7 == 3;
  }
}

// The first and the last of three destinations are named by an entry each, the one between them by
// all others.
GatherScatterCase MakeHub(Random& random, strew_dtype dtype, int64_t entries, int64_t columns,
                          Dropped dropped) {
  const Operator op = random.OneIn(2) ? Operator::kScatterUpdate : Operator::kScatterNd;
  const auto shape = [&](int64_t rows) { return columns == 0 ? Dims{rows} : Dims{rows, columns}; };
  GatherScatterCase c{{op, Tame(random, dtype, shape(kRows)), Array(dtype, RowMajor({0}))},
                      {op, Tame(random, dtype, shape(3)), Array(dtype, RowMajor({0}))}};
  const Dims indices = op == Operator::kScatterNd ? Dims{entries, 1} : Dims{entries};
  c.from.policy = STREW_INDEX_DROP;
  c.from.indices.emplace(STREW_INT64, RowMajor(indices));
  c.to.indices.emplace(STREW_INT16, RowMajor(indices));
  const int64_t first = random.Between(0, entries - 1), last = random.Between(0, entries - 1);
  Dims from, to;
  for (int64_t e = 0; e < entries; ++e) {
    from.push_back(IsDropped(dropped, e, entries) ? kRows : random.Between(0, kRows - 1));
    to.push_back(e == first ? 0 : e == last ? 2 : 1);
  }
  WriteIndices(*c.from.indices, from);
  WriteIndices(*c.to.indices, to);
  return c;
}

void AddWeights(Random& random, GatherScatterCase& c) {
  const strew_dtype dtype = c.to.data.dtype();
  Dims shape = {c.to.indices->shape()[0]};
  if (c.to.data.shape().size() > 1) shape.push_back(random.OneIn(2) ? 1 : c.to.data.shape()[1]);
  c.weights = Tame(random, dtype, shape);
}

class Hubs : public testing::TestWithParam<std::tuple<Dtype, strew_reduction>> {
 protected:
  // All reductions with and without the old value.
  static std::vector<strew_reduction> Both(strew_reduction reduction) {
    const strew_reduction kind = reduction & ~STREW_WIDE;
    const bool both = kind != STREW_NONE && kind != STREW_SUB;
    if (!both) return {reduction};
    return {reduction, reduction | STREW_EXCLUDE_SELF};
  }

  void Expect(int64_t entries, int64_t columns, Dropped dropped) {
    const auto& [dtype, kind] = GetParam();
    for (const strew_reduction reduction : Both(kind)) {
      Random random(Seed() + static_cast<uint64_t>(entries + columns));
      GatherScatterCase c = MakeHub(random, dtype.code, entries, columns, dropped);
      c.to.reduction = reduction;
      const bool has_products = ReductionsOf(dtype).size() > 1;
      if (has_products && (entries + columns + static_cast<int64_t>(dropped)) % 2 == 0) {
        AddWeights(random, c);
      }
      SetCrashReport("%lld entries of %lld columns, dropped %d", static_cast<long long>(entries),
                     static_cast<long long>(columns), static_cast<int>(dropped));
      for (const int32_t workers : {1, 3}) {
        if (workers > 1 && entries % 2 == 0) continue;
        ASSERT_TRUE(CheckGatherScatter(c, workers))
            << entries << " entries of " << columns << " columns, dropped "
            << static_cast<int>(dropped);
      }
    }
  }
};

std::vector<std::tuple<Dtype, strew_reduction>> Pairs() {
  const std::vector<strew_dtype> codes = {STREW_BOOL,     STREW_INT8,      STREW_INT64,
                                          STREW_BFLOAT16, STREW_FLOAT32,   STREW_FLOAT8_E4M3FN,
                                          STREW_STRING,   STREW_COMPLEX64, STREW_COMPLEX128};
  std::vector<std::tuple<Dtype, strew_reduction>> pairs;
  for (const strew_dtype code : codes) {
    for (const strew_reduction reduction : AllReductionsOf(Find(code))) {
      if ((reduction & STREW_EXCLUDE_SELF) == 0) pairs.push_back({Find(code), reduction});
    }
  }
  return pairs;
}

INSTANTIATE_TEST_SUITE_P(EveryDtypeAndReduction, Hubs, testing::ValuesIn(Pairs()),
                         [](const auto& test) {
                           return TestName(std::get<0>(test.param)) + "_" +
                                  NameOf(std::get<1>(test.param)) +
                                  (std::get<1>(test.param) >= STREW_WIDE ? "_wide" : "");
                         });

// Single elements are 0 columns. Rows are combined in blocks, of 256 numbers or fewer.
TEST_P(Hubs, OfFewPieces) {
  for (const int64_t columns : {0, 2}) {
    for (const Dropped dropped : kDropped) Expect(600, columns, dropped);
  }
  Expect(700, 1, Dropped::kMiddle);
  Expect(300, 64, Dropped::kFirst);
  Expect(300, 64, Dropped::kLast);
  Expect(280, 300, Dropped::kSome);
}

TEST_P(Hubs, AroundThePieces) {
  for (const int64_t entries : {2, 3, 255, 256, 257, 258, 259, 514, 515}) {
    Expect(entries, 0, Dropped::kNone);
    Expect(entries, 3, Dropped::kLast);
  }
}

TEST_P(Hubs, OfManyPieces) {
  if (std::get<0>(GetParam()).code != STREW_FLOAT32) return Expect(5000, 0, Dropped::kSome);
  Expect(100000, 0, Dropped::kSome);
  Expect(100000, 1, Dropped::kFirst);
  Expect(20000, 2, Dropped::kMiddle);
  Expect(2000, 64, Dropped::kLast);
  Expect(2000, 300, Dropped::kSome);
}

// The same without a source: updates of a hub, and the policies of `to` only.
TEST_P(Hubs, OfUpdates) {
  const auto& [dtype, kind] = GetParam();
  for (const strew_reduction reduction : Both(kind)) {
    for (const int64_t columns : {0, 1, 2, 70}) {
      Random random(Seed());
      GatherScatterCase hub = MakeHub(random, dtype.code, 700, columns, Dropped::kNone);
      Case c = std::move(hub.to);
      Dims updates = {700};
      if (columns > 0) updates.push_back(columns);
      c.updates = Tame(random, dtype.code, updates);
      c.reduction = reduction;
      c.policy = STREW_INDEX_DROP;
      WriteIndex(STREW_INT16, c.indices->view().At(Dims(c.indices->shape().size(), 0)), 99);
      ASSERT_TRUE(CheckScatter(c)) << columns;
    }
  }
}

}  // namespace
}  // namespace strew_test
