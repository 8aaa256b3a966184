# SPDX-License-Identifier: Apache-2.0
"""NumPy: assignment to slices and by index arrays, ufunc.at, put and put_along_axis."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from ..contestants import Call, Contestant, on_copy
from ..scatter import Scatter
from ..workloads import Operator

UFUNCS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}

Way = tuple[str, Call]
Place = np.ndarray | tuple[np.ndarray, ...]


class Peer:
    """Always one thread."""

    name = "NumPy"
    version = np.__version__

    def __init__(self, threads: int) -> None:
        pass

    def prepare(self, scatter: Scatter) -> list[Contestant]:
        copy = "copyto", partial(np.copyto, scatter.output, scatter.data)
        return on_copy(self.name, _ways(scatter), copy, scatter)


def _ways(scatter: Scatter) -> Iterator[Way]:
    output, updates, reduction = scatter.output, scatter.updates, scatter.reduction
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
            corner = [slice(dim) for dim in updates.shape]
            corner[scatter.axis] = slice(None)
            along = (output[tuple(corner)], scatter.indices, updates, scatter.axis)
            yield "put_along_axis", partial(np.put_along_axis, *along)


def _flat(scatter: Scatter) -> Way:
    """Computes the places in the flat tensor first, for which NumPy has faster loops."""
    indices, offsets = scatter.indices, scatter.offsets
    stride = math.prod(scatter.data.shape[scatter.axis + 1 :])
    places = np.empty(indices.shape, np.int64)
    output, updates = scatter.output.reshape(-1), scatter.updates.reshape(-1)
    label, update = _indexed(output, places.reshape(-1), updates, scatter.reduction)

    def call() -> None:
        np.multiply(indices, stride, out=places)
        np.add(places, offsets, out=places)
        update()

    return f"flat {label}", call


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
