// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_CLI_ARRAY_H_
#define STREW_CLI_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strew/strew.h"

namespace strew::cli {

// NumPy's name of a dtype, in native byte order.
struct ElementType {
  char kind;          // NumPy's letter: b i u f c, or S U V for bytes, text and void
  std::int64_t size;  // bytes of one element
  strew_dtype dtype;  // opaque for S, U and V
  // The file's spelling of structures and dates, whose bytes are only copied, in the file's order.
  std::string verbatim = {};
};

// Memory, or a file that is mapped into it.
using Bytes = std::shared_ptr<std::byte>;

// Copies share the elements.
struct Array {
  ElementType type;
  std::vector<std::int64_t> shape;
  bool fortran_order;
  std::int64_t byte_count;
  Bytes bytes;
};

// The type that NumPy writes as `kind` and a number of bytes, or of characters for kind U. Nothing
// if strew has no dtype for it.
std::optional<ElementType> MakeElementType(char kind, std::int64_t number);

// The alignment of an element, in bytes.
std::int64_t AlignmentOf(const ElementType& type);

// NumPy's spelling of the type in a file, such as "<f4", or that of the file itself.
std::string Descr(const ElementType& type);

// False for elements whose bytes are only copied.
bool HasNumbers(const ElementType& type);

// True if both types describe the same elements.
bool AreSame(const ElementType& one, const ElementType& other);

// "(2, 3)" as Python writes a tuple.
std::string ShapeText(const std::vector<std::int64_t>& shape);

// An array with uninitialized memory that begins on a cache line. Throws std::runtime_error if the
// array is too large for an address space, std::bad_alloc if memory is short.
Array MakeArray(const ElementType& type, std::vector<std::int64_t> shape, bool fortran_order);

// The size of such an array, with the same std::runtime_error.
std::int64_t ByteCount(const ElementType& type, const std::vector<std::int64_t>& shape);

bool HostIsLittleEndian();

// Reverses the bytes of every number, and of every character of kind U.
void SwapByteOrder(Array& array);

}  // namespace strew::cli

#endif  // STREW_CLI_ARRAY_H_
