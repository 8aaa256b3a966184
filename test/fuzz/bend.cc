// SPDX-License-Identifier: Apache-2.0
#include "bend.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "reference/dtypes.h"
#include "reference/indices.h"
#include "reference/random_layout.h"
#include "reference/targets.h"
#include "support/check.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// ---- Bends -----------------------------------------------------------------------------------

std::vector<Array*> IndexOperands(Case& c) {
  std::vector<Array*> operands;
  for (std::optional<Array>* array : {&c.indices, &c.start, &c.stop, &c.step, &c.axes}) {
    if (*array) operands.push_back(&**array);
  }
  return operands;
}

// The operands that tensors describe.
std::vector<Array*> Operands(Case& c) {
  std::vector<Array*> operands = {&c.data, &c.updates};
  if (c.output) operands.push_back(&*c.output);
  if (c.op == Operator::kSliceScatterInt64) return operands;
  for (Array* array : IndexOperands(c)) operands.push_back(array);
  return operands;
}

bool IsIndexDtype(strew_dtype dtype) {
  for (const Dtype& index : IndexDtypes()) {
    if (index.code == dtype) return true;
  }
  return false;
}

// The oracle can afford these.
bool IsSmall(const Layout& layout) {
  return Product(layout.shape) <= 30000 && Span(layout) <= 100000;
}

void Replace(Random& random, Array& array, strew_dtype dtype, Layout layout) {
  if (!IsSmall(layout)) return;
  array = RandomArray(random, dtype, layout);
  if (!IsIndexDtype(dtype)) return;
  ForEachIndex(array.shape(), [&](const Dims& i) {
    const int64_t value = random.Between(-3, 3);
    WriteIndex(dtype, array.view().At(i), std::max(value, LowestIndex(dtype)));
  });
}

void BendAxis(Random& random, Case& c) {
  const auto rank = static_cast<int64_t>(c.data.shape().size());
  c.axis = random.Pick(
      Dims{0, rank, rank - 1, -rank, -rank - 1, kMost, kLeast, random.Between(-40, 40)});
}

void BendCodes(Random& random, Case& c) {
  c.reduction = static_cast<strew_reduction>(random.Between(-2, 0x207));
  c.mode = static_cast<strew_cache_mode>(random.Between(-1, 2));
}

void BendDtype(Random& random, Case& c) {
  Array& array = *random.Pick(Operands(c));
  Replace(random, array, random.Pick(Dtypes()).code, array.view().layout);
}

void BendShape(Random& random, Case& c) {
  Array& array = *random.Pick(Operands(c));
  Dims shape = array.shape();
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = random.Between(0, rank);
  const auto place = shape.begin() + axis;
  if (random.OneIn(2) && rank < 32) {
    shape.insert(place, random.Between(0, 3));
  } else if (axis == rank) {
    return;
  } else if (random.OneIn(3)) {
    shape.erase(place);
  } else {
    *place = std::max<int64_t>(*place + random.Between(-2, 2), 0);
  }
  const Use use = random.OneIn(2) ? Use::kInput : Use::kOutput;
  Replace(random, array, array.dtype(), AnyLayout(random, std::move(shape), use));
}

void BendStride(Random& random, Case& c) {
  Array& array = *random.Pick(Operands(c));
  Layout layout = array.view().layout;
  if (layout.strides.empty()) return;
  int64_t& stride = random.Pick(layout.strides.size() > 1 ? Dims{0, 1} : Dims{0}) == 0
                        ? layout.strides.front()
                        : layout.strides.back();
  stride = random.Between(-9, 9);
  Replace(random, array, array.dtype(), std::move(layout));
}

void BendValues(Random& random, Case& c) {
  const std::vector<Array*> operands = IndexOperands(c);
  if (operands.empty()) return;
  Array& array = *random.Pick(operands);
  if (!IsIndexDtype(array.dtype())) return;
  ForEachIndex(array.shape(), [&](const Dims& i) {
    if (!random.OneIn(2)) return;
    const int64_t value = random.Pick(Dims{0, 1, -1, 7, kMost, kLeast, random.Between(-50, 50)});
    if (IndexFits(array.dtype(), value)) WriteIndex(array.dtype(), array.view().At(i), value);
  });
}

// Missing, or that of another operand.
void BendMemory(Random& random, Case& c) {
  Array& array = *random.Pick(Operands(c));
  if (random.OneIn(3)) {
    strew_tensor_set_data(array.tensor(), nullptr);
    return;
  }
  const Array& other = random.OneIn(2) || !c.indices ? c.updates : *c.indices;
  const bool fits = c.output && other.buffer().size() >= c.output->buffer().size();
  if (fits)
    strew_tensor_set_data(c.output->tensor(), c.output->ViewOf(other.buffer().bytes()).origin);
}

// ---- Calls -----------------------------------------------------------------------------------

struct Refusal {
  strew_status status;
  int64_t position;
  std::string error;

  bool operator==(const Refusal& other) const {
    return status == other.status && position == other.position && error == other.error;
  }
};

bool IsJudgedByTheOracle(strew_status status) {
  return status == STREW_OK || status == STREW_INDEX_OUT_OF_RANGE ||
         status == STREW_DUPLICATE_INDEX;
}

Refusal Ask(Case& c, strew_context* context) {
  strew_context_set_negative_indices(context, c.wrap ? 1 : 0);
  strew_context_set_index_policy(context, c.policy);
  strew_context_set_duplicate_policy(context, c.duplicates);
  const strew_status status = Call(c, context, c.destination().tensor());
  return {status, strew_context_error_position(context), strew_context_error(context)};
}

bool Complain(const Case& c, const std::string& target, const char* what, const Refusal& refusal) {
  std::fprintf(stderr, "%s: %s: %s, position %lld, '%s'\n%s\n", target.c_str(), what,
               strew_status_name(refusal.status), static_cast<long long>(refusal.position),
               refusal.error.c_str(), Describe(c).c_str());
  return false;
}

}  // namespace

void Bend(Random& random, Case& c) {
  using Bender = void (*)(Random&, Case&);
  static const std::vector<Bender> benders = {BendAxis,   BendCodes,  BendDtype, BendShape,
                                              BendStride, BendValues, BendMemory};
  Bender bender;
  do {
    bender = random.Pick(benders);
    bender(random, c);
    // Operands that share memory are not replaced any more.
  } while (bender != BendMemory && random.OneIn(3));
}

bool CheckBent(Case& c) {
  const auto before = c.destination().Snapshot();
  const Refusal first = Ask(c, Targets().front().context.get());
  if (IsJudgedByTheOracle(first.status)) {
    c.destination().Restore(before);
    return Check(c);
  }
  for (Array* operand : Operands(c)) operand->buffer().SetReadOnly(true);
  bool good = !first.error.empty() && first.position == -1 && first.status > STREW_OK &&
              first.status <= STREW_RUNNER_FAILED;
  if (!good) Complain(c, Targets().front().name, "no good refusal", first);
  for (const Target& target : Targets()) {
    const Refusal refusal = Ask(c, target.context.get());
    if (!(refusal == first)) good = Complain(c, target.name, "refuses otherwise", refusal);
    if (strew_context_applied(target.context.get()) != 0) {
      good = Complain(c, target.name, "applied something", refusal);
    }
  }
  for (Array* operand : Operands(c)) operand->buffer().SetReadOnly(false);
  if (c.destination().Snapshot() != before) good = Complain(c, "", "wrote", first);
  return good;
}

}  // namespace strew_test
