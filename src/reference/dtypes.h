// SPDX-License-Identifier: Apache-2.0
//
// The lists of dtypes, index dtypes and reductions that drive the tests. They are written from the
// specification, and take nothing from the library.
#ifndef STREW_REFERENCE_DTYPES_H_
#define STREW_REFERENCE_DTYPES_H_

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include <strew/strew.h>

namespace strew::reference {

enum class Kind { kBool, kSigned, kUnsigned, kFloat, kComplex, kMoved };

// A sign, an exponent and a fraction, with subnormals, infinities and NaNs as in IEEE 754. A format
// without infinities has only one NaN, whose bits are all ones.
struct FloatFormat {
  int exponent_bits;
  int fraction_bits;
  bool has_infinity;
};

struct Dtype {
  const char* name;
  strew_dtype code;
  size_t width;
  size_t alignment;
  Kind kind;
  FloatFormat format;  // of a float or of a component of a complex number; else 0 bits
  int dlpack;          // the code of its type in DLPack, or kNoDlpack

  bool has_format() const { return format.fraction_bits != 0; }
  // Bytes of a float or an integer, or of one of the two components of a complex number.
  size_t component_width() const { return kind == Kind::kComplex ? width / 2 : width; }
};
constexpr int kNoDlpack = -1;

// All dtypes that tensors of this version may have, with a selection of opaque sizes.
const std::vector<Dtype>& Dtypes();

// The eight integer dtypes.
const std::vector<Dtype>& IndexDtypes();

// True if the code is that of a dtype which is not opaque.
bool IsNamed(strew_dtype code);

// True if tensors of this version may have the dtype, opaque or not.
bool IsKnown(strew_dtype code);

// The line of Dtypes() for a code; made up for an opaque size that is not listed.
Dtype Find(strew_dtype code);

// The same without a copy, for a code that IsNamed().
const Dtype& LineOf(strew_dtype code);

// The largest code that IsNamed().
strew_dtype LastCode();

size_t WidthOf(strew_dtype code);

// The reductions of this version, STREW_NONE first.
const std::vector<strew_reduction>& Reductions();

// The elements of Reductions() that are defined on the dtype.
std::vector<strew_reduction> ReductionsOf(const Dtype& dtype);

// Every dtype with each of its ReductionsOf().
std::vector<std::tuple<Dtype, strew_reduction>> DefinedPairs();

// All reductions that are defined on the dtype, including STREW_MEAN, those with STREW_EXCLUDE_SELF
// and those with STREW_WIDE.
std::vector<strew_reduction> AllReductionsOf(const Dtype& dtype);

// The name of the reduction without STREW_EXCLUDE_SELF and STREW_WIDE.
const char* NameOf(strew_reduction reduction);

// A name that is unique among Dtypes(), of letters, digits and underscores, as GoogleTest requires.
std::string TestName(const Dtype& dtype);

// Prints a dtype in messages of GoogleTest.
void PrintTo(const Dtype& dtype, std::ostream* out);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_DTYPES_H_
