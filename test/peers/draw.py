# SPDX-License-Identifier: Apache-2.0
"""Random operands of the operators, the same for the same seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

import ml_dtypes
import numpy as np

from arrays import random_bits, random_elements

Item = TypeVar("Item")

BOOL = [np.dtype("bool")]
SIGNED = [np.dtype(name) for name in ("int8", "int16", "int32", "int64")]
UNSIGNED = [np.dtype(name) for name in ("uint8", "uint16", "uint32", "uint64")]
INTEGERS = SIGNED + UNSIGNED
SHORT_FLOATS = [np.dtype("float16"), np.dtype(ml_dtypes.bfloat16)]
FLOAT8 = [np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)]
LONG_FLOATS = [np.dtype("float32"), np.dtype("float64")]
FLOATS = SHORT_FLOATS + LONG_FLOATS
COMPLEX = [np.dtype("complex64"), np.dtype("complex128")]


@dataclasses.dataclass(frozen=True)
class Operands:
    data: np.ndarray
    indices: np.ndarray
    updates: np.ndarray
    axis: int = 0


@dataclasses.dataclass(frozen=True)
class Box:
    """A slice of data by start, stop and step on some axes, and what goes there."""

    data: np.ndarray
    updates: np.ndarray
    start: list[int]
    stop: list[int]
    step: list[int]
    axes: list[int]

    @property
    def slices(self) -> list[list[int]]:
        return [self.start, self.stop, self.step, self.axes]


class Draw:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def one_of(self, items: Sequence[Item]) -> Item:
        return items[self.rng.integers(len(items))]

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        """Without dims of 0, which most peers refuse somewhere."""
        rank = rank or int(self.rng.integers(1, 5))
        return tuple(int(self.one_of([1, 2, 3, 4, 7])) for _ in range(rank))

    def values(self, dtype: np.dtype, shape: Sequence[int], small: bool = False) -> np.ndarray:
        """Any integers, and floats without 0 of which a few sum up without rounding.

        `small` integers are not negative, and sums of them do not wrap.
        """
        size = int(np.prod(shape))
        if dtype.kind == "b":
            drawn = random_elements(self.rng, dtype, size)
        elif dtype.kind in "iu":
            wide = random_bits(self.rng, dtype, size)
            drawn = self.rng.integers(0, 8, size).astype(dtype) if small else wide
        elif dtype.kind == "c":
            drawn = self._halves(size) + 1j * self._halves(size)
        else:
            drawn = self._halves(size)
        return drawn.astype(dtype).reshape(shape)

    def powers(self, dtype: np.dtype, shape: Sequence[int]) -> np.ndarray:
        """Floats of which a few multiply without rounding; other dtypes as values() has them."""
        if dtype.kind in "biu":
            return self.values(dtype, shape)
        drawn = self.rng.choice([-2, -1, -0.5, 0.5, 1, 2], (2, *shape))
        return (drawn[0] + 1j * drawn[1] if dtype.kind == "c" else drawn[0]).astype(dtype)

    def elements(
        self, dtypes: Sequence[np.dtype], unique: bool = False, wrap: bool = True, **how: bool
    ) -> Operands:
        """Operands of scatter_elements. `wrap` draws negative indices too."""
        data = self._data(dtypes, **how)
        axis = int(self.rng.integers(data.ndim))
        shape = [int(self.rng.integers(1, dim + 1)) for dim in data.shape]
        if not unique:
            shape[axis] = int(self.rng.integers(1, 2 * data.shape[axis] + 1))
            indices = self.rng.integers(0, data.shape[axis], shape)
        else:
            places = self.rng.permuted(np.indices(data.shape)[axis], axis=axis)
            indices = places[tuple(slice(size) for size in shape)].copy()
        indices = self.wrapped(indices, data.shape[axis]) if wrap else indices
        return Operands(data, indices, self._like(data, shape, **how), self._signed(axis, data))

    def tuples(
        self, dtypes: Sequence[np.dtype], unique: bool = False, wrap: bool = True, **how: bool
    ) -> Operands:
        """Operands of scatter_nd."""
        data = self._data(dtypes, **how)
        count = int(self.rng.integers(1, data.ndim + 1))
        named = data.shape[:count]
        outer = self.shape(self.one_of([1, 1, 2]))
        if unique:
            most = int(np.prod(named))
            outer = (int(self.rng.integers(1, most + 1)),)
            flat = self.rng.permutation(most)[: outer[0]]
        else:
            flat = self.rng.integers(0, np.prod(named), outer)
        columns = np.unravel_index(flat, named)
        if wrap:
            columns = [self.wrapped(column, dim) for column, dim in zip(columns, named)]
        updates = self._like(data, (*outer, *data.shape[count:]), **how)
        return Operands(data, np.stack(columns, axis=-1), updates)

    def rows(
        self,
        dtypes: Sequence[np.dtype],
        unique: bool = False,
        wrap: bool = True,
        indices_rank: int | None = None,
        **how: bool,
    ) -> Operands:
        """Operands of scatter_update."""
        data = self._data(dtypes, **how)
        axis = int(self.rng.integers(data.ndim))
        dim = data.shape[axis]
        if unique:
            indices = self.rng.permutation(dim)[: self.rng.integers(1, dim + 1)]
            if indices_rank is None:
                indices = indices.reshape(self.one_of([(-1,), (1, -1), (-1, 1)]))
        else:
            rank = self.one_of([1, 1, 2]) if indices_rank is None else indices_rank
            indices = self.rng.integers(0, dim, self.shape(rank) if rank else ())
        indices = self.wrapped(np.asarray(indices), dim) if wrap else np.asarray(indices)
        shape = (*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :])
        return Operands(data, indices, self._like(data, shape, **how), self._signed(axis, data))

    def box(self, dtypes: Sequence[np.dtype], backwards: bool = True) -> Box:
        """Operands of slice_scatter; no start lies before the axis where the step is negative."""
        data = self._data(dtypes)
        count = int(self.rng.integers(1, data.ndim + 1))
        axes = [int(axis) for axis in self.rng.permutation(data.ndim)[:count]]
        slices = [self._slice(data.shape[axis], backwards) for axis in axes]
        key = [slice(None)] * data.ndim
        for axis, entry in zip(axes, slices):
            key[axis] = slice(*entry)
        updates = self._like(data, data[tuple(key)].shape)
        start, stop, step = (list(numbers) for numbers in zip(*slices))
        return Box(data, updates, start, stop, step, [self._signed(axis, data) for axis in axes])

    def wrapped(self, indices: np.ndarray, dim: int) -> np.ndarray:
        """Some of the indices, counted from the end."""
        return np.where(self.rng.integers(0, 2, indices.shape), indices, indices - dim)

    def _slice(self, dim: int, backwards: bool) -> tuple[int, int, int]:
        step = int(self.one_of([1, 2, 3, -1, -2, -3] if backwards else [1, 1, 2, 3]))
        start = int(self.rng.integers(-dim if step < 0 else -dim - 2, dim + 3))
        stop = int(self.one_of([*range(-dim - 2, dim + 3), -(2**31), 2**31 - 1]))
        return start, stop, step

    def _signed(self, axis: int, data: np.ndarray) -> int:
        return axis - data.ndim * int(self.rng.integers(0, 2))

    def _data(self, dtypes: Sequence[np.dtype], **how: bool) -> np.ndarray:
        return self._filled(self.one_of(dtypes), self.shape(), **how)

    def _like(self, data: np.ndarray, shape: Sequence[int], **how: bool) -> np.ndarray:
        return self._filled(data.dtype, shape, **how)

    def _filled(
        self, dtype: np.dtype, shape: Sequence[int], small: bool = False, powers: bool = False
    ) -> np.ndarray:
        return self.powers(dtype, shape) if powers else self.values(dtype, shape, small)

    def _halves(self, size: int) -> np.ndarray:
        return self.rng.integers(1, 9, size) * self.rng.choice([-0.5, 0.5], size)
