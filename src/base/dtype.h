// SPDX-License-Identifier: Apache-2.0
// THE list of dtypes. One row states everything about a dtype. Names, sizes, identities of
// reductions, element types of kernels, kernel selection, DLPack types and .npy types are derived
// from it.
//
// A new dtype is a constant in strew.h, a row here, and a kernel file src/kernel/<name>.cc that
// src/meson.build names. A constant without a row, a row without a constant and a row that lacks a
// trait do not compile; a row without a kernel file does not link.
#ifndef STREW_BASE_DTYPE_H_
#define STREW_BASE_DTYPE_H_

#include <cstdint>

#include "base/float_format.h"
#include "strew/strew.h"

namespace strew {

// The meaning of reductions on a dtype.
enum class Arithmetic : uint8_t { kNone, kLogical, kInteger, kFloating, kComplex };

// Type codes of DLPack 1.x. Dtypes that share a code differ in their size in bits.
enum class DlpackCode : uint8_t {
  kInt = 0,
  kUint = 1,
  kFloat = 2,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6,
  kFloat8E4m3fn = 10,
  kFloat8E5m2 = 12,
  kNone = 255  // dtypes that DLPack lacks; DLPack has no code 255
};

struct DtypeInfo {
  const char* name;  // as NumPy and ml_dtypes spell it; "unknown" for an unknown code
  int32_t size;      // bytes of one element; 0 for an unknown code
  int32_t alignment;
  Arithmetic arithmetic;
  bool is_signed;      // true only for signed integers
  FloatFormat format;  // of a float, or of each part of a complex number; 0 bits otherwise
  DlpackCode dlpack;
  char npy_kind;  // NumPy's letter in .npy files; V: NumPy writes raw bytes

  constexpr bool known() const { return size != 0; }
  // Floats of 8 and 16 bits, whose reductions compute in float32.
  constexpr bool is_short_float() const { return arithmetic == Arithmetic::kFloating && size < 4; }

  // ---- The rows: traits that follow from others are not stated ----

  static constexpr DtypeInfo Logical(const char* name) {
    return {name, 1, 1, Arithmetic::kLogical, false, {}, DlpackCode::kBool, 'b'};
  }
  static constexpr DtypeInfo Signed(const char* name, int bits) {
    return {name, bits / 8, bits / 8, Arithmetic::kInteger, true, {}, DlpackCode::kInt, 'i'};
  }
  static constexpr DtypeInfo Unsigned(const char* name, int bits) {
    return {name, bits / 8, bits / 8, Arithmetic::kInteger, false, {}, DlpackCode::kUint, 'u'};
  }
  static constexpr DtypeInfo Floating(const char* name, FloatFormat format, DlpackCode dlpack,
                                      char npy_kind) {
    const int size = format.bits() / 8;
    return {name, size, size, Arithmetic::kFloating, false, format, dlpack, npy_kind};
  }
  // Pairs of floats.
  static constexpr DtypeInfo Complex(const char* name, FloatFormat format) {
    const int part = format.bits() / 8;
    const Arithmetic arithmetic = Arithmetic::kComplex;
    return {name, 2 * part, part, arithmetic, false, format, DlpackCode::kComplex, 'c'};
  }
  // Dtypes that are only moved.
  static constexpr DtypeInfo Moved(const char* name, int32_t size, int32_t alignment) {
    return {name, size, alignment, Arithmetic::kNone, false, {}, DlpackCode::kNone, 'V'};
  }
};

// R(constant after STREW_, traits): dtypes that have reductions and so a kernel file.
// M(constant after STREW_, traits): dtypes that are only moved.
// Rows are in the order of the constants. Traits call a function of DtypeInfo; a format is {bits of
// the exponent, bits of the fraction, has infinities}.
#define STREW_FOR_EACH_DTYPE(R, M)                                                           \
  R(BOOL, Logical("bool"))                                                                   \
  R(INT8, Signed("int8", 8))                                                                 \
  R(INT16, Signed("int16", 16))                                                              \
  R(INT32, Signed("int32", 32))                                                              \
  R(INT64, Signed("int64", 64))                                                              \
  R(UINT8, Unsigned("uint8", 8))                                                             \
  R(UINT16, Unsigned("uint16", 16))                                                          \
  R(UINT32, Unsigned("uint32", 32))                                                          \
  R(UINT64, Unsigned("uint64", 64))                                                          \
  R(FLOAT16, Floating("float16", {5, 10, true}, DlpackCode::kFloat, 'f'))                    \
  R(BFLOAT16, Floating("bfloat16", {8, 7, true}, DlpackCode::kBfloat, 'V'))                  \
  R(FLOAT32, Floating("float32", kBinary32, DlpackCode::kFloat, 'f'))                        \
  R(FLOAT64, Floating("float64", kBinary64, DlpackCode::kFloat, 'f'))                        \
  R(COMPLEX64, Complex("complex64", kBinary32))                                              \
  R(COMPLEX128, Complex("complex128", kBinary64))                                            \
  M(STRING, Moved("string", sizeof(const char*), alignof(const char*)))                      \
  R(FLOAT8_E4M3FN, Floating("float8_e4m3fn", {4, 3, false}, DlpackCode::kFloat8E4m3fn, 'V')) \
  R(FLOAT8_E5M2, Floating("float8_e5m2", {5, 2, true}, DlpackCode::kFloat8E5m2, 'f'))

// Expands to nothing: leaves one kind of rows out of STREW_FOR_EACH_DTYPE.
#define STREW_NO_DTYPE(...)

// Indexed by dtype. Row 0 describes unknown codes.
#define STREW_ROW(CONSTANT, ...) DtypeInfo::__VA_ARGS__,
inline constexpr DtypeInfo kDtypes[] = {
    DtypeInfo::Moved("unknown", 0, 1),          //
    STREW_FOR_EACH_DTYPE(STREW_ROW, STREW_ROW)  //
};
#undef STREW_ROW
inline constexpr strew_dtype kDtypesEnd = sizeof(kDtypes) / sizeof(*kDtypes);

// Accepts any code, known or not.
DtypeInfo DescribeDtype(strew_dtype dtype);

// Indices may have one of eight integer dtypes.
constexpr bool IsIndexDtype(strew_dtype dtype) {
  return dtype >= STREW_INT8 && dtype <= STREW_UINT64;
}

// Maps an unsigned integer dtype to the signed one of the same width, any other dtype to itself.
constexpr strew_dtype WithSign(strew_dtype dtype) {
  const bool is_unsigned = dtype >= STREW_UINT8 && dtype <= STREW_UINT64;
  return is_unsigned ? dtype - STREW_UINT8 + STREW_INT8 : dtype;
}

}  // namespace strew

#endif  // STREW_BASE_DTYPE_H_
