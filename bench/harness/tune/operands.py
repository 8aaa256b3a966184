# SPDX-License-Identifier: Apache-2.0
"""Short functions for the calls whose times determine a constant."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..buffers import aligned
from ..library import Library
from ..scatter import Scatter, strew_call
from ..workloads import Operator, Shape, Slice

SEED = 1


@dataclass(frozen=True)
class Planned:
    """A call with plans, which `bind` makes."""

    bind: Callable[[Library], Callable[[], None]]


Timed = Scatter | Planned


def bound(library: Library, call: Timed) -> Callable[[], None]:
    """The call of strew, with all that it needs."""
    return call.bind(library) if isinstance(call, Planned) else strew_call(library, call)


def values(shape: Shape, dtype: str = "float32") -> np.ndarray:
    """Small enough that sums stay finite however often they are taken."""
    array = aligned(shape, dtype)
    if array.dtype.kind == "f":
        array[...] = np.random.default_rng(SEED).random(shape, np.float32) * 2.0**-20
    else:
        array[...] = 1
    return array


def uniform(shape: Shape, limit: int) -> np.ndarray:
    return np.random.default_rng(SEED).integers(0, limit, shape)


def elements(
    data: Shape,
    updates: Shape,
    axis: int = 0,
    reduction: str = "add",
    indices: np.ndarray | None = None,
    dtype: str = "float32",
) -> Scatter:
    """In place, at uniform indices by default."""
    if indices is None:
        indices = uniform(updates, data[axis])
    target = values(data, dtype)
    operator = Operator.SCATTER_ELEMENTS
    return Scatter(operator, target, indices, values(updates, dtype), reduction, target, axis)


def in_columns(scatter: Scatter) -> Scatter:
    """The same with the first axis innermost in data and updates."""
    target, updates = np.asfortranarray(scatter.data), np.asfortranarray(scatter.updates)
    return replace(scatter, data=target, updates=updates, output=target)


def update(data: Shape, count: int, axis: int, reduction: str = "add") -> Scatter:
    """In place: `count` slices of an axis, at uniform indices."""
    updates = (*data[:axis], count, *data[axis + 1 :])
    indices, target = uniform((count,), data[axis]), values(data)
    operator = Operator.SCATTER_UPDATE
    return Scatter(operator, target, indices, values(updates), reduction, target, axis)


def rows(
    data: Shape,
    count: int,
    reduction: str = "add",
    dtype: str = "float32",
    equal: bool = False,
) -> Scatter:
    """In place: `count` rows of a matrix, at uniform indices or all at one."""
    limit = 1 if equal else data[0]
    indices, target = uniform((count, 1), limit), values(data, dtype)
    updates = values((count, *data[1:]), dtype)
    return Scatter(Operator.SCATTER_ND, target, indices, updates, reduction, target)


def sliced(
    data: Shape,
    updates: np.ndarray,
    axis: int = 0,
    step: int = 1,
    reduction: str = "none",
) -> Scatter:
    """In place: the first places of an axis, or every `step`-th one."""
    target = values(data, updates.dtype.name)
    cut = Slice((axis,), (0,), (updates.shape[axis] * step,), (step,))
    operator = Operator.SLICE_SCATTER
    return Scatter(operator, target, None, updates, reduction, target, slice=cut)


def new_output(scatter: Scatter) -> Scatter:
    """The same with a new output, into which data is copied."""
    output = aligned(scatter.data.shape, scatter.data.dtype)
    output.fill(0)
    return replace(scatter, output=output)


def repeated(shape: Shape, dims: Shape, dtype: str = "float32") -> np.ndarray:
    """Values of a shape, broadcast along the axes where `dims` is 1."""
    return np.broadcast_to(values(dims, dtype), shape)


def rows_of(elements_in_all: int, run: int) -> Shape:
    """A matrix of so many elements, in rows of `run`."""
    return max(1, elements_in_all // run), run


def size(scatter: Scatter) -> int:
    """Elements of updates."""
    return math.prod(scatter.updates.shape)
