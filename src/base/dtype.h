// SPDX-License-Identifier: Apache-2.0
// THE list of dtypes. Names, sizes, tables, kernels and their selection are generated from it.
#ifndef STREW_BASE_DTYPE_H_
#define STREW_BASE_DTYPE_H_

#include <cstdint>

#include "strew/strew.h"

namespace strew {

// What reductions mean on a dtype.
enum class Arithmetic : uint8_t { kNone, kLogical, kInteger, kFloating, kComplex };

// X(constant after STREW_, kernel family, name, bytes, alignment, arithmetic). Every line has a
// kernel file, src/kernel/<name>.cc, that defines <family>Table() and is named in src/meson.build.
#define STREW_FOR_EACH_REDUCIBLE_DTYPE(X)                          \
  X(BOOL, Bool, "bool", 1, 1, kLogical)                            \
  X(INT8, Int8, "int8", 1, 1, kInteger)                            \
  X(INT16, Int16, "int16", 2, 2, kInteger)                         \
  X(INT32, Int32, "int32", 4, 4, kInteger)                         \
  X(INT64, Int64, "int64", 8, 8, kInteger)                         \
  X(UINT8, Uint8, "uint8", 1, 1, kInteger)                         \
  X(UINT16, Uint16, "uint16", 2, 2, kInteger)                      \
  X(UINT32, Uint32, "uint32", 4, 4, kInteger)                      \
  X(UINT64, Uint64, "uint64", 8, 8, kInteger)                      \
  X(FLOAT16, Float16, "float16", 2, 2, kFloating)                  \
  X(BFLOAT16, Bfloat16, "bfloat16", 2, 2, kFloating)               \
  X(FLOAT32, Float32, "float32", 4, 4, kFloating)                  \
  X(FLOAT64, Float64, "float64", 8, 8, kFloating)                  \
  X(COMPLEX64, Complex64, "complex64", 8, 4, kComplex)             \
  X(COMPLEX128, Complex128, "complex128", 16, 8, kComplex)         \
  X(FLOAT8_E4M3FN, Float8E4m3fn, "float8_e4m3fn", 1, 1, kFloating) \
  X(FLOAT8_E5M2, Float8E5m2, "float8_e5m2", 1, 1, kFloating)

// X(constant, name, bytes, alignment): dtypes that are only moved.
#define STREW_FOR_EACH_MOVED_DTYPE(X) X(STRING, "string", sizeof(const char*), alignof(const char*))

struct DtypeInfo {
  const char* name;  // "unknown" for an unknown code
  int32_t size;      // bytes of one element; 0 for an unknown code
  int32_t alignment;
  Arithmetic arithmetic;

  bool known() const { return size != 0; }
};

// Describes any code, known or not.
DtypeInfo DescribeDtype(strew_dtype dtype);

// Whether the dtype is one of the eight that indices may have.
constexpr bool IsIndexDtype(strew_dtype dtype) {
  return dtype >= STREW_INT8 && dtype <= STREW_UINT64;
}

// The signed integer of the same width for an unsigned one, any other dtype itself.
constexpr strew_dtype WithSign(strew_dtype dtype) {
  const bool is_unsigned = dtype >= STREW_UINT8 && dtype <= STREW_UINT64;
  return is_unsigned ? dtype - STREW_UINT8 + STREW_INT8 : dtype;
}

}  // namespace strew

#endif  // STREW_BASE_DTYPE_H_
