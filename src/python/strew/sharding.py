# SPDX-License-Identifier: Apache-2.0
"""Scatter updates into data whose rows lie on the workers of a Dask cluster.

    client = distributed.Client(...)
    shards = [client.submit(load, part) for part in parts]      rows 0..., in order
    shards = sharding.scatter_nd(client, shards, indices, updates, reduction="add")

Indices that stay are checked once, by a plan for shards of so many rows:

    plan = sharding.plan_scatter_nd(client, shards, indices)
    shards = plan.scatter(shards, updates, reduction="add")

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
# Of indices that name rows of other shards.
_DROP: dict[str, Any] = {"index_policy": "drop", "negative_indices": False}


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


def plan_scatter_nd(client: Client, shards: Sequence[Future[Any]], indices: ArrayLike) -> Plan:
    """A plan for scatter_nd() with these indices on shards of so many rows; errors as there."""
    places = index_array(indices)

    def make(whole: tuple[int, ...]) -> strew.Plan:
        return strew.plan_scatter_nd(places, whole[: places.shape[-1]])

    return Plan(client, shards, places, True, make)


def plan_scatter_update(client: Client, shards: Sequence[Future[Any]], indices: ArrayLike) -> Plan:
    """The same for scatter_update()."""
    places = index_array(indices)

    def make(whole: tuple[int, ...]) -> strew.Plan:
        return strew.plan_scatter_update(places, whole[0])

    return Plan(client, shards, places[..., None], False, make)


class Plan:
    """Indices that were checked against all shards, and put in order for each of them, once.

    plan_scatter_nd() and plan_scatter_update() make plans. The caller and each shard have one of
    all indices, of at most 24 bytes an index or tuple; a shard's lies where the shard does, and
    beside it the indices, from which a worker that receives it makes it again.
    """

    def __init__(
        self,
        client: Client,
        shards: Sequence[Future[Any]],
        tuples: Array,
        is_nd: bool,
        make: Callable[[tuple[int, ...]], strew.Plan],
    ) -> None:
        """make() makes the plan of the whole from its shape."""
        self._client, self._tuples, self._is_nd = client, tuples, is_nd
        self._rows, whole = _shape(client.gather(client.map(np.shape, shards)))
        _require_rows(tuples, whole)
        self._whole = make(whole)
        given = client.submit(_same, _wrapped(tuples, whole), pure=False)
        extents = whole[1 : tuples.shape[-1]]
        self._plans = [
            client.submit(_ShardPlan, given, first, (rows, *extents))
            for first, rows in zip(accumulate(self._rows[:-1], initial=0), self._rows)
        ]

    def scatter(
        self,
        shards: Sequence[Future[Any]],
        updates: ArrayLike,
        *,
        reduction: Reduction = "none",
        exclude_self: bool = False,
        wide: bool = False,
    ) -> list[Future[Any]]:
        """The operator of the plan without another look at the indices. As scatter_nd() above.

        The shards must have as many rows as those with which the plan was made; all else is free.
        """
        how: dict[str, Any] = {"reduction": reduction, "exclude_self": exclude_self, "wide": wide}

        def check(data: Array, nothing: Array) -> None:
            self._whole.scatter(data, nothing, **how)

        def start(values: Array, rows: list[int], whole: tuple[int, ...]) -> list[Future[Any]]:
            if rows != self._rows:
                raise ValueError(f"shards have {rows} rows, those of the plan had {self._rows}")
            given = self._client.submit(_same, values, pure=False)
            return [
                self._client.submit(_apply_plan, shard, plan, given, how)
                for shard, plan in zip(shards, self._plans)
            ]

        return _run(self._client, shards, self._tuples, self._is_nd, updates, check, start)


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

    def check(data: Array, nothing: Array) -> None:
        operator(data, indices, nothing, **how)

    def start(values: Array, rows: list[int], whole: tuple[int, ...]) -> list[Future[Any]]:
        given = client.submit(_pair, _wrapped(tuples, whole), values, pure=False)
        return [
            client.submit(_apply, shard, given, first, how)
            for shard, first in zip(shards, accumulate(rows[:-1], initial=0), strict=True)
        ]

    is_nd = operator is strew.scatter_nd
    return _run(client, shards, tuples, is_nd, updates, check, start)


def _run(
    client: Client,
    shards: Sequence[Future[Any]],
    tuples: Array,
    is_nd: bool,
    updates: ArrayLike,
    check: Callable[[Array, Array], None],
    start: Callable[[Array, list[int], tuple[int, ...]], list[Future[Any]]],
) -> list[Future[Any]]:
    """Checks the whole, then updates the shards by the tasks of start()."""
    rows, whole = _shape(client.gather(client.map(np.shape, shards)))
    values = plain_array(updates)
    _require_rows(tuples, whole)
    if is_nd and tuples.shape == (len(whole),) and values.size == 1:
        values = values.reshape(())  # as the shapes below need it, which have one more axis
    # All indices and shapes, but no elements: shapes in the sentence of an error end in this 0.
    check(np.empty((*whole, 0), values.dtype), np.empty((*values.shape, 0), values.dtype))
    # Tasks rather than scattered data, which would be lost with the workers that hold it. Not by a
    # key of the contents: Dask has the same for arrays that differ in the order of their axes only.
    applied = start(values, rows, whole)
    count = sum(client.gather(client.map(_count, applied)))
    if count != values.size:
        raise RuntimeError(f"the shards applied {count} elements of {values.size} updates")
    return client.map(_shard, applied)


def _require_rows(tuples: Array, whole: tuple[int, ...]) -> None:
    if tuples.ndim == 0 or not 1 <= tuples.shape[-1] <= len(whole):
        raise ValueError(f"indices of shape {tuples.shape} name no rows of {len(whole)} axes")


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


class _ShardPlan:
    """The plan of a shard, and what it is made of again after pickling."""

    def __init__(self, indices: Array, first: int, extents: tuple[int, ...]) -> None:
        self._arguments = indices, first, extents
        context = strew.Context(**_DROP)
        self.plan = strew.plan_scatter_nd(_shifted(indices, first), extents, context=context)

    def __reduce__(self) -> tuple[Any, ...]:
        return _ShardPlan, self._arguments


def _same(values: Array) -> Array:
    return values


def _pair(indices: Array, updates: Array) -> tuple[Array, Array]:
    return indices, updates


def _apply(
    shard: Array, given: tuple[Array, Array], first: int, how: dict[str, Any]
) -> tuple[Array, int]:
    """The updated shard, whose first row is that of the whole, and how much was applied to it."""
    indices, updates = given
    context = strew.Context(**_DROP)
    output = strew.scatter_nd(shard, _shifted(indices, first), updates, context=context, **how)
    return output, context.applied


def _apply_plan(
    shard: Array, given: _ShardPlan, updates: Array, how: dict[str, Any]
) -> tuple[Array, int]:
    """The same by the plan of the shard."""
    context = strew.Context()
    output = given.plan.scatter(shard, updates, context=context, **how)
    return output, context.applied


def _shifted(indices: Array, first: int) -> Array:
    """Indices into the shard whose first row is that of the whole."""
    shifted = indices.copy()
    shifted[..., 0] -= first
    return shifted


def _shard(applied: tuple[Array, int]) -> Array:
    return applied[0]


def _count(applied: tuple[Array, int]) -> int:
    return applied[1]
