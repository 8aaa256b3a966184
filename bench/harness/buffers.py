# SPDX-License-Identifier: Apache-2.0
"""The memory that all contestants of a workload share."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from .scatter import Scatter
from .workloads import IndexPattern, Operator, Shape, Workload

SEED = 20240229
ALIGNMENT = 64  # what JAX and OpenVINO ask of memory that they are to use as it is
JUNK = 0x5A


def aligned(shape: Shape, dtype: str | np.dtype) -> np.ndarray:
    """An array whose first element stands at the start of a cache line."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    skip = -memory.ctypes.data % ALIGNMENT
    return memory[skip : skip + size].view(dtype).reshape(shape)


class Buffers:
    """Operands from a fixed seed; a slice has no indices.

    Floats are of either sign, 1/16 <= |value| < 1, every bit of the mantissa random: sums of them
    are rounded, and stay finite however often they are added to the same memory.
    """

    def __init__(self, workload: Workload) -> None:
        random = np.random.default_rng(SEED)
        self.workload = workload
        self.data = _values(random, workload.data, workload.dtype)
        self.updates = _values(random, workload.updates, workload.dtype)
        self.output = aligned(workload.data, workload.dtype)
        self.indices = _indices(random, workload)

    def scatter(self, reduction: str, in_place: bool) -> Scatter:
        """The same operands serve every reduction, in place and not."""
        workload = self.workload
        return Scatter(
            workload.operator,
            self.output if in_place else self.data,
            self.indices,
            self.updates,
            reduction,
            self.output,
            workload.axis,
            workload.slice,
            workload.pattern is IndexPattern.UNIQUE_TUPLES,
        )

    @cached_property
    def copy_target(self) -> np.ndarray:
        """The destination of the copies that serve as yardsticks of in-place rows."""
        return aligned(self.workload.updates, self.workload.dtype)

    def restore_output(self, in_place: bool) -> None:
        """As it is before a call: data where that is updated in place, else junk."""
        if in_place:
            np.copyto(self.output, self.data)
        else:
            self.output.view(np.uint8)[...] = JUNK


def _values(random: np.random.Generator, shape: Shape, dtype: str) -> np.ndarray:
    values = aligned(shape, dtype)
    if values.dtype.kind in "iu":
        values[...] = random.integers(-128, 128, shape, np.int8)
        return values
    bits = random.integers(0, 1 << 32, shape, np.uint32)
    magnitude = (bits & 0x7FFFFF | 0x3F800000).view(np.float32)  # [1, 2)
    scale = np.float32([1 / 2, 1 / 4, 1 / 8, 1 / 16])[bits >> 23 & 3]
    values[...] = np.where(bits >> 31, -magnitude, magnitude) * scale
    return values


def _indices(random: np.random.Generator, workload: Workload) -> np.ndarray | None:
    if workload.operator is Operator.SLICE_SCATTER:
        return None
    pattern, shape = workload.pattern, workload.indices
    if pattern is IndexPattern.STRIDE_0_ROWS:
        rows = aligned(shape[:1], np.int64)
        rows[...] = random.integers(0, workload.data[workload.axis], shape[:1])
        # Not broadcast_to(): some systems refuse views that cannot be written.
        return np.lib.stride_tricks.as_strided(rows, shape, (*rows.strides, 0))
    indices = aligned(shape, np.int64)
    if pattern is IndexPattern.UNIQUE_TUPLES:
        prefix = workload.data[: shape[-1]]
        chosen = random.choice(math.prod(prefix), math.prod(shape[:-1]), replace=False)
        indices[...] = np.stack(np.unravel_index(chosen, prefix), -1).reshape(shape)
        return indices
    drawn = (shape[0], 1) if pattern is IndexPattern.CONSTANT_ROWS else shape
    indices[...] = random.integers(0, workload.data[workload.axis], drawn)
    return indices
