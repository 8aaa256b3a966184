// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

namespace strew {
namespace {

constexpr int32_t kOpaqueBase = STREW_OPAQUE(0);
constexpr int32_t kLargestOpaque = 4096;

// ---- Properties of the list on which other code relies ----

// The type of the unnamed enum of dtypes in strew.h.
using Constant = decltype(STREW_BOOL);

// Fails to compile if a constant has no row.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
constexpr bool HasRow(Constant constant) {
  switch (constant) {
#define STREW_ROW(CONSTANT, ...) case STREW_##CONSTANT:
    STREW_FOR_EACH_DTYPE(STREW_ROW, STREW_ROW)
#undef STREW_ROW
    return true;
  }
  return false;
}
#pragma GCC diagnostic pop
static_assert(HasRow(STREW_BOOL));

constexpr bool IsPowerOfTwo(int32_t n) { return n > 0 && (n & (n - 1)) == 0; }

// True if the row has all traits. Kernels and identities require sizes that are powers of two up to
// 16 bytes.
constexpr bool IsWhole(const DtypeInfo& row) {
  const bool has_format = row.format.bits() > 1;
  const bool is_float = row.arithmetic == Arithmetic::kFloating;
  const bool is_complex = row.arithmetic == Arithmetic::kComplex;
  const int parts = is_complex ? 2 : 1;
  return row.name[0] != '\0' && row.npy_kind != '\0' && row.size <= 16 && IsPowerOfTwo(row.size) &&
         IsPowerOfTwo(row.alignment) && has_format == (is_float || is_complex) &&
         (!has_format || parts * row.format.bits() == 8 * row.size);
}

// Kernels that read indices, and reductions that serve both signs, rely on the order of constants.
constexpr bool FollowsOrderOfIntegers(strew_dtype dtype) {
  const DtypeInfo& row = kDtypes[dtype];
  const DtypeInfo& with_sign = kDtypes[WithSign(dtype)];
  const bool is_integer = row.arithmetic == Arithmetic::kInteger;
  return IsIndexDtype(dtype) == is_integer &&
         (!is_integer || (with_sign.is_signed && with_sign.size == row.size));
}

// In DLPack, and in .npy files, a type code and a size name at most one dtype.
constexpr bool AreDistinct(const DtypeInfo& a, const DtypeInfo& b) {
  if (a.size != b.size) return true;
  return (a.dlpack != b.dlpack || a.dlpack == DlpackCode::kNone) &&
         (a.npy_kind != b.npy_kind || a.npy_kind == 'V');
}

constexpr bool IsDistinct(strew_dtype dtype) {
  for (strew_dtype other = 1; other < kDtypesEnd; ++other) {
    if (other != dtype && !AreDistinct(kDtypes[other], kDtypes[dtype])) return false;
  }
  return true;
}

// __COUNTER__ increments once per row.
constexpr int kRowsBegin = __COUNTER__;
#define STREW_ROW(CONSTANT, ...)                                                            \
  static_assert(STREW_##CONSTANT == __COUNTER__ - kRowsBegin, "the rows are out of order"); \
  static_assert(IsWhole(kDtypes[STREW_##CONSTANT]), "the row of " #CONSTANT " has a flaw"); \
  static_assert(FollowsOrderOfIntegers(STREW_##CONSTANT), "not where kernels look for it"); \
  static_assert(IsDistinct(STREW_##CONSTANT), #CONSTANT " has the codes of another dtype");
STREW_FOR_EACH_DTYPE(STREW_ROW, STREW_ROW)
#undef STREW_ROW

}  // namespace

DtypeInfo DescribeDtype(strew_dtype dtype) {
  if (dtype > kOpaqueBase && dtype <= kOpaqueBase + kLargestOpaque) {
    return DtypeInfo::Moved("opaque", dtype - kOpaqueBase, 1);
  }
  return kDtypes[dtype > 0 && dtype < kDtypesEnd ? dtype : 0];
}

}  // namespace strew
