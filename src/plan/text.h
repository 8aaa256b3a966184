// SPDX-License-Identifier: Apache-2.0
// Shapes, places and values as they stand in error messages.
#ifndef STREW_PLAN_TEXT_H_
#define STREW_PLAN_TEXT_H_

#include <cstdint>

#include "base/index_value.h"
#include "base/tensor_view.h"

namespace strew::plan {

// "[2,5]"; "[]" for no numbers.
class ListText {
 public:
  ListText(const int64_t* numbers, int count);
  const char* c_str() const { return text_; }

 protected:
  ListText() = default;
  void Write(const int64_t* numbers, int count);

 private:
  char text_[kMaxRank * 21 + 3];
};

class ShapeText : public ListText {
 public:
  explicit ShapeText(const TensorView& tensor) : ListText(tensor.shape, tensor.rank) {}
};

// One number of an index operand, as it is.
class IndexText {
 public:
  explicit IndexText(IndexValue index);
  const char* c_str() const { return text_; }

 private:
  char text_[24];
};

// The coordinates of a row-major position.
class CoordinatesText : public ListText {
 public:
  CoordinatesText(const TensorView& tensor, int64_t position);
};

}  // namespace strew::plan

#endif  // STREW_PLAN_TEXT_H_
