# SPDX-License-Identifier: Apache-2.0
"""Shapes and tasks of operators and plans on shards, and the check that each update was applied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from strew._support import plain_array

if TYPE_CHECKING:
    from distributed import Client, Future

Array = NDArray[Any]
Shape = tuple[int, ...]


def run(
    client: Client,
    shards: Sequence[Future[Any]],
    tuples: Array,
    is_nd: bool,
    updates: ArrayLike,
    check: Callable[[Array, Array], None],
    start: Callable[[Array, list[int], Shape], list[Future[Any]]],
) -> list[Future[Any]]:
    """Checks the whole, then updates the shards by the tasks of start()."""
    rows, whole = shape_of_whole(client.gather(client.map(np.shape, shards)))
    values = plain_array(updates)
    require_rows(tuples.shape, whole)
    if is_nd and tuples.shape == (len(whole),) and values.size == 1:
        values = values.reshape(())  # as the shapes below need it, which have one more axis
    values = repeated(values, (*tuples.shape[:-1], *whole[tuples.shape[-1] :]))
    # All indices and shapes, but no elements: shapes in an error's sentence end in this 0.
    check(np.empty((*whole, 0), values.dtype), np.empty((*values.shape, 0), values.dtype))
    # Tasks rather than scattered data, which would be lost with the workers that hold it. Not by a
    # key of the contents: Dask has the same for arrays that differ in the order of their axes only.
    return finish(client, start(values, rows, whole), values.size)


def repeated(values: Array, shape: Shape) -> Array:
    """Broadcast as NumPy does, or unchanged if that fails, so that the check refuses them."""
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        return values


def finish(client: Client, applied: list[Future[Any]], size: int) -> list[Future[Any]]:
    """The new shards of tasks that return each of them, and how much was applied to it."""
    count = sum(client.gather(client.map(_count, applied)))
    if count != size:
        raise RuntimeError(f"the shards applied {count} elements of {size} updates")
    return client.map(_shard, applied)


def require_rows(tuples: Shape, whole: Shape) -> None:
    """Requires that tuples of this shape name rows of the whole."""
    if not tuples or not 1 <= tuples[-1] <= len(whole):
        raise ValueError(f"indices of shape {tuples} name no rows of {len(whole)} axes")


def shape_of_whole(shapes: list[Shape]) -> tuple[list[int], Shape]:
    """How many rows each shard has, and the shape of the whole."""
    if not all(shapes) or len({shape[1:] for shape in shapes}) != 1:
        raise ValueError(f"shards of shapes {shapes} are not the rows of one array")
    rows = [shape[0] for shape in shapes]
    return rows, (sum(rows), *shapes[0][1:])


def wrapped(tuples: Array, shape: Shape) -> NDArray[np.int64]:
    """Indices that count from 0 up."""
    signed = tuples.astype(np.int64)
    return np.where(signed < 0, signed + np.array(shape[: tuples.shape[-1]]), signed)


def _shard(applied: tuple[Array, int]) -> Array:
    return applied[0]


def _count(applied: tuple[Array, int]) -> int:
    return applied[1]
