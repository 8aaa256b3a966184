// SPDX-License-Identifier: Apache-2.0
// Shapes, coordinates, indices and dtypes as text for error messages.
#ifndef STREW_PLAN_TEXT_H_
#define STREW_PLAN_TEXT_H_

#include <cstdint>

#include "base/index_value.h"
#include "base/tensor_view.h"

namespace strew::plan {

// "[2,5]", or "[]" if there are no numbers.
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

// The value of an index, even if it does not fit int64.
class IndexText {
 public:
  explicit IndexText(IndexValue index);
  const char* c_str() const { return text_; }

 private:
  char text_[24];
};

// "float32", "opaque[20]".
class DtypeText {
 public:
  explicit DtypeText(strew_dtype dtype);
  const char* c_str() const { return text_; }

 private:
  char text_[24];
};

// The coordinates of an element, from its row-major position.
class CoordinatesText : public ListText {
 public:
  CoordinatesText(const TensorView& tensor, int64_t position);
};

}  // namespace strew::plan

#endif  // STREW_PLAN_TEXT_H_
