# SPDX-License-Identifier: Apache-2.0
"""NumPy: assignment to slices and by index arrays, ufunc.at, put and put_along_axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ..contestants import Call, Contestant, Way, functional, in_order, on_copy
from ..gather import Gather
from ..indexed import Indexed
from ..scatter import Scatter
from ..workloads import Operator
from . import System

UFUNCS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}

Place = np.ndarray | tuple[np.ndarray, ...]


class Peer(System):
    """Always one thread."""

    name = "NumPy"
    version = np.__version__

    def prepare(self, scatter: Scatter) -> list[Contestant]:
        copy = "copyto", partial(np.copyto, scatter.output, scatter.data)
        return on_copy(self.name, _ways(scatter), copy, scatter)

    def gather(self, gather: Gather) -> list[Contestant]:
        contestants = super().gather(gather)
        if gather.operator is Operator.SCATTER_ELEMENTS:
            take = partial(np.take_along_axis, *_along(gather, gather.source))
            contestants.append(functional(self.name, "take_along_axis", take, np.asarray))
        return contestants

    def reads(self, gather: Gather) -> list[Way]:
        return list(_reads(gather))

    def product(self, updates: np.ndarray, weights: np.ndarray) -> Call:
        return partial(np.multiply, updates, weights, out=updates)

    def order(self, scatter: Scatter) -> list[Contestant]:
        keys = scatter.row_indices
        if keys is None:
            return []
        sort = partial(np.argsort, keys, kind="stable")
        return [self.ordering("argsort", sort, np.asarray, scatter)]


def _reads(gather: Gather) -> Iterator[Way]:
    """If NumPy checks the indices while it writes, it first makes a copy of the output."""
    source, output, clip = gather.source, gather.output, {"mode": "clip"}
    if (lines := gather.line_indices) is not None:
        yield "take", partial(np.take, source, lines, gather.axis, output, **clip)
    elif (rows := gather.row_indices) is not None:
        yield "take", partial(np.take, source, rows, 0, output, **clip)
    elif gather.operator is Operator.SCATTER_ND:
        tuples = tuple(np.moveaxis(gather.indices, -1, 0))
        yield "output = source[indices]", lambda: np.copyto(output, source[tuples])
    elif source.flags.c_contiguous:
        places, flat = _flat_places(gather), source.reshape(-1)
        yield "flat take", lambda: np.take(flat, places(), None, output, **clip)


def _along(indexed: Indexed, array: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """The array cut to the shape of the indices on all dims but the axis, the indices, the axis."""
    corner = [slice(dim) for dim in indexed.update_shape]
    corner[indexed.axis] = slice(None)
    return array[tuple(corner)], indexed.indices, indexed.axis


def _ways(scatter: Scatter) -> Iterator[Way]:
    output, updates, reduction = scatter.output, scatter.updates, scatter.how.narrow
    if scatter.operator is Operator.SLICE_SCATTER:
        yield _sliced(output, scatter.slices, updates, reduction)
    elif (rows := scatter.row_indices) is not None:
        yield _indexed(output, rows, updates, reduction)
        if reduction == "none" and updates.ndim == 1:
            yield "put", partial(output.put, rows, updates)
    elif scatter.line_indices is not None:
        where = (*[slice(None)] * scatter.axis, scatter.line_indices)
        yield _indexed(output, where, updates, reduction)
    elif scatter.operator is Operator.SCATTER_ND:
        tuples = tuple(np.moveaxis(scatter.indices, -1, 0))
        yield _indexed(output, tuples, updates, reduction)
    else:
        yield _indexed(output, scatter.grid, updates, reduction)
        if output.flags.c_contiguous:
            yield _flat(scatter)
        if reduction == "none":
            target, indices, axis = _along(scatter, output)
            along = (target, indices, updates, axis)
            yield "put_along_axis", partial(np.put_along_axis, *along)


def _flat_places(indexed: Indexed) -> Callable[[], np.ndarray]:
    """Computes the places in the flat tensor, for which NumPy has faster loops."""
    indices, offsets = indexed.indices, indexed.offsets
    stride = math.prod(indexed.shape[indexed.axis + 1 :])
    places = np.empty(indices.shape, np.int64)

    def compute() -> np.ndarray:
        np.multiply(indices, stride, out=places)
        return np.add(places, offsets, out=places)

    return compute


def _flat(scatter: Scatter) -> Way:
    output, updates = scatter.output.reshape(-1), scatter.updates.reshape(-1)
    compute = _flat_places(scatter)
    label, update = _indexed(output, compute().reshape(-1), updates, scatter.how.narrow)
    return f"flat {label}", in_order(compute, update)


def _sliced(
    output: np.ndarray, slices: tuple[slice, ...], updates: np.ndarray, reduction: str
) -> Way:
    if reduction == "none":
        return "output[slices] = ...", partial(output.__setitem__, slices, updates)
    ufunc, target = UFUNCS[reduction], output[slices]
    return f"{ufunc.__name__}(out=...)", partial(ufunc, target, updates, out=target)


def _indexed(output: np.ndarray, where: Place, updates: np.ndarray, reduction: str) -> Way:
    if reduction == "none":
        return "output[indices] = ...", partial(output.__setitem__, where, updates)
    ufunc = UFUNCS[reduction]
    return f"{ufunc.__name__}.at", partial(ufunc.at, output, where, updates)
