# SPDX-License-Identifier: Apache-2.0
"""Gathers on NumPy arrays, and gathers whose result is scattered."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .indexed import Indexed
from .reduction import Reduction
from .scatter import Place, Scatter
from .workloads import Operator, Shape, Slice

# The number of elements of updates made at a time, because all would take gigabytes.
MOST_UPDATES = 1 << 24


@dataclass(frozen=True)
class Gather(Indexed):
    """output = source[indices], where `operator` is that which would write there."""

    operator: Operator
    source: np.ndarray
    indices: np.ndarray
    output: np.ndarray
    axis: int = 0

    in_place = False
    slice: Slice | None = None

    @property
    def shape(self) -> Shape:
        return self.source.shape

    @property
    def update_shape(self) -> Shape:
        return self.output.shape

    def result(self) -> np.ndarray:
        return self.source.reshape(-1)[self.places()]


@dataclass(frozen=True)
class GatherScatter:
    """A scatter whose updates are the elements that `gather` reads, times the weights.

    The array of updates is memory for contestants that store them; its old contents do not matter.
    """

    gather: Gather
    weights: np.ndarray | None
    scatter: Scatter

    @property
    def source(self) -> np.ndarray:
        return self.gather.source

    @property
    def output(self) -> np.ndarray:
        return self.scatter.output

    @property
    def in_place(self) -> bool:
        return self.scatter.in_place

    @property
    def how(self) -> Reduction:
        return self.scatter.how

    @property
    def of_rows(self) -> bool:
        """True if one index takes a row of source, and one adds it to a row of data."""
        both = (self.gather, self.scatter)
        return all(of.row_indices is not None and of.row_indices.ndim == 1 for of in both)

    @property
    def row_weights(self) -> np.ndarray | None:
        """One weight for each row of updates, if they have that shape; ones without weights."""
        rows = self.scatter.update_shape[0]
        if self.weights is None:
            return np.ones(rows, self.source.dtype)
        one_each = self.weights.shape[0] == rows == self.weights.size
        return self.weights.reshape(-1) if one_each else None

    @property
    def is_matrix_product(self) -> bool:
        """True for output = data + matrix @ source with a sparse matrix of the weights."""
        rows = self.of_rows and self.row_weights is not None
        return rows and self.how.narrow == "add" and self.flattened is not None

    @property
    def flattened(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Source, data and output with rows of one dimension, where that takes no copy."""
        arrays = (self.source, self.scatter.data, self.output)
        if any(array.ndim > 2 and not array.flags.c_contiguous for array in arrays):
            return None
        return tuple(array.reshape(len(array), -1) for array in arrays)

    @property
    def csr(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The matrix: weights and columns by row, and where rows start."""
        return self.row_weights[self.scatter.order], self.ordered_sources, self.row_starts

    @property
    def ordered_sources(self) -> np.ndarray:
        """The rows that entries read, in the order of those that they write."""
        return self.gather.row_indices[self.scatter.order].astype(np.int32)

    @property
    def ordered_weights(self) -> np.ndarray | None:
        return None if self.weights is None else self.row_weights[self.scatter.order]

    @property
    def row_starts(self) -> np.ndarray:
        return self.scatter.row_starts

    def parts(self) -> Iterator[tuple[Place, Scatter]]:
        """Scatters that do the work together, and the part of the output that each writes. These
        are columns if rows are large, so that their updates need little memory."""
        scatter = self.scatter
        rows, columns = scatter.update_shape[0], math.prod(scatter.update_shape[1:])
        if not self.of_rows or rows * columns <= MOST_UPDATES or scatter.data.ndim != 2:
            updates = product(self.gather.result(), self.weights)
            yield ..., replace(scatter, updates=updates)
            return
        step = max(1, MOST_UPDATES // rows)
        for start in range(0, columns, step):
            part = (..., slice(start, min(columns, start + step)))
            updates = product(self.source[part][self.gather.row_indices], _part(self.weights, part))
            yield part, replace(
                scatter, data=scatter.data[part], updates=updates, output=scatter.output[part]
            )


def product(updates: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Each product rounded. Those of complex numbers by parts, because NumPy may fuse them."""
    if weights is None:
        return updates
    if updates.dtype.kind != "c":
        return np.multiply(updates, weights)
    result = np.empty_like(updates)
    result.real = updates.real * weights.real - updates.imag * weights.imag
    result.imag = updates.real * weights.imag + updates.imag * weights.real
    return result


def _part(weights: np.ndarray | None, part: Place) -> np.ndarray | None:
    whole = weights is None or weights.shape[-1] == 1
    return weights if whole else weights[part]
