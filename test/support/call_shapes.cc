// SPDX-License-Identifier: Apache-2.0
#include "support/call_shapes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "reference/dtypes.h"
#include "reference/indices.h"
#include "support/reference.h"

namespace strew_test {
namespace {

constexpr Operator kElements = Operator::kScatterElements;
constexpr Operator kNd = Operator::kScatterNd;
constexpr Operator kSlice = Operator::kSliceScatterInt64;
constexpr Operator kUpdate = Operator::kScatterUpdate;
constexpr Operator kCache = Operator::kTensorScatter;

}  // namespace

Layout WithGap(const Dims& shape, int64_t gap) {
  Dims padded = shape;
  padded.back() += gap;
  return {shape, RowMajor(padded).strides};
}

namespace {

// ---- Values ------------------------------------------------------------------------------------

// Which bits of a number are random and what the others are, repeated through 8 bytes.
struct Pattern {
  uint64_t random;
  uint64_t fixed;
};

// Floats have any sign and lie in [1/4, 1/2): their sums round, and no product overflows.
Pattern PatternOf(const Dtype& dtype) {
  if (!dtype.has_format()) return {~uint64_t{0}, 0};
  const size_t width = dtype.component_width();
  const auto bits = static_cast<int>(8 * width);
  const uint64_t repeat = ~uint64_t{0} / (~uint64_t{0} >> (64 - bits));
  const uint64_t bias = (uint64_t{1} << (bits - 2 - dtype.format.fraction_bits)) - 1;
  const uint64_t fraction = (uint64_t{1} << dtype.format.fraction_bits) - 1;
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return {repeat * (sign | fraction), repeat * ((bias - 2) << dtype.format.fraction_bits)};
}

}  // namespace

// Xorshift: a byte costs a fraction of what it does with Random.
void FillWithTameNumbers(Random& random, Array& array) {
  const Dtype dtype = Find(array.dtype());
  const Pattern pattern = PatternOf(dtype);
  unsigned char* const bytes = array.buffer().bytes();
  const size_t size = array.buffer().size();
  uint64_t state = random.Bits() | 1;
  for (size_t i = 0; i < size; i += sizeof(state)) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const uint64_t bits = (state & pattern.random) | pattern.fixed;
    std::memcpy(bytes + i, &bits, std::min(sizeof(bits), size - i));
  }
  if (dtype.kind != Kind::kBool) return;
  for (size_t i = 0; i < size; ++i) bytes[i] = bytes[i] % 2 == 0 ? 0 : bytes[i];
}

namespace {

// ---- Indices -----------------------------------------------------------------------------------

int64_t DimOf(const CallShape& call_shape, int64_t component) {
  return call_shape.data[static_cast<size_t>(call_shape.op == kNd ? component : call_shape.axis)];
}

// The value of entry i of n on an axis of `dim` elements.
int64_t SpreadIndex(Random& random, const CallShape& call_shape, int64_t i, int64_t n,
                    int64_t dim) {
  const int64_t anywhere = random.Between(std::max(-dim, LowestIndex(call_shape.index)), dim - 1);
  const double fraction = static_cast<double>(random.Bits() >> 11) / 9007199254740992.0;
  switch (call_shape.spread) {
    case Spread::kAllEqual:
      return dim / 2;
    case Spread::kHalfEqual:
      return i % 2 == 0 ? dim / 3 : anywhere;
    case Spread::kSorted:
      return i * dim / n;
    case Spread::kReversed:
      return dim - 1 - i * dim / n;
    case Spread::kZipf:
      return std::min(static_cast<int64_t>(std::pow(dim, fraction)) - 1, dim - 1);
    default:
      return anywhere;
  }
}

}  // namespace

Array MakeIndices(Random& random, const CallShape& call_shape) {
  Array array(call_shape.index, RowMajor(call_shape.indices));
  const int64_t size = Product(call_shape.indices);
  const int64_t components = call_shape.op == kNd ? call_shape.indices.back() : 1;
  const bool along_rows = call_shape.spread == Spread::kAlongRows && call_shape.op == kElements;
  const int64_t row = along_rows ? call_shape.indices.back() : 1;
  const auto width = static_cast<int64_t>(WidthOf(call_shape.index));
  int64_t value = 0;
  for (int64_t i = 0; i < size; ++i) {
    const int64_t component = i % components;
    const int64_t dim = DimOf(call_shape, component);
    if (i % row == 0) {
      value = SpreadIndex(random, call_shape, i / components, size / components, dim);
    }
    if (call_shape.spread == Spread::kOneRow && component == 0) value = dim / 2;
    WriteIndex(call_shape.index, array.buffer().bytes() + i * width, value);
  }
  return array;
}

