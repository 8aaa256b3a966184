# SPDX-License-Identifier: Apache-2.0
"""Distributions of a workload's indices that are not uniform, by frequency and order."""

from __future__ import annotations

import enum
import math

import numpy as np

from .buffers import SEED, Buffers
from .workloads import IndexPattern, Operator, Shape

# How many elements of data a crowd shares.
STRETCH = 1024


class Distribution(enum.Enum):
    UNIFORM = "uniform"  # as the workload has them
    EQUAL = "all equal"
    HALF = "half equal"  # every other one, at random; the rest as uniform
    ZIPF = "Zipf"  # exponent 1, the places in random order
    SORTED = "sorted"  # the uniform ones, along the axis
    REVERSED = "reversed"  # the sorted ones backwards
    CROWDED = "one row"  # within one stretch of data; on a matrix one index for each row of indices


WORDS = (
    "all equal: every update goes to one place; el.first and el.last: all indices are one number.",
    "half equal: so does every other one, at random, and the rest is uniform.",
    "Zipf: exponent 1, the k-th most frequent of n places has log(1 + 1/k) / log(n + 1) of the "
    "updates; the places are in random order.",
    "sorted: the uniform ones, along the axis that they index; reversed: these backwards.",
    f"one row: uniform within {STRETCH} consecutive elements of data; el.first and el.last: the "
    "indices of each row are one number. There all equal means one row or one column of data.",
)


class Skewed:
    """The indices of some buffers, which can be laid out anew for each distribution."""

    def __init__(self, buffers: Buffers) -> None:
        indices, self._workload = buffers.indices, buffers.workload
        view = self._workload.pattern is IndexPattern.STRIDE_0_ROWS
        self._stored = indices[:, :1] if view else indices
        self._random = np.random.default_rng(SEED)
        uniform = self._numbers()
        self._indices = {
            distribution: self._as_stored(self._draw(distribution, uniform))
            for distribution in Distribution
        }

    def lay(self, distribution: Distribution) -> None:
        """Writes them to where the workload's indices are."""
        np.copyto(self._stored, self._indices[distribution])

    @property
    def _of_rows(self) -> bool:
        """True if one index names a whole row of a matrix, for scatter_elements."""
        patterns = (IndexPattern.CONSTANT_ROWS, IndexPattern.STRIDE_0_ROWS)
        return self._workload.pattern in patterns

    @property
    def _places(self) -> Shape:
        """The axes of data that are indexed."""
        workload = self._workload
        if workload.operator is Operator.SCATTER_ND:
            return workload.data[: workload.indices[-1]]
        return (workload.data[workload.axis],)

    def _numbers(self) -> np.ndarray:
        """The indices as they are, one number for a place."""
        if self._workload.operator is Operator.SCATTER_ND:
            tuples = tuple(np.moveaxis(self._stored, -1, 0))
            return np.ravel_multi_index(tuples, self._places).ravel()
        return self._stored[:, :1].copy() if self._of_rows else self._stored.copy()

    def _as_stored(self, numbers: np.ndarray) -> np.ndarray:
        """To be broadcast to the indices."""
        if self._workload.operator is not Operator.SCATTER_ND:
            return numbers
        shape = self._stored.shape
        numbers = np.broadcast_to(numbers, math.prod(shape[:-1]))
        return np.stack(np.unravel_index(numbers, self._places), -1).reshape(shape)

    def _draw(self, distribution: Distribution, uniform: np.ndarray) -> np.ndarray:
        random, shape, limit = self._random, uniform.shape, math.prod(self._places)
        one = random.integers(limit)
        axis = self._workload.axis
        match distribution:
            case Distribution.UNIFORM:
                return uniform
            case Distribution.EQUAL:
                return np.full((1,) * uniform.ndim, one)
            case Distribution.HALF:
                return np.where(random.integers(0, 2, shape, np.int8), one, uniform)
            case Distribution.ZIPF:
                rank = ((limit + 1) ** random.random(shape)).astype(np.int64) - 1
                return random.permutation(limit)[np.minimum(rank, limit - 1)]
            case Distribution.SORTED:
                return np.sort(uniform, axis)
            case Distribution.REVERSED:
                return np.flip(np.sort(uniform, axis), axis)
            case Distribution.CROWDED:
                return self._crowd(shape, limit)

    def _crowd(self, shape: Shape, limit: int) -> np.ndarray:
        if len(shape) > 1 and not self._of_rows:
            return self._random.integers(0, limit, (shape[0], 1))
        width = math.prod(self._workload.data) // limit
        most = max(1, STRETCH // width)
        start = self._random.integers(limit - most + 1)
        return self._random.integers(start, start + most, shape)
