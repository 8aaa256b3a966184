// SPDX-License-Identifier: Apache-2.0
//
// The list "the first line that fails decides" of strew.h as a model: what a request must be
// answered, from its arguments and the memory that it finds. It shares nothing with the library.
#ifndef STREW_TEST_OP_ERROR_LIST_H_
#define STREW_TEST_OP_ERROR_LIST_H_

#include <cstdint>

#include <strew/strew.h>

#include "op/request.h"

namespace strew_test {

// Policies of a context.
struct Settings {
  bool wrap = true;
  strew_index_policy policy = STREW_INDEX_ERROR;
  strew_duplicate_policy duplicates = STREW_DUPLICATE_LAST;
};

// The status of a line of the list; STREW_OK for 0.
strew_status StatusOf(int line);

struct Verdict {
  int line = 0;  // of the list, the first that fails; 0: none
  int64_t position = -1;

  strew_status status() const { return StatusOf(line); }
};

// All descriptors can be made, and all memory lies in the arena.
Verdict Judge(const Request& request, const Settings& settings, const Arena& memory);

// The arguments of strew_tensor_create() and, below, the status that it must return.
struct Description {
  strew_dtype dtype;
  int32_t rank;
  const int64_t* shape;
  const int64_t* strides;
  uintptr_t address;
};
strew_status Judge(const Description& description);

}  // namespace strew_test

#endif  // STREW_TEST_OP_ERROR_LIST_H_
