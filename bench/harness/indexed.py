# SPDX-License-Identifier: Apache-2.0
"""The places that index operands name, for scatters and gathers."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from .workloads import Operator, Shape, Slice


class Indexed:
    """An index operand between a tensor of `shape` and its updates, of `update_shape`.

    A slice has no indices, and only a slice has a `slice`.
    """

    operator: Operator
    indices: np.ndarray | None
    axis: int
    slice: Slice | None

    @property
    def shape(self) -> Shape:
        raise NotImplementedError

    @property
    def update_shape(self) -> Shape:
        raise NotImplementedError

    @property
    def slices(self) -> tuple[slice, ...]:
        """The slice as NumPy takes it, one entry an axis."""
        entries = [slice(None)] * len(self.shape)
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
        others = [axis for axis in range(len(self.shape)) if axis != self.axis]
        indices = self.indices
        if any(indices.shape[axis] != self.shape[axis] for axis in others):
            return None
        if any(indices.strides[axis] for axis in others if indices.shape[axis] > 1):
            return None
        return indices[tuple(0 if axis in others else slice(None) for axis in range(indices.ndim))]

    @property
    def row_indices(self) -> np.ndarray | None:
        """One index for each row that is named as a whole: data[row_indices] = updates."""
        if self.operator is Operator.SCATTER_ND and self.indices.shape[-1] == 1:
            return self.indices[..., 0]
        return self.line_indices if self.axis == 0 else None

    @property
    def element_indices(self) -> np.ndarray | None:
        """One index along the axis for each element of updates, if the operator has as many."""
        if self.operator is Operator.SCATTER_ELEMENTS:
            if self.row_indices is None or self.indices.flags.c_contiguous:
                return self.indices
        return self.row_indices if len(self.shape) == 1 else None

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
        # Negative numbers count from the end.
        return np.ravel_multi_index(tuples, self.shape[: len(tuples)], mode="wrap").ravel()

    @cached_property
    def order(self) -> np.ndarray:
        """The entries in the order of their rows, those of one row in their own order."""
        return np.argsort(self.row_indices, kind="stable").astype(np.int32)

    @cached_property
    def ordered_rows(self) -> np.ndarray:
        return self.row_indices[self.order].astype(np.int32)

    @cached_property
    def row_starts(self) -> np.ndarray:
        """The first entry of each row in that order, and the number of entries."""
        rows = np.arange(self.shape[0] + 1)
        return np.searchsorted(self.ordered_rows, rows).astype(np.int32)

    def places(self) -> np.ndarray:
        """For each element of updates the element of data that it names, as a flat number."""
        shape = self.shape
        if self.operator is Operator.SLICE_SCATTER:
            return np.arange(math.prod(shape)).reshape(shape)[self.slices]
        if self.operator is Operator.SCATTER_UPDATE:
            places = np.take(np.arange(math.prod(shape)).reshape(shape), self.indices, self.axis)
            return places.reshape(self.update_shape)
        if self.operator is Operator.SCATTER_ND:
            width = math.prod(shape[self.indices.shape[-1] :])
            places = self.flat_indices[:, None] * width + np.arange(width)
            return places.reshape(self.update_shape)
        places = self.indices.astype(np.int64) % shape[self.axis]
        places *= math.prod(shape[self.axis + 1 :])
        places += self.offsets
        return places

    @property
    def offsets(self) -> np.ndarray | int:
        """The part of the elements' offsets from axes without indices, to be broadcast."""
        return sum(
            along * math.prod(self.shape[axis + 1 :])
            for axis, along in enumerate(np.ogrid[tuple(map(slice, self.update_shape))])
            if axis != self.axis
        )

    @property
    def grid(self) -> tuple[np.ndarray, ...]:
        """Index arrays, one per axis, that name the place in data of each element of updates."""
        axes = list(np.ogrid[tuple(map(slice, self.update_shape))])
        axes[self.axis] = self.indices
        return tuple(axes)
