// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_DOCUMENTATION_H_
#define STREW_PYTHON_DOCUMENTATION_H_

#define STREW_COMMON_DOCUMENTATION                                                             \
  "Operands are anything with __dlpack__, __array__ or a buffer, numbers, or lists. Numbers\n" \
  "and lists of them take the dtype of data; arrays keep theirs. Updates are repeated as\n"    \
  "NumPy repeats them. Arrays with masks are a TypeError, but in lists, where NumPy drops\n"   \
  "masks. Returns `out`, which must not share memory with other operands but may be the\n"     \
  "data itself; without it a new array of the kind of data: NumPy's, PyTorch's, JAX's.\n\n"

#define STREW_REDUCTION_DOCUMENTATION                                                           \
  "exclude_self leaves the old value of a touched element out. wide rounds sums, differences\n" \
  "and products of floats of 8 and 16 bits once, not after every update.\n\n"

#define STREW_ERRORS_DOCUMENTATION                                                              \
  "Raises strew.Error with `status`, a sentence and `position`; nothing is written then. Its\n" \
  "status is STREW_INVALID_SHAPE for shapes that do not fit, STREW_INVALID_DTYPE where\n"       \
  "dtypes differ, indices are no integers or the reduction is not defined on the dtype,\n"      \
  "STREW_INVALID_AXIS, STREW_INVALID_ARGUMENT (exclude_self with \"sub\", a step of 0, more\n"  \
  "than 32 dims), STREW_UNSUPPORTED for memory of another device, STREW_OUT_OF_MEMORY,\n"

#define STREW_INDEX_ERRORS_DOCUMENTATION                                                      \
  STREW_ERRORS_DOCUMENTATION                                                                  \
  "STREW_OVERLAPPING_MEMORY, STREW_INDEX_OUT_OF_RANGE, and STREW_DUPLICATE_INDEX where the\n" \
  "context asks for it."

namespace strew::python {

// Ends of the signatures that stubs show; stubs.txt defines the names.
constexpr char kReductionSignature[] =
    "reduction: Reduction = 'none', exclude_self: bool = False, wide: bool = False, ";
constexpr char kOutSignature[] = "out: Out | None = None, context: Context | None = None) -> Out";

constexpr char kVersion[] = "The version of the C library.";
constexpr char kSimdTargets[] = "Instruction sets of this build that this CPU can run, best first.";

// Each stands behind the summary of reference/operator.h and a colon.
constexpr char kScatterElements[] =
    "    output = data\n"
    "    output[i0, ..., indices[i], ...] (+)= updates[i]    indices[i] in place of i[axis]\n\n"
    "data      [d0, ..., d(r-1)], r >= 1\n"
    "indices   [n0, ..., n(r-1)] with n(j) <= d(j) for j != axis, of any integer dtype\n"
    "updates   the shape of indices\n"
    "axis      in [-r, r - 1]\n\n" STREW_REDUCTION_DOCUMENTATION STREW_COMMON_DOCUMENTATION
        STREW_INDEX_ERRORS_DOCUMENTATION;

constexpr char kScatterNd[] =
    "    output = data\n"
    "    output[indices[t, 0], ..., indices[t, k-1], ...] (+)= updates[t, ...]\n\n"
    "data      [d0, ..., d(r-1)], r >= 1\n"
    "indices   its last dim is k <= r; of any integer dtype\n"
    "updates   indices.shape[:-1] + data.shape[k:]; where that is (), any shape with one "
    "element\n\n" STREW_REDUCTION_DOCUMENTATION STREW_COMMON_DOCUMENTATION
        STREW_INDEX_ERRORS_DOCUMENTATION;

constexpr char kScatterUpdate[] =
    "    output = data\n"
    "    output[a, indices[t], b] (+)= updates[a, t, b]    a before the axis, b behind it\n\n"
    "data      [d0, ..., d(r-1)], r >= 1\n"
    "indices   any shape, of any integer dtype\n"
    "updates   data.shape[:axis] + indices.shape + data.shape[axis+1:]\n"
    "axis      in [-r, r - 1]\n\n" STREW_REDUCTION_DOCUMENTATION STREW_COMMON_DOCUMENTATION
        STREW_INDEX_ERRORS_DOCUMENTATION;

constexpr char kSliceScatter[] =
    "    output = data\n"
    "    output[start0:stop0:step0, ...] (+)= updates    entry j slices axis axes[j]\n\n"
    "data               [d0, ..., d(r-1)], r >= 1\n"
    "updates            the shape of the slice, or one that NumPy broadcasts to it\n"
    "start, stop, step  a number or n <= r of them, in elements; no step: ones\n"
    "axes               n axes in [-r, r - 1]; none: 0, ..., n - "
    "1\n\n" STREW_REDUCTION_DOCUMENTATION STREW_COMMON_DOCUMENTATION STREW_ERRORS_DOCUMENTATION
    "and STREW_OVERLAPPING_MEMORY.";

constexpr char kTensorScatter[] =
    "    present_cache = past_cache\n"
    "    present_cache[b, ..., write_indices[b] + j, ...] = update[b, ..., j, ...]\n\n"
    "past_cache     [B, ..., m, ...], rank r >= 2\n"
    "update         the same with S <= m positions on `axis`\n"
    "write_indices  [B], of any integer dtype; none: zeros. They never count from the end.\n"
    "axis           in [-r, r - 1], not 0\n"
    "mode           \"linear\": write_indices[b] + S <= m; \"circular\": positions modulo "
    "m\n\n" STREW_COMMON_DOCUMENTATION STREW_ERRORS_DOCUMENTATION
    "STREW_OVERLAPPING_MEMORY, and STREW_INDEX_OUT_OF_RANGE; `position` is then b.";

}  // namespace strew::python

#endif  // STREW_PYTHON_DOCUMENTATION_H_
