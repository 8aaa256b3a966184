// SPDX-License-Identifier: Apache-2.0
// Reads the indices of entries one by one.
#ifndef STREW_WALK_INDEX_READER_H_
#define STREW_WALK_INDEX_READER_H_

#include <cstdint>

#include "base/call.h"
#include "base/index_value.h"
#include "base/tensor_view.h"
#include "plan/index_space.h"

namespace strew::walk {

class IndexReader {
 public:
  IndexReader(const Call& call, const TensorView& indices)
      : indices_(indices),
        wraps_(call.settings().wrap_negative_indices),
        clamps_(call.settings().index_policy == STREW_INDEX_CLAMP) {}

  // Adds the offset of the destination of an entry; `at` is the position of its first index.
  // Returns false if an index is out of range and not clamped.
  bool AddOffset(const plan::Component* components, int count, int64_t at, int64_t* offset) const {
    for (int c = 0; c < count; ++c) {
      const plan::Component& component = components[c];
      int64_t element;
      const int64_t value = ReadIndexAt(indices_, at + component.indices_base).value;
      if (!FindElement(value, component.axis_size, &element)) return false;
      *offset += element * component.output_stride;
    }
    return true;
  }

  // Finds the element of an axis that an index value names. Returns false if the value is out of
  // range and not clamped.
  bool FindElement(int64_t value, int64_t axis_size, int64_t* element) const {
    int64_t index = WrappedIndex(value, axis_size, wraps_);
    if (!IsOnAxis(index, axis_size)) {
      if (!clamps_ || axis_size == 0) return false;
      index = ClampedIndex(index, axis_size);
    }
    *element = index;
    return true;
  }

 private:
  const TensorView& indices_;
  const bool wraps_;
  const bool clamps_;
};

}  // namespace strew::walk

#endif  // STREW_WALK_INDEX_READER_H_
