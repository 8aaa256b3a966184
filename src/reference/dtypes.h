// SPDX-License-Identifier: Apache-2.0
//
// The lists of dtypes, index dtypes and reductions that drive the tests. They are written from the
// specification and say nothing that the library said first.
#ifndef STREW_REFERENCE_DTYPES_H_
#define STREW_REFERENCE_DTYPES_H_

#include <cstddef>
#include <string>
#include <vector>

#include <strew/strew.h>

namespace strew::reference {

enum class Kind { kBool, kSigned, kUnsigned, kFloat, kComplex, kMoved };

struct Dtype {
  const char* name;
  strew_dtype code;
  size_t width;
  size_t alignment;
  Kind kind;
  int fraction_bits;  // of a float or of one component of a complex; otherwise 0
};

// Every dtype that tensors of this version may have, with a choice of opaque sizes.
const std::vector<Dtype>& Dtypes();

// The eight integer dtypes.
const std::vector<Dtype>& IndexDtypes();

// The line of Dtypes() for a code; made up for an opaque size that is not listed.
Dtype Find(strew_dtype code);

size_t WidthOf(strew_dtype code);

// The reductions of this version, STREW_NONE first.
const std::vector<strew_reduction>& Reductions();

// Those of Reductions() that are defined on the dtype.
std::vector<strew_reduction> ReductionsOf(const Dtype& dtype);

// All that there are, STREW_MEAN and those without the old value included.
std::vector<strew_reduction> AllReductionsOf(const Dtype& dtype);

// Of the reduction without STREW_EXCLUDE_SELF.
const char* NameOf(strew_reduction reduction);

// Unique among Dtypes(), made of letters, digits and underscores as GoogleTest wants.
std::string TestName(const Dtype& dtype);

// For GoogleTest's messages.
void PrintTo(const Dtype& dtype, std::ostream* out);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_DTYPES_H_
