// SPDX-License-Identifier: Apache-2.0
#include "any_request.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "reference/dtypes.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kArena = static_cast<int64_t>(Arena::kSize);
constexpr int64_t kMostElements = 24;
constexpr int64_t kMostWidth = 24;

using OperandOf = Operand Request::*;
constexpr OperandOf kOperands[] = {&Request::data,    &Request::updates, &Request::output,
                                   &Request::indices, &Request::start,   &Request::stop,
                                   &Request::step,    &Request::axes};
constexpr size_t kNumbers = 3;  // data, updates and output

// Mostly one of the operands that the operator reads.
Operand& AnyOperand(Random& random, Request& r) {
  const int64_t lists = IsSlice(r.op) ? 4 : 0;
  const auto choice = static_cast<size_t>(random.Between(0, lists > 0 ? 6 : 3));
  if (choice < kNumbers || lists == 0) return r.*kOperands[choice];
  return r.*kOperands[choice + 1];
}

Operand& AnyIndexOperand(Random& random, Request& r) {
  if (!IsSlice(r.op)) return r.indices;
  return r.*kOperands[static_cast<size_t>(random.Between(4, 7))];
}

// ---- Changes ------------------------------------------------------------------------------------

void ChangeHandle(Random& random, Request& r) {
  Operand& operand = AnyOperand(random, r);
  if (random.OneIn(3)) {
    operand.null = true;
  } else if (random.OneIn(2)) {
    operand.bound = false;
  } else {
    operand.read_only = true;
  }
}

strew_dtype AnyDtype(Random& random) {
  for (;;) {
    const Dtype dtype = random.Pick(Dtypes());
    if (static_cast<int64_t>(dtype.width) <= kMostWidth) return dtype.code;
  }
}

void ChangeDtype(Random& random, Request& r) {
  const strew_dtype dtype = AnyDtype(random);
  if (random.OneIn(3)) return r.SetDtype(dtype);
  if (random.OneIn(2)) {
    AnyIndexOperand(random, r).dtype = random.Pick(IndexDtypes()).code;
  } else {
    AnyOperand(random, r).dtype = dtype;
  }
}

void ChangeReduction(Random& random, Request& r) {
  r.reduction = static_cast<strew_reduction>(random.Between(0, 7));
  if (random.OneIn(3)) r.reduction |= STREW_EXCLUDE_SELF;
  if (random.OneIn(3)) r.reduction |= STREW_WIDE;
  if (random.OneIn(8)) r.reduction = static_cast<strew_reduction>(AnyExtreme(random));
  r.mode =
      static_cast<strew_cache_mode>(random.OneIn(4) ? AnyExtreme(random) : random.Between(0, 1));
}

int64_t AnySmallDim(Random& random) { return random.OneIn(6) ? 0 : random.Between(1, 5); }

void ChangeShape(Random& random, Request& r) {
  Operand& operand = AnyOperand(random, r);
  Dims shape = operand.layout.shape;
  const int64_t choice = random.Between(0, 4);
  if (choice == 0 || shape.empty()) {
    shape.assign(static_cast<size_t>(random.Between(0, 4)), 0);
    for (int64_t& dim : shape) dim = AnySmallDim(random);
    if (random.OneIn(8)) shape.assign(static_cast<size_t>(random.Between(5, 32)), 1);
  } else {
    int64_t& dim = shape[random.Bits() % shape.size()];
    if (choice == 1) dim = AnySmallDim(random);
    if (choice == 2) dim = std::max<int64_t>(dim + random.Between(-1, 1), 0);
    if (choice == 3 && shape.size() < 32) shape.push_back(1);
    if (choice == 4) shape.pop_back();
  }
  operand.SetShape(shape);
  if (random.OneIn(2)) r.output.SetShape(r.data.layout.shape);
}

