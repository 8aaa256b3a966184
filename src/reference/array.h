// SPDX-License-Identifier: Apache-2.0
//
// A tensor with guarded memory of exactly the extent that its layout addresses.
#ifndef STREW_REFERENCE_ARRAY_H_
#define STREW_REFERENCE_ARRAY_H_

#include <vector>

#include "reference/guarded_buffer.h"
#include "reference/handles.h"
#include "reference/view.h"

namespace strew::reference {

class Array {
 public:
  Array(strew_dtype dtype, Layout layout, Guard guard = Guard::kBehind);

  const View& view() const { return view_; }
  const Dims& shape() const { return view_.shape(); }
  strew_dtype dtype() const { return view_.dtype; }
  strew_tensor* tensor() const { return tensor_.get(); }
  GuardedBuffer& buffer() { return buffer_; }
  const GuardedBuffer& buffer() const { return buffer_; }

  // The same view of other memory, which must have the extent of this array.
  View ViewOf(unsigned char* bytes) const;

  std::vector<unsigned char> Snapshot() const;
  void Restore(const std::vector<unsigned char>& snapshot);

 private:
  GuardedBuffer buffer_;
  View view_;
  Tensor tensor_;
};

}  // namespace strew::reference

#endif  // STREW_REFERENCE_ARRAY_H_
