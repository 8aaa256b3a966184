// SPDX-License-Identifier: Apache-2.0
//
// A call whose every argument a test may spoil: nulls, dtypes, shapes, memory, values.
#ifndef STREW_TEST_OP_REQUEST_H_
#define STREW_TEST_OP_REQUEST_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <strew/strew.h>

#include "reference/case.h"
#include "reference/handles.h"
#include "reference/view.h"
#include "support/reference.h"

namespace strew_test {

// Memory that all operands of one request share out, so that they can be laid over one another.
class Arena {
 public:
  static constexpr size_t kSize = 4096;
  unsigned char* at(size_t offset) { return bytes_.data() + offset; }
  const unsigned char* at(size_t offset) const { return bytes_.data() + offset; }
  bool operator==(const Arena& other) const { return bytes_ == other.bytes_; }

 private:
  alignas(64) std::array<unsigned char, kSize> bytes_ = {};
};

struct Operand {
  const char* name;
  bool null;
  strew_dtype dtype;
  Layout layout;
  bool bound;
  bool read_only;
  size_t offset;  // in the arena
  Dims values;    // of an index operand, in row-major order; otherwise empty

  void SetShape(const Dims& shape) { layout = RowMajor(shape); }
  void SetValues(const Dims& shape, const Dims& list) {
    SetShape(shape);
    values = list;
  }
  // A 1-D operand.
  void SetList(const Dims& list) { SetValues({static_cast<int64_t>(list.size())}, list); }
};

struct Request {
  Operator op;
  Operand data, indices, updates, start, stop, step, axes, output;
  int64_t axis = 0;
  int64_t count = 0;  // of slice_scatter_int64
  strew_reduction reduction = STREW_NONE;
  strew_cache_mode mode = STREW_CACHE_LINEAR;

  // Entry lists of a slice, all of one length.
  void SetSlice(const Dims& starts, const Dims& stops, const Dims& steps, const Dims& axis_list);
  // One dtype for data, updates and output.
  void SetDtype(strew_dtype dtype);
};

// A good request with data and output of shape [3, 4], float32, each operand in memory of its own:
//   scatter_elements   indices and updates [3, 2], axis 1
//   scatter_nd         indices [2, 1], updates [2, 4]
//   slice_scatter      data[0:2], axes = [0]
//   scatter_update     indices [2], updates [3, 2], axis 1
//   a write to a cache write_indices [3], update [3, 2], axis 1, linear
Request GoodRequest(Operator op);

// Describes an operand to the library; NULL where it is missing.
Tensor Describe(const Operand& operand, Arena& arena);

// The values of an index operand, in its memory.
void WriteValues(const Operand& operand, Arena& arena);

// True if bytes differ that belong to no element of the output.
bool WroteOutside(const Operand& output, const Arena& before, const Arena& after);

// The memory that the call will find: index values, and a pattern elsewhere.
Arena MemoryOf(const Request& request);

// The answer of a call.
struct Answer {
  strew_status status;
  std::string error;
  int64_t position;
  int64_t applied;
  bool wrote;          // a byte of any operand changed
  bool wrote_outside;  // one that belongs to no element of output
};

Answer Send(const Request& request, strew_context* context);

}  // namespace strew_test

#endif  // STREW_TEST_OP_REQUEST_H_