// One dim of all three, so that the call may still be good.
void ChangeAllShapes(Random& random, Request& r) {
  if (r.data.layout.shape.size() != 2 || r.updates.layout.shape.size() != 2) return;
  const auto axis = static_cast<size_t>(random.Between(0, 1));
  const int64_t dim = random.OneIn(2) ? 0 : random.Between(1, 4);
  for (const OperandOf operand : {&Request::data, &Request::updates, &Request::output}) {
    Dims shape = (r.*operand).layout.shape;
    if (shape.size() == 2) shape[axis] = dim;
    if (dim == 0 && !shape.empty() && random.OneIn(2)) shape[0] = 0;
    (r.*operand).SetShape(shape);
  }
  if (r.op == Operator::kScatterElements) r.indices.SetShape(r.updates.layout.shape);
}

void ChangeStrides(Random& random, Request& r) {
  Layout& layout = AnyOperand(random, r).layout;
  for (size_t i = 0; i < layout.shape.size(); ++i) {
    if (layout.shape[i] <= 1 && random.OneIn(2)) layout.strides[i] = AnyExtreme(random);
    if (layout.shape[i] <= 1 || random.OneIn(2)) continue;
    layout.strides[i] = random.OneIn(2) ? -layout.strides[i] : random.Between(-6, 6);
  }
}

// Anywhere, mostly near another operand.
void ChangePlace(Random& random, Request& r) {
  Operand& operand = random.OneIn(2) ? r.output : AnyOperand(random, r);
  const Operand& other = AnyOperand(random, r);
  operand.offset = other.offset + static_cast<size_t>(8 * random.Between(0, 12));
  if (random.OneIn(4)) operand.offset = static_cast<size_t>(8 * random.Between(0, kArena / 8 - 1));
}

void ChangeToInPlace(Random& random, Request& r) {
  r.output.offset = r.data.offset;
  if (!random.OneIn(4)) r.output.layout = r.data.layout;
}

void ChangeAxis(Random& random, Request& r) {
  r.axis = random.OneIn(3) ? AnyExtreme(random) : random.Between(-3, 2);
  if (random.OneIn(4)) r.count = random.OneIn(2) ? AnyExtreme(random) : random.Between(-1, 3);
}

void ChangeValues(Random& random, Request& r) {
  Operand& operand = AnyIndexOperand(random, r);
  if (operand.values.empty()) return;
  if (random.OneIn(3)) operand.values.assign(operand.values.size(), random.Between(-2, 2));
  for (int64_t& value : operand.values) {
    if (random.OneIn(3)) value = random.OneIn(2) ? AnyExtreme(random) : random.Between(-5, 5);
  }
}

void ChangeSlice(Random& random, Request& r) {
  if (!IsSlice(r.op)) return;
  const int64_t entries = random.Between(0, 3);
  Dims start, stop, step, axes;
  for (int64_t i = 0; i < entries; ++i) {
    start.push_back(random.Between(-5, 5));
    stop.push_back(random.Between(-5, 5));
    step.push_back(random.Between(-2, 2));
    axes.push_back(random.OneIn(4) ? random.Between(-3, 2) : i);
  }
  r.SetSlice(start, stop, step, axes);
  const Dims shapes[] = {{1}, {}, {1, 1}, {2, 4}};
  r.updates.SetShape(shapes[random.Between(0, 3)]);
}

using Change = void (*)(Random&, Request&);
constexpr Change kChanges[] = {ChangeHandle, ChangeDtype,     ChangeReduction, ChangeShape,
                               ChangeShape,  ChangeAllShapes, ChangeStrides,   ChangePlace,
                               ChangePlace,  ChangeToInPlace, ChangeAxis,      ChangeValues,
                               ChangeValues, ChangeSlice};

// ---- What the test itself has to keep to --------------------------------------------------------

// Puts an operand whose elements would leave the arena where they do not.
void Fit(Operand& operand) {
  Layout& layout = operand.layout;
  if (Product(layout.shape) > kMostElements) operand.SetShape({3, 4});
  if (Span(layout) > 4 * kMostElements) layout = RowMajor(layout.shape);
  const auto width = static_cast<int64_t>(WidthOf(operand.dtype));
  const int64_t before = Origin(layout) * width;
  const int64_t behind = std::max<int64_t>(Span(layout) * width - before, width);
  const int64_t last = (kArena - behind) / 8 * 8;
  const int64_t offset = std::min(static_cast<int64_t>(operand.offset), last);
  operand.offset = static_cast<size_t>(std::max(offset, (before + 7) / 8 * 8));
}

