// SPDX-License-Identifier: Apache-2.0
// The names of codes and SIMD targets, and the version.
#include "base/dtype.h"
#include "kernel/kernel.h"
#include "strew/strew.h"

#define STREW_QUOTE(x) #x
#define STREW_TEXT(x) STREW_QUOTE(x)

// X(constant after STREW_, description)
#define STREW_FOR_EACH_STATUS(X)                                                              \
  X(OK, "The call succeeded.")                                                                \
  X(INVALID_ARGUMENT, "An argument is NULL, unbound, unknown or not allowed.")                \
  X(INVALID_DTYPE, "The dtypes do not go together, or the reduction is not defined on them.") \
  X(INVALID_SHAPE, "The ranks or the extents of the operands do not go together.")            \
  X(INVALID_AXIS, "An axis is out of range or named twice.")                                  \
  X(INDEX_OUT_OF_RANGE, "An index lies outside of its axis.")                                 \
  X(DUPLICATE_INDEX, "Two updates name one element.")                                         \
  X(OVERLAPPING_MEMORY, "The output shares memory with an input or with itself.")             \
  X(SIZE_OVERFLOW, "A size is larger than the address space.")                                \
  X(OUT_OF_MEMORY, "Memory could not be allocated.")                                          \
  X(UNSUPPORTED, "This build, or this CPU, does not have what was asked for.")                \
  X(RUNNER_FAILED, "The parallel_for of the caller failed; the output is unspecified.")

extern "C" {

const char* strew_version(void) {
  return STREW_TEXT(STREW_VERSION_MAJOR) "." STREW_TEXT(STREW_VERSION_MINOR) "." STREW_TEXT(
      STREW_VERSION_PATCH);
}

int32_t strew_version_number(void) {
  return STREW_VERSION_MAJOR * 10000 + STREW_VERSION_MINOR * 100 + STREW_VERSION_PATCH;
}

const char* strew_status_name(strew_status status) {
  switch (status) {
#define STREW_STATUS_NAME(CONSTANT, DESCRIPTION) \
  case STREW_##CONSTANT:                         \
    return "STREW_" #CONSTANT;
    STREW_FOR_EACH_STATUS(STREW_STATUS_NAME)
#undef STREW_STATUS_NAME
    default:
      return "unknown";
  }
}

const char* strew_status_description(strew_status status) {
  switch (status) {
#define STREW_STATUS_DESCRIPTION(CONSTANT, DESCRIPTION) \
  case STREW_##CONSTANT:                                \
    return DESCRIPTION;
    STREW_FOR_EACH_STATUS(STREW_STATUS_DESCRIPTION)
#undef STREW_STATUS_DESCRIPTION
    default:
      return "This version of the library does not return this code.";
  }
}

const char* strew_dtype_name(strew_dtype dtype) { return strew::DescribeDtype(dtype).name; }

size_t strew_dtype_size(strew_dtype dtype) {
  return static_cast<size_t>(strew::DescribeDtype(dtype).size);
}

const char* strew_simd_target(void) { return strew::kernel::TargetName(0); }

const char* strew_simd_target_at(int32_t i) { return strew::kernel::TargetName(i); }

}  // extern "C"
