# SPDX-License-Identifier: Apache-2.0
"""Scatter updates into data whose rows are distributed among the workers of a Dask cluster.

    client = distributed.Client(...)
    shards = [client.submit(load, part) for part in parts]      rows 0..., in order
    shards = sharding.scatter_nd(client, shards, indices, updates, reduction="add")

A plan checks indices once, for shards with these numbers of rows:

    plan = sharding.plan_scatter_nd(client, shards, indices)
    shards = plan.scatter(shards, updates, reduction="add")
    rows = plan.gather(shards)
    data = sharding.gather_scatter(from_plan, shards, to_plan, data, weights)

Data is a list of futures of arrays, of up to 31 dims, that differ only in their number of rows.
Indices are wrapped and checked against the whole before any worker starts. Then each worker makes
new shards from its own and from the updates for them. Tasks are pure, so that Dask may repeat them
when a worker dies. Shards should be results of tasks too, because Dask cannot recompute data that
was scattered to a worker that died. The bytes are those of one call on the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

import strew
from strew._shard_plans import Plan, gather_scatter
from strew._shards import Array, Shape, run, wrapped
from strew._support import index_array

if TYPE_CHECKING:
    from distributed import Client, Future

    from strew._strew import Reduction

__all__ = [
    "Plan",
    "gather_scatter",
    "plan_scatter_nd",
    "plan_scatter_update",
    "scatter_nd",
    "scatter_update",
]

# For indices that name rows of other shards.
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

    indices   its last dim is k >= 1, so that every tuple names a row; like updates, they are in the
              memory of the caller, the scheduler and each worker
    updates   indices.shape[:-1] + data.shape[k:]; if that is (), any shape with one element

    Raises strew.Error as strew.scatter_nd() does, ValueError if the shards are not parts of one
    array or the indices do not name rows, and RuntimeError if an update was not applied once.
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
    """A plan for scatter_nd() with these indices, on shards with as many rows; errors as there."""
    places = index_array(indices)

    def make(whole: Shape) -> strew.Plan:
        return strew.plan_scatter_nd(places, whole[: places.shape[-1]])

    return Plan(client, shards, places, True, make)


def plan_scatter_update(client: Client, shards: Sequence[Future[Any]], indices: ArrayLike) -> Plan:
    """The same for scatter_update()."""
    places = index_array(indices)

    def make(whole: Shape) -> strew.Plan:
        return strew.plan_scatter_update(places, whole[0])

    return Plan(client, shards, places[..., None], False, make)


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

    def start(values: Array, rows: list[int], whole: Shape) -> list[Future[Any]]:
        given = client.submit(_pair, wrapped(tuples, whole), values, pure=False)
        return [
            client.submit(_apply, shard, given, first, how)
            for shard, first in zip(shards, accumulate(rows[:-1], initial=0))
        ]

    is_nd = operator is strew.scatter_nd
    return run(client, shards, tuples, is_nd, updates, check, start)


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


def _shifted(indices: Array, first: int) -> Array:
    """Indices into the shard whose first row is that of the whole."""
    shifted = indices.copy()
    shifted[..., 0] -= first
    return shifted
