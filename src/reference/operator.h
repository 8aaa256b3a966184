// SPDX-License-Identifier: Apache-2.0
// THE list of operators. The command, the Python package, the random cases of the tests, and the
// fuzzers take names, operands and attributes from it; the library itself does not use it.
//
// A new operator is a function in strew.h, a row here, its formula in reference/oracle.h, and its
// random cases in reference/random_case.cc. A row that does not match strew.h does not compile.
#ifndef STREW_REFERENCE_OPERATOR_H_
#define STREW_REFERENCE_OPERATOR_H_

#include <string_view>

namespace strew {

// The names of the operands in error messages.
struct OperandNames {
  const char* data;
  const char* indices;
  const char* updates;
  const char* output;
};
inline constexpr OperandNames kPlainNames = {"data", "indices", "updates", "output"};
inline constexpr OperandNames kCacheNames = {"past_cache", "write_indices", "update",
                                             "present_cache"};

// X(name, function after strew_, names of operands, summary, arguments...). The arguments are those
// after the context, as members of reference::Arguments. test/fuzz/meson.build reads the lines that
// begin with X.
// clang-format off
#define STREW_FOR_EACH_OPERATOR(X)                                               \
  X(ScatterElements, scatter_elements, kPlainNames,                              \
    "Every update has an index of its own along one axis",                       \
    data, indices, updates, axis, reduction, output)                             \
  X(ScatterNd, scatter_nd, kPlainNames,                                          \
    "Every tuple of indices names an element or a slice of data",                \
    data, indices, updates, reduction, output)                                   \
  X(SliceScatter, slice_scatter, kPlainNames,                                    \
    "The updates go to data[start:stop:step, ...] by Python's rule",             \
    data, updates, start, stop, step, axes, reduction, output)                   \
  X(SliceScatterInt64, slice_scatter_int64, kPlainNames,                         \
    "slice_scatter whose numbers stand in arrays of int64_t",                    \
    data, updates, count, starts, stops, steps, slice_axes, reduction, output)   \
  X(ScatterUpdate, scatter_update, kPlainNames,                                  \
    "Every index names a slice of one axis",                                     \
    data, indices, updates, axis, reduction, output)                             \
  X(TensorScatter, tensor_scatter, kCacheNames,                                  \
    "Each batch entry of a cache is written from a position of its own on",      \
    data, updates, indices, axis, mode, output)
// clang-format on

enum class Operator {
#define STREW_ROW(NAME, ...) k##NAME,
  STREW_FOR_EACH_OPERATOR(STREW_ROW)
#undef STREW_ROW
};

struct OperatorInfo {
  Operator op;
  const char* name;
  OperandNames operands;
  const char* summary;
  std::string_view arguments;  // separated by ", "
};

inline constexpr OperatorInfo kOperators[] = {
#define STREW_ROW(NAME, FUNCTION, NAMES, SUMMARY, ...) \
  {Operator::k##NAME, #FUNCTION, NAMES, SUMMARY, #__VA_ARGS__},
    STREW_FOR_EACH_OPERATOR(STREW_ROW)
#undef STREW_ROW
};

constexpr const OperatorInfo& InfoOf(Operator op) { return kOperators[static_cast<int>(op)]; }
constexpr const char* NameOf(Operator op) { return InfoOf(op).name; }

// True if the operator has this argument, as in Takes(op, "axis").
constexpr bool Takes(Operator op, std::string_view argument) {
  std::string_view rest = InfoOf(op).arguments;
  while (!rest.empty()) {
    const std::string_view next = rest.substr(0, rest.find(','));
    if (next == argument) return true;
    rest.remove_prefix(next.size() < rest.size() ? next.size() + 2 : next.size());
  }
  return false;
}
static_assert(Takes(Operator::kTensorScatter, "mode") && Takes(Operator::kScatterNd, "output"));
static_assert(!Takes(Operator::kSliceScatter, "axis") && !Takes(Operator::kScatterNd, "indice"));

// True if the operator takes slices instead of indices.
constexpr bool IsSlice(Operator op) { return !Takes(op, "indices"); }

}  // namespace strew

#endif  // STREW_REFERENCE_OPERATOR_H_
