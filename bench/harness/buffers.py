# SPDX-License-Identifier: Apache-2.0
"""The memory that all contestants of a workload share."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from .gather import Gather, GatherScatter
from .scatter import Scatter
from .workloads import IndexPattern, Operator, Shape, Use, Workload

SEED = 20240229
ALIGNMENT = 64  # required by JAX and OpenVINO for memory that they use without a copy
JUNK = 0x5A
HUB_SHARE = 0.05  # of all entries


def aligned(shape: Shape, dtype: str | np.dtype) -> np.ndarray:
    """An array that starts on a cache line."""
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
        self.updates = self._updates(random)
        gathers = workload.use is Use.GATHER
        self.output = self.updates if gathers else aligned(workload.data, workload.dtype)
        self.indices = _indices(random, workload)
        if workload.use is Use.GATHER_SCATTER:
            self.source = _values(random, workload.data, workload.dtype)
            self.taken = _indices(random, replace(workload, pattern=IndexPattern.UNIFORM))
            ones = (1,) * (len(workload.data) - 1)
            shape = (workload.entries, *ones)
            self.weights = _values(random, shape, workload.dtype) if workload.weighted else None

    def _updates(self, random: np.random.Generator) -> np.ndarray:
        """Uninitialized memory if the values come from a source."""
        workload = self.workload
        if workload.use in (Use.GATHER, Use.GATHER_SCATTER):
            return aligned(workload.updates, workload.dtype)
        return _values(random, workload.updates, workload.dtype)

    def operands(self, reduction: str, in_place: bool) -> Scatter | Gather | GatherScatter:
        """The buffers of the work that the workload uses a plan for, or of the operator."""
        workload, scatter = self.workload, self.scatter(reduction, in_place)
        if workload.use is Use.GATHER:
            return Gather(scatter.operator, self.data, self.indices, self.output, scatter.axis)
        if workload.use is Use.GATHER_SCATTER:
            gather = Gather(scatter.operator, self.source, self.taken, self.updates, scatter.axis)
            return GatherScatter(gather, self.weights, scatter)
        return scatter

    def copies(self, in_place: bool) -> tuple[np.ndarray, np.ndarray] | None:
        """Source and target of a copy that serves as a yardstick: of data if the output is new,
        else of the updates. None if neither is most of the work."""
        match self.workload.use:
            case Use.GATHER:
                return self.copy_target, self.output
            case Use.CALL | Use.SCATTER:
                return (self.updates, self.copy_target) if in_place else (self.data, self.output)
        return None

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
        """The target of copies of the updates; all its pages are present."""
        target = aligned(self.workload.updates, self.workload.dtype)
        target.view(np.uint8)[...] = JUNK
        return target

    def restore_output(self, in_place: bool) -> None:
        """Resets the output as before a call: to data if it is updated in place, else to junk."""
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
        # Not broadcast_to(), because some systems refuse read-only views.
        return np.lib.stride_tricks.as_strided(rows, shape, (*rows.strides, 0))
    indices = aligned(shape, np.int64)
    if pattern is IndexPattern.UNIQUE_TUPLES:
        prefix = workload.data[: shape[-1]]
        chosen = random.choice(math.prod(prefix), math.prod(shape[:-1]), replace=False)
        indices[...] = np.stack(np.unravel_index(chosen, prefix), -1).reshape(shape)
        return indices
    if pattern is IndexPattern.HUB:
        indices[...] = _with_hub(random, shape, workload.data[workload.axis])
        return indices
    drawn = (shape[0], 1) if pattern is IndexPattern.CONSTANT_ROWS else shape
    indices[...] = random.integers(0, workload.data[workload.axis], drawn)
    return indices


def _with_hub(random: np.random.Generator, shape: Shape, limit: int) -> np.ndarray:
    """The row of rank k has k^-0.5 times the entries of the first; the hub is one of them."""
    rows = random.permutation(limit)[(random.random(shape) ** 2 * limit).astype(np.int64)]
    return np.where(random.random(shape) < HUB_SHARE, random.integers(limit), rows)
