// SPDX-License-Identifier: Apache-2.0
#include "support/bulk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

#include "reference/arithmetic.h"
#include "reference/dtypes.h"
#include "reference/targets.h"
#include "base/cache_size.h"
#include "plan/tuning.h"
#include "support/reference.h"

namespace strew_test {
namespace {

// All bits but the highest one of the exponent, in every float of 8 bytes.
uint64_t FiniteMask(const Dtype& dtype) {
  const bool complex = dtype.kind == Kind::kComplex;
  if (!complex && dtype.kind != Kind::kFloat) return ~uint64_t{0};
  const size_t width = complex ? dtype.width / 2 : dtype.width;
  if (width == 1) return 0xBFBFBFBFBFBFBFBF;
  if (width == 2) return 0xBFFFBFFFBFFFBFFF;
  return width == 4 ? 0xBFFFFFFFBFFFFFFF : 0xBFFFFFFFFFFFFFFF;
}

// Xorshift: a byte costs a fraction of what it does with Random.
void FillQuickly(Random& random, const Dtype& dtype, unsigned char* bytes, size_t size) {
  const uint64_t mask = FiniteMask(dtype);
  uint64_t state = random.Bits() | 1;
  for (size_t i = 0; i < size; i += sizeof(state)) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const uint64_t bits = state & mask;
    std::memcpy(bytes + i, &bits, std::min(sizeof(bits), size - i));
  }
}

struct Cursor {
  unsigned char* to;
  const unsigned char* from;
};

// Calls body(to, from) for every element of both views.
template <class Body>
void ForEachPair(const View& output, const View& input, size_t axis, Cursor at, const Body& body) {
  const auto width = static_cast<int64_t>(WidthOf(output.dtype));
  if (axis == output.shape().size()) return body(at.to, at.from);
  const int64_t to_step = output.layout.strides[axis] * width;
  const int64_t from_step = input.layout.strides[axis] * width;
  const bool innermost = axis + 1 == output.shape().size();
  for (int64_t i = 0; i < output.shape()[axis]; ++i) {
    const Cursor here{at.to + i * to_step, at.from + i * from_step};
    if (innermost) {
      body(here.to, here.from);
    } else {
      ForEachPair(output, input, axis + 1, here, body);
    }
  }
}

template <size_t kWidth>
void MoveEach(const View& output, const View& input) {
  ForEachPair(output, input, 0, {output.origin, input.origin},
              [](unsigned char* to, const unsigned char* from) { std::memcpy(to, from, kWidth); });
}

std::string FirstDifference(const unsigned char* actual,
                            const std::vector<unsigned char>& expected) {
  if (std::memcmp(actual, expected.data(), expected.size()) == 0) return "";
  const auto differ = std::mismatch(expected.begin(), expected.end(), actual).first;
  const auto byte = static_cast<size_t>(differ - expected.begin());
  return "byte " + std::to_string(byte) + " of " + std::to_string(expected.size()) + " is " +
         std::to_string(actual[byte]) + ", expected " + std::to_string(expected[byte]);
}

}  // namespace

int64_t StreamedBytes() {
  return std::min(strew::LastLevelCacheBytes(), strew::plan::Tuning().most_cache) / 2;
}

BulkArray::BulkArray(Random& random, strew_dtype dtype, Layout layout, int64_t shift)
    : shift_(shift),
      buffer_(static_cast<size_t>(Span(layout)) * WidthOf(dtype) + static_cast<size_t>(shift),
              Guard::kBefore),
      view_{dtype, std::move(layout), nullptr} {
  FillQuickly(random, Find(dtype), buffer_.bytes() + shift,
              buffer_.size() - static_cast<size_t>(shift));
  view_ = ViewOf(buffer_.bytes());
  tensor_ = MakeTensor(dtype, view_.layout, view_.origin);
}

View BulkArray::ViewOf(unsigned char* bytes) const {
  const int64_t origin = Origin(view_.layout) * static_cast<int64_t>(WidthOf(view_.dtype));
  return {view_.dtype, view_.layout, bytes + shift_ + origin};
}

std::string BulkArray::Describe() const {
  return TestName(Find(dtype())) + " shape " + ToString(view_.shape()) + " strides " +
         ToString(view_.layout.strides) + " shifted by " + std::to_string(shift_);
}

void CombineEach(strew_reduction reduction, const View& output, const View& input) {
  if (reduction != STREW_NONE) {
    ForEachPair(output, input, 0, {output.origin, input.origin},
                [&](unsigned char* to, const unsigned char* from) {
                  Combine(output.dtype, reduction, to, from);
                });
    return;
  }
  const size_t width = WidthOf(output.dtype);
  if (width == 1) return MoveEach<1>(output, input);
  if (width == 2) return MoveEach<2>(output, input);
  if (width == 4) return MoveEach<4>(output, input);
  if (width == 8) return MoveEach<8>(output, input);
  ForEachPair(output, input, 0, {output.origin, input.origin},
              [=](unsigned char* to, const unsigned char* from) { std::memcpy(to, from, width); });
}

View SliceOf(const View& view, const std::vector<Range>& ranges) {
  const auto width = static_cast<int64_t>(WidthOf(view.dtype));
  View slice = view;
  for (size_t axis = 0; axis < ranges.size(); ++axis) {
    slice.origin += ranges[axis].first * view.layout.strides[axis] * width;
    slice.layout.strides[axis] *= ranges[axis].step;
    slice.layout.shape[axis] = ranges[axis].count;
  }
  return slice;
}

bool CheckBulk(BulkArray& output, const std::vector<unsigned char>& expected,
               const std::function<strew_status(strew_context*)>& call, const std::string& what) {
  unsigned char* const bytes = output.buffer().bytes();
  const std::vector<unsigned char> before(bytes, bytes + output.buffer().size());
  bool good = true;
  for (const Target& target : Targets()) {
    strew_context* const context = target.context.get();
    EXPECT_EQ(strew_context_set_negative_indices(context, 1), STREW_OK);
    const strew_status status = call(context);
    std::string trouble = status == STREW_OK ? "" : strew_context_error(context);
    if (trouble.empty()) trouble = FirstDifference(bytes, expected);
    if (!output.buffer().IsMarginIntact()) trouble += " wrote outside of the output";
    std::memcpy(bytes, before.data(), before.size());
    if (trouble.empty()) continue;
    ADD_FAILURE() << target.name << ": " << trouble << "\n  " << what << "\n  output "
                  << output.Describe();
    good = false;
  }
  return good;
}

}  // namespace strew_test