const std::vector<Spread>& Spreads() {
  static const std::vector<Spread> spreads = {
      Spread::kUniform,  Spread::kAllEqual, Spread::kHalfEqual, Spread::kSorted,
      Spread::kReversed, Spread::kZipf,     Spread::kOneRow,    Spread::kAlongRows};
  return spreads;
}

std::string NameOf(Spread spread) {
  static const char* const names[] = {"Uniform",  "AllEqual", "HalfEqual", "Sorted",
                                      "Reversed", "Zipf",     "OneRow",    "AlongRows"};
  return names[static_cast<int>(spread)];
}

// ---- Call shapes -------------------------------------------------------------------------------

Dims CallShape::UpdatesShape() const {
  if (op == kElements) return indices;
  Dims shape;
  if (op == kUpdate || op == kCache) {
    shape = data;
    const auto place = shape.erase(shape.begin() + axis);
    shape.insert(place, indices.begin(), indices.end());
    return shape;
  }
  if (op == kNd) {
    shape.assign(indices.begin(), indices.end() - 1);
    shape.insert(shape.end(), data.begin() + indices.back(), data.end());
    return shape;
  }
  for (size_t i = 0; i < data.size(); ++i) {
    const int64_t step = std::abs(indices[i]);
    shape.push_back((data[i] + step - 1) / step);
  }
  if (broadcasts) shape.back() = 1;
  return shape;
}

std::vector<CallShape> CallShapes(int64_t single, int64_t in_runs) {
  const auto part = [=](int64_t divisor) { return std::max<int64_t>(single / divisor, 2); };
  const auto runs = [=](int64_t divisor) { return std::max<int64_t>(in_runs / divisor, 2); };
  std::vector<CallShape> call_shapes = {
      {"last axis", kElements, {part(256), 256}, {part(256), 256}, 1, STREW_INT32, 3},
      {"short last axis", kElements, {part(12), 12}, {part(12), 12}, 1, STREW_UINT8},
      {"first axis", kElements, {256, part(256)}, {256, part(256)}, 0, STREW_INT64, 1},
      {"tall axis", kElements, {part(8), 2}, {part(2), 2}, 0, STREW_INT32},
      {"middle axis", kElements, {4, part(128), 32}, {4, part(128), 32}, 1, STREW_INT32},
      {"one line", kElements, {part(4)}, {single}, 0},
      {"single elements", kNd, {part(4)}, {single, 1}, 0, STREW_INT32},
      {"pairs", kNd, {64, part(512)}, {single, 2}},
      {"rows", kNd, {runs(1024), 256}, {runs(256), 1}, 0, STREW_INT64, 2},
      {"short rows", kNd, {runs(48), 12}, {runs(12), 1}, 0, STREW_INT32, 1},
      {"pairs of short rows", kNd, {8, runs(400), 12}, {runs(12), 2}},
      {"wide rows", kNd, {3, runs(8)}, {8, 1}, 0, STREW_INT8},
      {"everything", kNd, {in_runs}, {2, 0}},
      {"every other", kSlice, {2 * in_runs}, {2}},
      {"backwards", kSlice, {in_runs}, {-1}},
      {"parts of lines", kSlice, {runs(128), 256}, {-1, 2}, 0, STREW_INT64, 1},
      {"every third line", kSlice, {3 * runs(256), 256}, {-3, 1}, 0, STREW_INT64, 4},
  };
  for (CallShape& call_shape : call_shapes) {
    for (const char* const name : {"tall axis", "one line", "single elements", "pairs"}) {
      if (std::strcmp(call_shape.name, name) == 0) call_shape.lands_anywhere = true;
    }
  }
  CallShape rows{"one index for each row", kElements, {runs(128), 64}, {runs(64), 64}};
  rows.spread = Spread::kAlongRows;
  call_shapes.push_back(rows);
  CallShape lines{"one update for each line", kSlice, {runs(256), 256}, {-1, 1}, 0, STREW_INT64, 1};
  lines.broadcasts = true;
  call_shapes.push_back(lines);
  return call_shapes;
}

