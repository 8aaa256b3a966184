// SPDX-License-Identifier: Apache-2.0
//
// Operands of tens of MiB at any address, and plain loops for what a call must make of them: the
// oracle goes by index vectors and would take seconds.
#ifndef STREW_TEST_SUPPORT_BULK_H_
#define STREW_TEST_SUPPORT_BULK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <strew/strew.h>

#include "reference/guarded_buffer.h"
#include "reference/handles.h"
#include "reference/oracle.h"
#include "reference/random.h"
#include "reference/view.h"
#include "support/reference.h"

namespace strew_test {

// The least bytes that the library streams on this machine.
int64_t StreamedBytes();

// A tensor of which the lowest element lies `shift` bytes behind the beginning of a page. Its
// memory, gaps and shift included, holds random bits; floats of them are finite and below 2.
class BulkArray {
 public:
  BulkArray(Random& random, strew_dtype dtype, Layout layout, int64_t shift = 0);

  strew_dtype dtype() const { return view_.dtype; }
  const View& view() const { return view_; }
  strew_tensor* tensor() const { return tensor_.get(); }
  GuardedBuffer& buffer() { return buffer_; }

  // The same view of other memory, which is as large as the buffer.
  View ViewOf(unsigned char* bytes) const;

  std::string Describe() const;

 private:
  int64_t shift_;
  GuardedBuffer buffer_;
  View view_;
  Tensor tensor_;
};

// output (+)= input, element by element, for views of one shape in which no two elements meet.
void CombineEach(strew_reduction reduction, const View& output, const View& input);

// The elements that the ranges name, one for each axis.
View SliceOf(const View& view, const std::vector<Range>& ranges);

// Calls the library with every instruction set in turn. Each time every byte of the output's memory
// must change from what it is now to what `expected` holds. Answers false after a failure, which
// GoogleTest then knows of; `what` tells of which case.
bool CheckBulk(BulkArray& output, const std::vector<unsigned char>& expected,
               const std::function<strew_status(strew_context*)>& call, const std::string& what);

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_BULK_H_
