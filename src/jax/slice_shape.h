// SPDX-License-Identifier: Apache-2.0
// Shapes of slices whose start, stop and step are arrays, which are known when a program runs.
#ifndef STREW_JAX_SLICE_SHAPE_H_
#define STREW_JAX_SLICE_SHAPE_H_

#include <xla/ffi/api/ffi.h>

#include <cstdint>
#include <string>

namespace strew::jax {

// A sentence about updates that do not have the shape of the slice; empty if they have it, and for
// operands that strew_slice_scatter() refuses before it looks at the shape of updates.
//
// strew would broadcast them, but the gradients need updates in the shape of the slice: to sum over
// broadcast dims, JAX would have to know the shape when it traces the program.
std::string UpdatesShapeFault(xla::ffi::AnyBuffer data, xla::ffi::AnyBuffer updates,
                              xla::ffi::AnyBuffer start, xla::ffi::AnyBuffer stop,
                              xla::ffi::AnyBuffer step, xla::ffi::Span<const std::int64_t> axes);

}  // namespace strew::jax

#endif  // STREW_JAX_SLICE_SHAPE_H_