std::vector<CallShape> AxisCallShapes(int64_t single, int64_t in_runs) {
  const auto part = [=](int64_t divisor) { return std::max<int64_t>(single / divisor, 2); };
  const auto runs = [=](int64_t divisor) { return std::max<int64_t>(in_runs / divisor, 2); };
  std::vector<CallShape> call_shapes = {
      {"rows by index", kUpdate, {runs(1024), 256}, {runs(256)}, 0, STREW_INT64, 2},
      {"short rows by index", kUpdate, {5, runs(240), 12}, {runs(60)}, 1, STREW_INT32, 1},
      {"last axis by index", kUpdate, {256, 100}, {part(256)}, 1, STREW_INT8, 3},
      {"one line by index", kUpdate, {part(4)}, {part(64), 64}, 0, STREW_INT32},
      {"linear cache", kCache, {8, 4, runs(512), 16}, {runs(1024)}, 2, STREW_INT64, 1},
      {"circular cache", kCache, {6, runs(192), 32}, {runs(256)}, 1, STREW_INT32},
      {"circular lines", kCache, {runs(100), 200}, {100}, 1, STREW_UINT8},
  };
  for (size_t i = call_shapes.size() - 2; i < call_shapes.size(); ++i)
    call_shapes[i].mode = STREW_CACHE_CIRCULAR;
  return call_shapes;
}

std::vector<CallShape> AllCallShapes(int64_t updates) {
  std::vector<CallShape> call_shapes = CallShapes(updates);
  const std::vector<CallShape> axis_works = AxisCallShapes(updates, updates);
  call_shapes.insert(call_shapes.end(), axis_works.begin(), axis_works.end());
  return call_shapes;
}

// ---- Cases -------------------------------------------------------------------------------------

namespace {

Array TameArray(Random& random, strew_dtype dtype, Layout layout) {
  Array array(dtype, std::move(layout));
  FillWithTameNumbers(random, array);
  return array;
}

Array MakeWriteIndices(Random& random, const CallShape& call_shape) {
  const int64_t max = DimOf(call_shape, 0);
  const bool circular = call_shape.mode == STREW_CACHE_CIRCULAR;
  Array array(call_shape.index, RowMajor({call_shape.data[0]}));
  ForEachIndex(array.shape(), [&](const Dims& b) {
    const int64_t last = circular ? HighestIndex(call_shape.index) : max - call_shape.indices[0];
    WriteIndex(call_shape.index, array.view().At(b), random.Between(0, last));
  });
  return array;
}

void MakeSlice(const CallShape& call_shape, Case& c) {
  Dims start, stop;
  for (size_t i = 0; i < call_shape.data.size(); ++i) {
    const bool forwards = call_shape.indices[i] > 0;
    start.push_back(forwards ? 0 : call_shape.data[i]);
    stop.push_back(forwards ? call_shape.data[i] : -call_shape.data[i] - 1);
  }
  const Dims shape = {static_cast<int64_t>(call_shape.data.size())};
  c.SetSlice(start, stop, call_shape.indices);
}

}  // namespace

Case MakeCase(Random& random, const CallShape& call_shape, strew_dtype dtype, bool in_place) {
  Case c{call_shape.op, TameArray(random, dtype, WithGap(call_shape.data, call_shape.gap)),
         TameArray(random, dtype, RowMajor(call_shape.UpdatesShape()))};
  if (!in_place) c.output = TameArray(random, dtype, WithGap(call_shape.data, call_shape.gap));
  c.axis = call_shape.axis;
  c.mode = call_shape.mode;
  if (call_shape.op == kSlice) {
    MakeSlice(call_shape, c);
  } else {
    c.indices = call_shape.op == kCache ? MakeWriteIndices(random, call_shape)
                                        : MakeIndices(random, call_shape);
  }
  return c;
}

}  // namespace strew_test
