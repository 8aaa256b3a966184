// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_DOCUMENTATION_H_
#define STREW_PYTHON_DOCUMENTATION_H_

#include "reference/operator_help.h"

#define STREW_COMMON_DOCUMENTATION                                                             \
  "Operands are anything with __dlpack__, __array__ or a buffer, numbers, or lists. Numbers\n" \
  "and lists of them take the dtype of data; arrays keep theirs. Updates are repeated as\n"    \
  "NumPy repeats them. Masked arrays raise TypeError; within a list NumPy ignores their\n"     \
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
constexpr char kScatterElements[] = STREW_SCATTER_ELEMENTS_HELP
    "\n" STREW_REDUCTION_DOCUMENTATION STREW_COMMON_DOCUMENTATION STREW_INDEX_ERRORS_DOCUMENTATION;

constexpr char kScatterNd[] = STREW_SCATTER_ND_HELP
    "\n" STREW_REDUCTION_DOCUMENTATION STREW_COMMON_DOCUMENTATION STREW_INDEX_ERRORS_DOCUMENTATION;

constexpr char kScatterUpdate[] = STREW_SCATTER_UPDATE_HELP
    "\n" STREW_REDUCTION_DOCUMENTATION STREW_COMMON_DOCUMENTATION STREW_INDEX_ERRORS_DOCUMENTATION;

constexpr char kSliceScatter[] = STREW_SLICE_SCATTER_HELP
    "\n" STREW_REDUCTION_DOCUMENTATION STREW_COMMON_DOCUMENTATION STREW_ERRORS_DOCUMENTATION
    "and STREW_OVERLAPPING_MEMORY.";

constexpr char kTensorScatter[] = STREW_TENSOR_SCATTER_HELP
    "mode           \"linear\": write_indices[b] + S <= m; \"circular\": positions modulo m\n\n"
    "Without write_indices, all are 0.\n\n" STREW_COMMON_DOCUMENTATION STREW_ERRORS_DOCUMENTATION
    "STREW_OVERLAPPING_MEMORY, and STREW_INDEX_OUT_OF_RANGE; `position` is then b.";

}  // namespace strew::python

#endif  // STREW_PYTHON_DOCUMENTATION_H_