// Dims may have any size where nothing is addressed; 4 becomes one value everywhere.
void Enlarge(Operand& operand, int64_t dim, int64_t stride) {
  Layout& layout = operand.layout;
  if (Product(layout.shape) > 0) return;
  std::replace(layout.shape.begin(), layout.shape.end(), int64_t{4}, dim);
  layout.strides.assign(layout.shape.size(), stride);
}

// DLPack, which says that memory is read-only, does not know every dtype.
bool MayBeReadOnly(const Operand& operand) {
  return operand.dtype >= STREW_BOOL && operand.dtype <= STREW_COMPLEX128;
}

// Plain arrays have as many entries as a call may read.
void Pad(Request& r) {
  for (const OperandOf list : {&Request::start, &Request::stop, &Request::step, &Request::axes}) {
    (r.*list).values.resize(8, 1);
  }
}

}  // namespace

Request AnyRequest(Random& random, Operator op) {
  Request r = GoodRequest(op);
  for (int64_t changes = random.Between(1, 5); changes > 0; --changes) {
    kChanges[random.Bits() % (sizeof(kChanges) / sizeof(kChanges[0]))](random, r);
  }
  const bool enlarges = random.OneIn(4);
  const int64_t dim = random.OneIn(2) ? kMost : int64_t{1} << 40;
  for (const OperandOf operand : kOperands) {
    Fit(r.*operand);
    if (enlarges) Enlarge(r.*operand, dim, AnyExtreme(random));
    (r.*operand).read_only = (r.*operand).read_only && MayBeReadOnly(r.*operand);
  }
  if (op == Operator::kSliceScatterInt64) Pad(r);
  return r;
}

Settings AnySettings(Random& random) {
  Settings settings;
  if (random.OneIn(3)) settings.wrap = false;
  if (random.OneIn(3)) settings.policy = random.OneIn(2) ? STREW_INDEX_DROP : STREW_INDEX_CLAMP;
  if (random.OneIn(3)) settings.duplicates = STREW_DUPLICATE_ERROR;
  return settings;
}

int64_t AnyExtreme(Random& random) {
  static const std::vector<int64_t> extremes = {0,
                                                kMost,
                                                kLeast,
                                                int64_t{1} << 8,
                                                int64_t{1} << 16,
                                                int64_t{1} << 31,
                                                int64_t{1} << 32,
                                                int64_t{1} << 61,
                                                int64_t{1} << 62};
  auto bits = static_cast<uint64_t>(random.Pick(extremes));
  if (random.OneIn(2)) bits += static_cast<uint64_t>(random.Between(-4, 4));
  if (random.OneIn(3)) bits = 0 - bits;
  return static_cast<int64_t>(bits);
}

namespace {

std::string Describe(const Operand& operand) {
  std::string text = std::string("\n  ") + operand.name;
  if (operand.null) return text + " NULL, values " + ToString(operand.values);
  text += " dtype " + std::to_string(operand.dtype) + " shape " + ToString(operand.layout.shape) +
          " strides " + ToString(operand.layout.strides) + " at " + std::to_string(operand.offset);
  if (!operand.bound) text += " unbound";
  if (operand.read_only) text += " read-only";
  return operand.values.empty() ? text : text + " values " + ToString(operand.values);
}

}  // namespace

std::string Describe(const Request& r, const Settings& settings) {
  std::string text = std::string(NameOf(r.op)) + " axis " + std::to_string(r.axis) + " count " +
                     std::to_string(r.count) + " reduction " + std::to_string(r.reduction) +
                     " mode " + std::to_string(r.mode) + " policy " +
                     std::to_string(settings.policy) + (settings.wrap ? " wrap" : " no wrap") +
                     " duplicates " + std::to_string(settings.duplicates);
  for (const OperandOf operand : kOperands) text += Describe(r.*operand);
  return text;
}

}  // namespace strew_test
