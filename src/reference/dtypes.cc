// SPDX-License-Identifier: Apache-2.0
#include "reference/dtypes.h"

#include <iterator>
#include <ostream>

namespace strew::reference {
namespace {

Dtype Opaque(size_t size) {
  return {"opaque", STREW_OPAQUE(static_cast<strew_dtype>(size)), size, 1, Kind::kMoved, {},
          kNoDlpack};
}

constexpr size_t kPointer = sizeof(const char*);

// In the order of their codes.
constexpr Dtype kNamed[] = {
    {"bool", STREW_BOOL, 1, 1, Kind::kBool, {}, 6},
    {"int8", STREW_INT8, 1, 1, Kind::kSigned, {}, 0},
    {"int16", STREW_INT16, 2, 2, Kind::kSigned, {}, 0},
    {"int32", STREW_INT32, 4, 4, Kind::kSigned, {}, 0},
    {"int64", STREW_INT64, 8, 8, Kind::kSigned, {}, 0},
    {"uint8", STREW_UINT8, 1, 1, Kind::kUnsigned, {}, 1},
    {"uint16", STREW_UINT16, 2, 2, Kind::kUnsigned, {}, 1},
    {"uint32", STREW_UINT32, 4, 4, Kind::kUnsigned, {}, 1},
    {"uint64", STREW_UINT64, 8, 8, Kind::kUnsigned, {}, 1},
    {"float16", STREW_FLOAT16, 2, 2, Kind::kFloat, {5, 10, true}, 2},
    {"bfloat16", STREW_BFLOAT16, 2, 2, Kind::kFloat, {8, 7, true}, 4},
    {"float32", STREW_FLOAT32, 4, 4, Kind::kFloat, {8, 23, true}, 2},
    {"float64", STREW_FLOAT64, 8, 8, Kind::kFloat, {11, 52, true}, 2},
    {"complex64", STREW_COMPLEX64, 8, 4, Kind::kComplex, {8, 23, true}, 5},
    {"complex128", STREW_COMPLEX128, 16, 8, Kind::kComplex, {11, 52, true}, 5},
    {"string", STREW_STRING, kPointer, kPointer, Kind::kMoved, {}, kNoDlpack},
    {"float8_e4m3fn", STREW_FLOAT8_E4M3FN, 1, 1, Kind::kFloat, {4, 3, false}, 10},
    {"float8_e5m2", STREW_FLOAT8_E5M2, 1, 1, Kind::kFloat, {5, 2, true}, 12},
};

constexpr bool IsInOrderOfCodes() {
  strew_dtype code = STREW_BOOL;
  for (const Dtype& dtype : kNamed) {
    if (dtype.code != code++) return false;
  }
  return true;
}
static_assert(IsInOrderOfCodes(), "LineOf() finds a dtype by its code");

std::vector<Dtype> MakeDtypes() {
  std::vector<Dtype> dtypes(std::begin(kNamed), std::end(kNamed));
  for (const size_t size : {1u, 3u, 5u, 8u, 12u, 16u, 17u, 100u, 4096u})
    dtypes.push_back(Opaque(size));
  return dtypes;
}

std::vector<Dtype> MakeIndexDtypes() {
  std::vector<Dtype> dtypes;
  for (const Dtype& dtype : Dtypes()) {
    if (dtype.kind == Kind::kSigned || dtype.kind == Kind::kUnsigned) dtypes.push_back(dtype);
  }
  return dtypes;
}

bool IsDefined(const Dtype& dtype, strew_reduction reduction) {
  if (reduction == STREW_NONE) return true;
  if (dtype.kind == Kind::kMoved) return false;
  if (reduction == STREW_MEAN && dtype.kind == Kind::kBool) return false;
  const bool ordering = reduction == STREW_MIN || reduction == STREW_MAX;
  return !(dtype.kind == Kind::kComplex && ordering);
}

}  // namespace

const std::vector<Dtype>& Dtypes() {
  static const std::vector<Dtype> dtypes = MakeDtypes();
  return dtypes;
}

const std::vector<Dtype>& IndexDtypes() {
  static const std::vector<Dtype> dtypes = MakeIndexDtypes();
  return dtypes;
}

strew_dtype LastCode() { return std::rbegin(kNamed)->code; }

bool IsNamed(strew_dtype code) { return code >= STREW_BOOL && code <= LastCode(); }

bool IsKnown(strew_dtype code) {
  return IsNamed(code) || (code >= STREW_OPAQUE(1) && code <= STREW_OPAQUE(4096));
}

const Dtype& LineOf(strew_dtype code) { return kNamed[code - STREW_BOOL]; }

Dtype Find(strew_dtype code) {
  return IsNamed(code) ? LineOf(code) : Opaque(static_cast<size_t>(code - STREW_OPAQUE(0)));
}

size_t WidthOf(strew_dtype code) {
  return IsNamed(code) ? LineOf(code).width : static_cast<size_t>(code - STREW_OPAQUE(0));
}

const std::vector<strew_reduction>& Reductions() {
  static const std::vector<strew_reduction> reductions = {STREW_NONE, STREW_ADD, STREW_MUL,
                                                          STREW_MIN,  STREW_MAX, STREW_SUB};
  return reductions;
}

std::vector<strew_reduction> ReductionsOf(const Dtype& dtype) {
  std::vector<strew_reduction> defined;
  for (const strew_reduction reduction : Reductions()) {
    if (IsDefined(dtype, reduction)) defined.push_back(reduction);
  }
  return defined;
}

std::vector<std::tuple<Dtype, strew_reduction>> DefinedPairs() {
  std::vector<std::tuple<Dtype, strew_reduction>> pairs;
  for (const Dtype& dtype : Dtypes()) {
    for (const strew_reduction reduction : ReductionsOf(dtype)) {
      pairs.emplace_back(dtype, reduction);
    }
  }
  return pairs;
}

std::vector<strew_reduction> AllReductionsOf(const Dtype& dtype) {
  std::vector<strew_reduction> reductions = ReductionsOf(dtype);
  if (IsDefined(dtype, STREW_MEAN)) reductions.push_back(STREW_MEAN);
  for (const strew_reduction reduction : std::vector<strew_reduction>(reductions)) {
    if (reduction != STREW_SUB) reductions.push_back(reduction | STREW_EXCLUDE_SELF);
  }
  for (const strew_reduction reduction : std::vector<strew_reduction>(reductions)) {
    reductions.push_back(reduction | STREW_WIDE);
  }
  return reductions;
}

const char* NameOf(strew_reduction reduction) {
  switch (reduction & ~(STREW_EXCLUDE_SELF | STREW_WIDE)) {
    case STREW_NONE:
      return "none";
    case STREW_ADD:
      return "add";
    case STREW_MUL:
      return "mul";
    case STREW_MIN:
      return "min";
    case STREW_MAX:
      return "max";
    case STREW_SUB:
      return "sub";
    case STREW_MEAN:
      return "mean";
    default:
      return "?";
  }
}

std::string TestName(const Dtype& dtype) {
  if (IsNamed(dtype.code)) return dtype.name;
  return std::string(dtype.name) + "_" + std::to_string(dtype.width);
}

void PrintTo(const Dtype& dtype, std::ostream* out) { *out << TestName(dtype); }

}  // namespace strew::reference
