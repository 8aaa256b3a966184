# SPDX-License-Identifier: Apache-2.0
"""Scatter updates into data whose rows lie on the workers of a Dask cluster.

    client = distributed.Client(...)
    shards = [client.submit(load, part) for part in parts]      rows 0..., in order
    shards = sharding.scatter_nd(client, shards, indices, updates, reduction="add")

Data is a list of futures of arrays, of up to 31 dims, that differ in their number of rows only.
Indices are wrapped and checked against the whole before any worker starts; then each worker makes
new shards of its own and of the updates that fall in them. Tasks are pure, so that Dask may repeat
them when a worker dies: let the shards be results of tasks too, since Dask cannot make again what
was scattered to a worker that died. The bytes are those of one call on the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import strew
from strew._support import index_array, plain_array

if TYPE_CHECKING:
    from distributed import Client, Future

    from strew._strew import Reduction

Array = NDArray[Any]


def scatter_nd(
    client: Client,
    shards: Sequence[Future[Any]],
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    reduction: Reduction = "none",
    exclude_self: bool = False,
    wide: bool = False,
) -> list[Future[Any]]:
    """strew.scatter_nd() on the rows of all shards: futures of the new ones, in order.

    indices   its last dim is k >= 1, so that every tuple names a row; as updates in the memory of
              the caller, the scheduler and each worker
    updates   indices.shape[:-1] + data.shape[k:]; where that is (), any shape with one element

    Raises strew.Error as strew.scatter_nd() does, ValueError where shards are not parts of one
    array or indices name no rows, and RuntimeError where they did not apply each update once.
    """
    places = index_array(indices)
    how = {"reduction": reduction, "exclude_self": exclude_self, "wide": wide}
    return _scatter(client, shards, strew.scatter_nd, places, places, updates, how)


def scatter_update(
    client: Client,
    shards: Sequence[Future[Any]],
    indices: ArrayLike,
    updates: ArrayLike,
    *,
    reduction: Reduction = "none",
    exclude_self: bool = False,
    wide: bool = False,
) -> list[Future[Any]]:
    """strew.scatter_update() on axis 0: every index names a row. As scatter_nd() above."""
    places = index_array(indices)
    how = {"reduction": reduction, "exclude_self": exclude_self, "wide": wide}
    tuples = places[..., None]
    return _scatter(client, shards, strew.scatter_update, places, tuples, updates, how)


def _scatter(
    client: Client,
    shards: Sequence[Future[Any]],
    operator: Callable[..., Array],
    indices: Array,
    tuples: Array,
    updates: ArrayLike,
    how: dict[str, Any],
) -> list[Future[Any]]:
    """Does what operator() does with indices, by strew.scatter_nd() with tuples on each shard."""
    rows, whole = _shape(client.gather(client.map(np.shape, shards)))
    values = plain_array(updates)
    if tuples.ndim == 0 or not 1 <= tuples.shape[-1] <= len(whole):
        raise ValueError(f"indices of shape {tuples.shape} name no rows of {len(whole)} axes")
    if operator is strew.scatter_nd and tuples.shape == (len(whole),) and values.size == 1:
        values = values.reshape(())  # as the shapes below need it, which have one more axis
    # All indices and shapes, but no elements: shapes in the sentence of an error end in this 0.
    data, nothing = (np.empty((*shape, 0), values.dtype) for shape in (whole, values.shape))
    operator(data, indices, nothing, **how)
    firsts = accumulate(rows[:-1], initial=0)
    # Tasks rather than scattered data, which would be lost with the workers that hold it. Not by a
    # key of the contents: Dask has the same for arrays that differ in the order of their axes only.
    given = client.submit(_pair, _wrapped(tuples, whole), values, pure=False)
    applied = [
        client.submit(_apply, shard, given, first, how)
        for shard, first in zip(shards, firsts, strict=True)
    ]
    count = sum(client.gather(client.map(_count, applied)))
    if count != values.size:
        raise RuntimeError(f"the shards applied {count} elements of {values.size} updates")
    return client.map(_shard, applied)


def _shape(shapes: list[tuple[int, ...]]) -> tuple[list[int], tuple[int, ...]]:
    """How many rows each shard has, and the shape of the whole."""
    if not all(shapes) or len({shape[1:] for shape in shapes}) != 1:
        raise ValueError(f"shards of shapes {shapes} are not the rows of one array")
    rows = [shape[0] for shape in shapes]
    return rows, (sum(rows), *shapes[0][1:])


def _wrapped(tuples: Array, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Indices that count from 0 up."""
    signed = tuples.astype(np.int64)
    return np.where(signed < 0, signed + np.array(shape[: tuples.shape[-1]]), signed)


def _pair(indices: Array, updates: Array) -> tuple[Array, Array]:
    return indices, updates


def _apply(
    shard: Array, given: tuple[Array, Array], first: int, how: dict[str, Any]
) -> tuple[Array, int]:
    """The updated shard, whose first row is that of the whole, and how much was applied to it."""
    indices, updates = given
    shifted = indices.copy()
    shifted[..., 0] -= first
    context = strew.Context(index_policy="drop", negative_indices=False)
    output = strew.scatter_nd(shard, shifted, updates, context=context, **how)
    return output, context.applied


def _shard(applied: tuple[Array, int]) -> Array:
    return applied[0]


def _count(applied: tuple[Array, int]) -> int:
    return applied[1]
