// SPDX-License-Identifier: Apache-2.0
#include "parallel_call.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "support/dtypes.h"
#include "support/indices.h"
#include "support/random.h"

namespace strew_test {
namespace {

constexpr Operator kElements = Operator::kScatterElements;
constexpr Operator kNd = Operator::kScatterNd;
constexpr Operator kSlice = Operator::kSliceScatterInt64;

Layout WithGap(const Dims& shape, int64_t gap) {
  Dims padded = shape;
  padded.back() += gap;
  return {shape, RowMajor(padded).strides};
}

// ---- Values ------------------------------------------------------------------------------------

// Which bits of a number are random and what the others are, repeated through 8 bytes.
struct Pattern {
  uint64_t random;
  uint64_t fixed;
};

// Floats have any sign and lie in [1/4, 1/2): their sums round, and no product overflows.
Pattern PatternOf(const Dtype& dtype) {
  if (dtype.fraction_bits == 0) return {~uint64_t{0}, 0};
  const size_t width = dtype.kind == Kind::kComplex ? dtype.width / 2 : dtype.width;
  const auto bits = static_cast<int>(8 * width);
  const uint64_t repeat = ~uint64_t{0} / (~uint64_t{0} >> (64 - bits));
  const uint64_t bias = (uint64_t{1} << (bits - 2 - dtype.fraction_bits)) - 1;
  const uint64_t fraction = (uint64_t{1} << dtype.fraction_bits) - 1;
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return {repeat * (sign | fraction), repeat * ((bias - 2) << dtype.fraction_bits)};
}

// Half of bools are false, and the others odd; gaps are filled too. Xorshift: a byte costs a fraction
// of what it does with Random.
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

// ---- Indices -----------------------------------------------------------------------------------

int64_t DimOf(const Work& work, int64_t component) {
  return work.data[static_cast<size_t>(work.op == kNd ? component : work.axis)];
}

// The value of entry i of n on an axis of `dim` elements.
int64_t SpreadIndex(Random& random, const Work& work, int64_t i, int64_t n, int64_t dim) {
  const int64_t anywhere = random.Between(std::max(-dim, LowestIndex(work.index)), dim - 1);
  const double fraction = static_cast<double>(random.Bits() >> 11) / 9007199254740992.0;
  switch (work.spread) {
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

Array MakeIndices(Random& random, const Work& work) {
  Array array(work.index, RowMajor(work.indices));
  const int64_t size = Product(work.indices);
  const int64_t components = work.op == kNd ? work.indices.back() : 1;
  const bool along_rows = work.spread == Spread::kAlongRows && work.op == kElements;
  const int64_t row = along_rows ? work.indices.back() : 1;
  const auto width = static_cast<int64_t>(WidthOf(work.index));
  int64_t value = 0;
  for (int64_t i = 0; i < size; ++i) {
    const int64_t component = i % components;
    const int64_t dim = DimOf(work, component);
    if (i % row == 0) {
      value = SpreadIndex(random, work, i / components, size / components, dim);
    }
    if (work.spread == Spread::kOneRow && component == 0) value = dim / 2;
    WriteIndex(work.index, array.buffer().bytes() + i * width, value);
  }
  return array;
}

}  // namespace

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

// ---- Works -------------------------------------------------------------------------------------

Dims Work::UpdatesShape() const {
  if (op == kElements) return indices;
  Dims shape;
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

std::vector<Work> Works(int64_t single, int64_t in_runs) {
  const auto part = [=](int64_t divisor) { return std::max<int64_t>(single / divisor, 2); };
  const auto runs = [=](int64_t divisor) { return std::max<int64_t>(in_runs / divisor, 2); };
  std::vector<Work> works = {
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
      {"everything", kNd, {runs(4)}, {4, 0}},
      {"every other", kSlice, {2 * in_runs}, {2}},
      {"backwards", kSlice, {in_runs}, {-1}},
      {"parts of lines", kSlice, {runs(128), 256}, {-1, 2}, 0, STREW_INT64, 1},
      {"every third line", kSlice, {3 * runs(256), 256}, {-3, 1}, 0, STREW_INT64, 4},
  };
  for (Work& work : works) {
    for (const char* const name : {"tall axis", "one line", "single elements", "pairs"}) {
      if (std::strcmp(work.name, name) == 0) work.lands_anywhere = true;
    }
  }
  Work rows{"one index for each row", kElements, {runs(128), 64}, {runs(64), 64}};
  rows.spread = Spread::kAlongRows;
  works.push_back(rows);
  Work lines{"one update for each line", kSlice, {runs(256), 256}, {-1, 1}, 0, STREW_INT64, 1};
  lines.broadcasts = true;
  works.push_back(lines);
  return works;
}

// ---- A call ------------------------------------------------------------------------------------

LargeCall::LargeCall(const Work& work, strew_dtype dtype, strew_reduction reduction)
    : work_(work),
      reduction_(reduction),
      data_(dtype, WithGap(work.data, work.gap)),
      updates_(dtype, RowMajor(work.UpdatesShape())),
      output_(dtype, WithGap(work.data, work.gap)) {
  Random random(Seed());
  FillWithTameNumbers(random, data_);
  FillWithTameNumbers(random, updates_);
  data_before_ = data_.Snapshot();
  output_before_.assign(output_.buffer().size(), 0xE7);
  if (work.op != kSlice) {
    indices_ = MakeIndices(random, work_);
    return;
  }
  for (size_t i = 0; i < work.data.size(); ++i) {
    const bool forwards = work.indices[i] > 0;
    start_.push_back(forwards ? 0 : work.data[i]);
    stop_.push_back(forwards ? work.data[i] : -work.data[i] - 1);
  }
}

strew_status LargeCall::Call(strew_context* context) const {
  const strew_tensor* const data = data_.tensor();
  const strew_tensor* const updates = updates_.tensor();
  strew_tensor* const output = place_ == Place::kInPlace ? data_.tensor() : output_.tensor();
  if (work_.op == kElements) {
    return strew_scatter_elements(context, data, indices_->tensor(), updates, work_.axis,
                                  reduction_, output);
  }
  if (work_.op == kNd) {
    return strew_scatter_nd(context, data, indices_->tensor(), updates, reduction_, output);
  }
  return strew_slice_scatter_int64(context, data, updates, static_cast<int64_t>(start_.size()),
                                   start_.data(), stop_.data(), work_.indices.data(), nullptr,
                                   reduction_, output);
}

strew_status LargeCall::Send(strew_context* context) {
  output().Restore(before());
  std::vector<Array*> inputs = {&updates_};
  if (indices_) inputs.push_back(&*indices_);
  if (place_ == Place::kNewOutput) inputs.push_back(&data_);
  for (Array* input : inputs) input->buffer().SetReadOnly(true);
  const strew_status status = Call(context);
  for (Array* input : inputs) input->buffer().SetReadOnly(false);
  return status;
}

Bytes LargeCall::Alone() {
  EXPECT_EQ(Send(nullptr), STREW_OK) << Describe();
  return output().Snapshot();
}

std::string LargeCall::Trouble(strew_context* context, const Bytes& expected) {
  const strew_status status = Send(context);
  if (status != STREW_OK) {
    return std::string(strew_status_name(status)) + " " + strew_context_error(context);
  }
  if (!output().buffer().IsMarginIntact()) return "wrote outside of the output";
  if (context != nullptr && strew_context_applied(context) != Product(updates_.shape())) {
    return "applied " + std::to_string(strew_context_applied(context));
  }
  const unsigned char* const bytes = output().buffer().bytes();
  if (std::equal(expected.begin(), expected.end(), bytes)) return "";
  const auto differ = std::mismatch(expected.begin(), expected.end(), bytes).first;
  return "byte " + std::to_string(differ - expected.begin()) + " of " +
         std::to_string(expected.size()) + " differs";
}

std::string LargeCall::Describe() const {
  return std::string(NameOf(work_.op)) + " of " + work_.name + ", " + NameOf(work_.spread) + ", " +
         TestName(Find(data_.dtype())) + " " + NameOf(reduction_) + ", data " +
         ToString(work_.data) + ", " + (place_ == Place::kInPlace ? "in place" : "new output");
}

// ---- Targets and workers -------------------------------------------------------------------------

std::vector<const Target*> ChosenTargets() {
  const char* const wanted = std::getenv("STREW_TARGETS");
  const std::string list = "," + std::string(wanted == nullptr ? "" : wanted) + ",";
  std::vector<const Target*> chosen;
  for (const Target& target : Targets()) {
    const bool best = &target == &Targets().front() && list.find(",best,") != std::string::npos;
    const bool named = list.find("," + target.name + ",") != std::string::npos;
    if (wanted == nullptr || best || named) chosen.push_back(&target);
  }
  if (chosen.empty()) {
    std::fprintf(stderr, "STREW_TARGETS=%s names no instruction set of this machine\n", wanted);
    std::abort();
  }
  return chosen;
}

namespace {

void* RefuseScratch(void*, size_t, size_t) { return nullptr; }
void FreeNothing(void*, void*, size_t) {}

// How a call with several workers is made, besides their number.
struct Circumstances {
  bool on_threads;
  bool has_scratch;
};

std::string ToString(const Circumstances& how) {
  return std::string(how.on_threads ? " on threads" : " backwards") +
         (how.has_scratch ? "" : " without scratch");
}

// Calls it so. Answers the largest count that the runner was asked for.
int64_t CheckCall(LargeCall& call, const Target& target, int32_t workers, const Circumstances& how,
                  const Bytes& expected) {
  static StdThreads threads;
  static Backwards backwards;
  strew_context* const context = target.context.get();
  Recorder recorder(how.on_threads ? static_cast<Runner&>(threads) : backwards);
  recorder.InstallIn(context, workers);
  if (!how.has_scratch) {
    EXPECT_EQ(strew_context_set_allocator(context, RefuseScratch, FreeNothing, nullptr), STREW_OK);
  }
  const std::string trouble = call.Trouble(context, expected);
  EXPECT_EQ(strew_context_set_allocator(context, nullptr, nullptr, nullptr), STREW_OK);
  EXPECT_EQ(strew_context_set_parallel_for(context, nullptr, nullptr, 0), STREW_OK);
  EXPECT_EQ(trouble, "") << target.name << ", " << workers << " workers" << ToString(how) << ": "
                         << call.Describe();
  EXPECT_LE(recorder.largest_count(), workers) << call.Describe();
  return recorder.largest_count();
}

}  // namespace

int64_t CheckWorkers(LargeCall& call, const std::vector<int32_t>& workers) {
  static Random random(Seed());
  int64_t least = std::numeric_limits<int64_t>::max();
  const Bytes expected = call.Alone();
  for (const Target* const target : ChosenTargets()) {
    EXPECT_EQ(call.Trouble(target->context.get(), expected), "")
        << target->name << ", one thread: " << call.Describe();
    for (const int32_t number : workers) {
      const Circumstances how = {!random.OneIn(4), !random.OneIn(3)};
      least = std::min(least, CheckCall(call, *target, number, how, expected));
    }
  }
  return least;
}

void CheckRunner(Runner& runner) {
  Recorder recorder(runner);
  const Context context = MakeContext();
  for (const Work& work : Works(1 << 19)) {
    LargeCall call(work, STREW_FLOAT32, STREW_ADD);
    for (const Place place : kPlaces) {
      call.Choose(place);
      const Bytes expected = call.Alone();
      for (const int32_t workers : {2, 4, 64}) {
        recorder.Forget();
        recorder.InstallIn(context.get(), workers);
        EXPECT_EQ(call.Trouble(context.get(), expected), "") << call.Describe();
        EXPECT_GE(recorder.largest_count(), 2) << workers << " workers: " << call.Describe();
      }
    }
  }
}

}  // namespace strew_test
