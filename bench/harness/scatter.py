# SPDX-License-Identifier: Apache-2.0
"""One scatter on NumPy arrays: what strew and all its peers are asked to do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .library import Library
from .workloads import Operator, Slice


@dataclass(frozen=True)
class Scatter:
    """The operands; in place where `output` is `data` itself.

    A slice has no indices, and only a slice has a `slice`. `unique` promises that no element is
    named twice. `dtype` names what NumPy has no dtype for.
    """

    operator: Operator
    data: np.ndarray
    indices: np.ndarray | None
    updates: np.ndarray
    reduction: str
    output: np.ndarray
    axis: int = 0
    slice: Slice | None = None
    unique: bool = False
    dtype: str | None = None

    @property
    def in_place(self) -> bool:
        return self.output is self.data

    @property
    def slices(self) -> tuple[slice, ...]:
        """The slice as NumPy takes it, one entry an axis."""
        entries = [slice(None)] * self.data.ndim
        cut = self.slice
        for axis, start, stop, step in zip(cut.axes, cut.start, cut.stop, cut.step):
            entries[axis] = slice(start, stop, step)
        return tuple(entries)

    @cached_property
    def line_indices(self) -> np.ndarray | None:
        """One index for each slice of the axis that is named as a whole."""
        if self.operator is Operator.SCATTER_UPDATE:
            return self.indices
        if self.operator is not Operator.SCATTER_ELEMENTS:
            return None
        others = [axis for axis in range(self.data.ndim) if axis != self.axis]
        indices = self.indices
        if any(indices.shape[axis] != self.data.shape[axis] for axis in others):
            return None
        if any(indices.strides[axis] for axis in others if indices.shape[axis] > 1):
            return None
        return indices[tuple(0 if axis in others else slice(None) for axis in range(indices.ndim))]

    @property
    def row_indices(self) -> np.ndarray | None:
        """One index for each row of data that is named as a whole: data[row_indices] = updates."""
        if self.operator is Operator.SCATTER_ND and self.indices.shape[-1] == 1:
            return self.indices[..., 0]
        return self.line_indices if self.axis == 0 else None

    @property
    def element_indices(self) -> np.ndarray | None:
        """One index along the axis for each element of updates, where it takes as many."""
        if self.operator is Operator.SCATTER_ELEMENTS:
            if self.row_indices is None or self.indices.flags.c_contiguous:
                return self.indices
        return self.row_indices if self.data.ndim == 1 else None

    @property
    def tuple_indices(self) -> np.ndarray | None:
        """One tuple for each slice of data, as scatter_nd takes them."""
        if self.operator is Operator.SCATTER_ND:
            return self.indices
        rows = self.row_indices
        return None if rows is None else rows[..., None]

    @cached_property
    def flat_indices(self) -> np.ndarray:
        """The tuples of scatter_nd as numbers of slices."""
        tuples = tuple(np.moveaxis(self.indices, -1, 0))
        return np.ravel_multi_index(tuples, self.data.shape[: len(tuples)]).ravel()

    def places(self) -> np.ndarray:
        """For each element of updates the element of data that it names, as a flat number."""
        shape = self.data.shape
        if self.operator is Operator.SLICE_SCATTER:
            return np.arange(self.data.size).reshape(shape)[self.slices]
        if self.operator is Operator.SCATTER_UPDATE:
            places = np.take(np.arange(self.data.size).reshape(shape), self.indices, self.axis)
            return places.reshape(self.updates.shape)
        if self.operator is Operator.SCATTER_ND:
            width = math.prod(shape[self.indices.shape[-1] :])
            places = self.flat_indices[:, None] * width + np.arange(width)
            return places.reshape(self.updates.shape)
        places = self.indices.astype(np.int64) * math.prod(shape[self.axis + 1 :])
        places += self.offsets
        return places

    @property
    def offsets(self) -> np.ndarray | int:
        """The part of the elements' offsets that axes without indices make, to be broadcast."""
        return sum(
            along * math.prod(self.data.shape[axis + 1 :])
            for axis, along in enumerate(np.ogrid[tuple(map(slice, self.updates.shape))])
            if axis != self.axis
        )

    @property
    def grid(self) -> tuple[np.ndarray, ...]:
        """Index arrays, one an axis, that name the place in data of each element of updates."""
        axes = list(np.ogrid[tuple(map(slice, self.updates.shape))])
        axes[self.axis] = self.indices
        return tuple(axes)


def contiguous(*arrays: np.ndarray) -> bool:
    """True if each lies in row-major order without gaps."""
    return all(array.flags.c_contiguous for array in arrays)


def strew_call(library: Library, scatter: Scatter) -> Callable[[], None]:
    """The call of strew that does it."""
    data = library.tensor(scatter.data, scatter.dtype)
    output = data if scatter.in_place else library.tensor(scatter.output, scatter.dtype)
    updates = library.tensor(scatter.updates, scatter.dtype)
    reduction = scatter.reduction
    if scatter.operator is Operator.SLICE_SCATTER:
        cut = scatter.slice
        bounds = (cut.start, cut.stop, cut.step, cut.axes)
        return library.slice_scatter(data, updates, *bounds, reduction, output)
    indices = library.tensor(scatter.indices)
    if scatter.operator is Operator.SCATTER_ND:
        return library.scatter_nd(data, indices, updates, reduction, output)
    run = library.scatter_elements
    if scatter.operator is Operator.SCATTER_UPDATE:
        run = library.scatter_update
    return run(data, indices, updates, scatter.axis, reduction, output)
