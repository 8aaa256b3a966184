# SPDX-License-Identifier: Apache-2.0
"""The arrays of a case, the same for the same seed."""

from __future__ import annotations

import math

import ml_dtypes  # noqa: F401  NumPy knows bfloat16 by name once this is imported
import numpy as np

from ..buffers import JUNK, aligned
from ..gather import Gather, GatherScatter
from ..jobs import Job, job_of
from ..scatter import Scatter
from ..workloads import Operator, Shape, Use
from .case import Case, Layout, Pattern

GAP = 3  # elements between pitched rows


class Operands:
    """Data, indices, updates and the output of one case.

    Factors have the magnitude 1, so that products stay normal however often they are repeated.
    Integers of means are small, because the sums of peers wrap.
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._random = np.random.default_rng(case.seed)
        layouts = case.layouts
        factors = case.reduction.startswith("mul")
        self.data = self._laid(self._values(case.data), layouts.data)
        self.updates = self._updates(factors)
        indices = self._indices(case.data, case.pattern)
        self.indices = None if indices is None else self._laid(indices, layouts.indices)
        self.output = self.updates if case.use is Use.GATHER else aligned(case.data, case.dtype)
        if case.in_place:
            self.output = self._laid(self.output, layouts.data)
        if case.use is Use.GATHER_SCATTER:
            self.source = self._laid(self._values(case.source, factors), layouts.updates)
            self.taken = self._indices(case.source, case.source_pattern)
            self.weights = None if case.weights is None else self._values(case.weights, factors)
        self.restore()

    def job(self, in_place: bool | None = None) -> Job:
        """The work of the case, in place as the case says unless overridden."""
        case, scatter = self._case, self.scatter(in_place)
        operands: Scatter | Gather | GatherScatter = scatter
        if case.use is Use.GATHER:
            operands = Gather(case.operator, self.data, self.indices, self.output, case.axis)
        elif case.use is Use.GATHER_SCATTER:
            gather = Gather(case.operator, self.source, self.taken, self.updates, case.axis)
            operands = GatherScatter(gather, self.weights, scatter)
        return job_of(case.use, operands)

    def scatter(self, in_place: bool | None = None) -> Scatter:
        """The operator's call, if there is one."""
        case = self._case
        in_place = case.in_place if in_place is None else in_place
        return Scatter(
            case.operator,
            self.output if in_place else self.data,
            self.indices,
            self.updates,
            case.reduction,
            self.output,
            case.axis,
            case.slice,
        )

    def restore(self) -> None:
        """The output as it is before a call."""
        if self._case.in_place:
            np.copyto(self.output, self.data)
        else:
            bits = self.output.view(np.uint8) if self.output.flags.c_contiguous else self.output
            bits[...] = JUNK

    def _updates(self, factors: bool) -> np.ndarray:
        """Values, or memory for those that are read from elsewhere."""
        case = self._case
        if case.use is Use.GATHER_SCATTER:
            return aligned(case.updates, case.dtype)
        if case.use is Use.GATHER:
            return self._laid(aligned(case.updates, case.dtype), case.layouts.updates)
        return self._laid(self._values(case.updates, factors), case.layouts.updates)

    def _values(self, shape: Shape, factors: bool = False) -> np.ndarray:
        """Floats of either sign, 1/4 <= |value| < 1."""
        random, values = self._random, aligned(shape, self._case.dtype)
        kind = values.dtype.kind
        if kind == "b":
            values[...] = random.integers(0, 2, shape, np.uint8)
        elif kind in "iu":
            small = self._case.reduction.startswith("mean")
            low, high = (0, 4) if small else (-128, 128)
            values.view(f"i{values.itemsize}")[...] = random.integers(low, high, shape, np.int16)
        elif kind == "c":
            units = np.array([1, -1, 1j, -1j], values.dtype)
            values[...] = units[random.integers(0, 4, shape, np.uint8)]
            if not factors:
                values *= self._magnitudes(shape) + np.complex64(0.25j)
        else:
            signs = 1 - 2 * random.integers(0, 2, shape, np.int8).astype(np.float32)
            values[...] = signs if factors else self._magnitudes(shape) * signs
        return values

    def _magnitudes(self, shape: Shape) -> np.ndarray:
        return self._random.random(shape, np.float32) * np.float32(0.75) + np.float32(0.25)

    def _indices(self, tensor: Shape, pattern: Pattern) -> np.ndarray | None:
        """The indices that name places in a tensor."""
        case = self._case
        if case.operator is Operator.SLICE_SCATTER:
            return None
        places = case.places_in(tensor)
        limit = math.prod(places)
        indices = aligned(case.indices, case.index_dtype)
        if case.operator is Operator.SCATTER_ND:
            numbers = self._numbers(case.indices[:-1], limit, 0, pattern)
            indices[...] = np.stack(np.unravel_index(numbers, places), -1)
            return self._signed(indices, places, pattern)
        shape, axis = list(case.indices), case.axis
        if case.operator is Operator.SCATTER_UPDATE:
            axis = 0
        elif case.layouts.indices is Layout.BROADCAST:
            shape[case.still] = 1
        indices[...] = self._numbers(tuple(shape), limit, axis, pattern)
        return self._signed(indices, places, pattern)

    def _signed(self, indices: np.ndarray, places: Shape, pattern: Pattern) -> np.ndarray:
        if pattern is Pattern.SIGNED:
            indices -= np.array(places) * self._random.integers(0, 2, indices.shape)
        return indices

    def _numbers(self, shape: Shape, limit: int, axis: int, pattern: Pattern) -> np.ndarray:
        random = self._random
        if pattern is Pattern.EQUAL:
            return np.full(shape, random.integers(limit))
        if pattern is Pattern.PERMUTED:
            return self._permuted(shape, limit, axis)
        if pattern is Pattern.ZIPF:
            rank = ((limit + 1) ** random.random(shape)).astype(np.int64) - 1
            return random.permutation(limit)[np.minimum(rank, limit - 1)]
        uniform = random.integers(0, limit, shape)
        return np.sort(uniform, axis) if pattern is Pattern.SORTED else uniform

    def _permuted(self, shape: Shape, limit: int, axis: int) -> np.ndarray:
        """In each line, a part of a permutation, or every place equally often."""
        count = shape[axis]
        if len(shape) == 1:
            places = self._random.permutation(max(limit, count))
            return places[:count] % limit
        line = np.arange(max(limit, count)).reshape(
            [-1 if a == axis else 1 for a in range(len(shape))]
        )
        full = [max(limit, count) if a == axis else dim for a, dim in enumerate(shape)]
        lines = self._random.permuted(np.broadcast_to(line, full), axis=axis)
        return lines[tuple(map(slice, shape))] % limit

    def _laid(self, array: np.ndarray, layout: Layout) -> np.ndarray:
        """The same values in the layout; if it is broadcast, those at the start of the axis."""
        shape = array.shape
        if layout is Layout.BROADCAST:
            strides = list(array.strides)
            strides[self._case.still] = 0
            # Not broadcast_to(), because some systems refuse read-only views.
            return np.lib.stride_tricks.as_strided(array, shape, strides)
        if layout is Layout.PLAIN:
            return array
        if layout is Layout.TRANSPOSED:
            laid = aligned(shape[::-1], array.dtype).swapaxes(0, -1)
            if array.ndim > 2:
                laid = aligned((shape[-1], *shape[1:-1], shape[0]), array.dtype).swapaxes(0, -1)
        elif layout is Layout.EVERY_SECOND:
            laid = aligned((*shape[:-1], 2 * shape[-1]), array.dtype)[..., ::2]
        else:
            laid = aligned((*shape[:-1], shape[-1] + GAP), array.dtype)[..., : shape[-1]]
        laid[...] = array
        return laid
