// SPDX-License-Identifier: Apache-2.0
#include "prepared/numbering.h"

namespace strew::prepared {
namespace {

// Divides numbers of 32 bits by a constant of 2 to 2^32 - 1: they are multiplied by 2^64 / divisor,
// rounded up, which is exact for them. Offsets took 0.3 x the time of those by divisions (Zen 5).
class Divider {
 public:
  Divider() = default;
  explicit Divider(uint64_t divisor) : reciprocal_(UINT64_MAX / divisor + 1) {}

  uint64_t Divide(uint64_t number) const {
#ifdef __SIZEOF_INT128__
    __extension__ using Words = unsigned __int128;
    const Words product = Words{reciprocal_} * number;
    return static_cast<uint64_t>(product >> 64);
#else
    const uint64_t low = (reciprocal_ & UINT32_MAX) * number;
    return ((reciprocal_ >> 32) * number + (low >> 32)) >> 32;
#endif
  }

 private:
  uint64_t reciprocal_;
};

uint64_t StrideOf(const plan::LoopNest<1>& nest, int loop) {
  return static_cast<uint64_t>(nest.loop[loop].stride[0]);
}

// Converts numbers of 32 bits in several loops to offsets: a turn of loop i, whose number is the
// quotient by the turns within, moves by Step(nest, i) more than these turns do. Products of large
// strides may wrap, but their sums are offsets.
uint64_t Step(const plan::LoopNest<1>& nest, int i) {
  if (i == nest.rank - 1) return StrideOf(nest, i);
  return StrideOf(nest, i) - static_cast<uint64_t>(nest.loop[i + 1].count) * StrideOf(nest, i + 1);
}

Divider DividerBy(const plan::LoopNest<1>& nest, int i) {
  return Divider(static_cast<uint64_t>(nest.loop[i].count));
}

// Two loops stay in registers.
class OffsetsOfTwo {
 public:
  explicit OffsetsOfTwo(const plan::LoopNest<1>& nest)
      : step_(Step(nest, 1)), outer_step_(Step(nest, 0)), divider_(DividerBy(nest, 1)) {}

  int64_t operator()(int64_t of_number) const {
    const auto number = static_cast<uint64_t>(of_number);
    return static_cast<int64_t>(number * step_ + divider_.Divide(number) * outer_step_);
  }

 private:
  const uint64_t step_, outer_step_;
  const Divider divider_;
};

class OffsetsOfMany {
 public:
  explicit OffsetsOfMany(const plan::LoopNest<1>& nest) : last_(nest.rank - 1) {
    step_[last_] = Step(nest, last_);
    for (int i = 0; i < last_; ++i) {
      step_[i] = Step(nest, i);
      divider_[i] = DividerBy(nest, i + 1);
    }
  }

  int64_t operator()(int64_t of_number) const {
    auto number = static_cast<uint64_t>(of_number);
    uint64_t offset = number * step_[last_];
    for (int i = last_ - 1; i >= 0; --i) {
      number = divider_[i].Divide(number);
      offset += number * step_[i];
    }
    return static_cast<int64_t>(offset);
  }

 private:
  const int last_;
  uint64_t step_[plan::kMaxLoops];
  Divider divider_[plan::kMaxLoops];
};

}  // namespace

void Numbering::Finish() { nest_.Merge(); }

bool Numbering::MayDivideShort() const {
  int64_t most = UINT32_MAX;
  for (int i = 0; i < nest_.rank; ++i) {
    const int64_t count = nest_.loop[i].count;
    if (count < (i == 0 ? 1 : 2) || count > most) return false;
    most /= count;
  }
  return true;
}

template <class Body>
void Numbering::WithOffsetOf(const Body& body) const {
  if (is_line()) {
    const int64_t step = stride();
    return body([step](int64_t number) { return number * step; });
  }
  if (!MayDivideShort()) return body([this](int64_t number) { return OffsetOf(number); });
  if (nest_.rank == 2) return body(OffsetsOfTwo(nest_));
  body(OffsetsOfMany(nest_));
}

void Numbering::Resolve(int64_t* numbers, int64_t n) const {
  if (is_identity()) return;
  WithOffsetOf([&](const auto& offset_of) {
    for (int64_t i = 0; i < n; ++i) numbers[i] = offset_of(numbers[i]);
  });
}

void Numbering::ResolveMarked(int64_t* numbers, int64_t n) const {
  WithOffsetOf([&](const auto& offset_of) {
    for (int64_t i = 0; i < n; ++i) {
      numbers[i] = numbers[i] < 0 ? kNoUpdate : offset_of(numbers[i]);
    }
  });
}

void Numbering::Locate(const Numbers& list, int64_t first, int64_t n, int64_t* offsets) const {
  list.Visit([&](const auto* all) {
    const auto* const numbers = all + first;
    WithOffsetOf([&](const auto& offset_of) {
      for (int64_t i = 0; i < n; ++i) offsets[i] = offset_of(static_cast<int64_t>(numbers[i]));
    });
  });
}

void Numbering::LocateMarked(const Numbers& list, int64_t first, int64_t n,
                             int64_t* offsets) const {
  list.Visit([&](const auto* all) {
    const auto* const numbers = all + first;
    WithOffsetOf([&](const auto& offset_of) {
      for (int64_t i = 0; i < n; ++i) {
        offsets[i] =
            Numbers::IsNone(numbers[i]) ? kNoUpdate : offset_of(static_cast<int64_t>(numbers[i]));
      }
    });
  });
}

}  // namespace strew::prepared
