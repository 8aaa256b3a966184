# SPDX-License-Identifier: Apache-2.0
"""Plans for data whose rows are distributed over a Dask cluster; public in strew.sharding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

import strew
from strew._shards import Array, Shape, finish, require_rows, run, shape_of_whole, wrapped
from strew._support import plain_array

if TYPE_CHECKING:
    from distributed import Client, Future

    from strew._strew import Reduction


class Halo(NamedTuple):
    """The rows of other shards that one needs: owner and plan of each part, and one that chooses
    the row of each entry from all parts."""

    plan: Future[Any]
    rows: list[tuple[int, Future[Any]]]


class Plan:
    """Indices that are checked against all shards and put in order for each of them once.

    plan_scatter_nd() and plan_scatter_update() make plans. The caller holds a plan of all indices,
    of at most 24 bytes per index or tuple. Each shard has a plan of the indices that name its rows,
    on the worker that holds the shard. These indices are kept beside it; a worker that receives
    the plan makes it again from them.
    """

    __module__ = "strew.sharding"  # where it is public

    def __init__(
        self,
        client: Client,
        shards: Sequence[Future[Any]],
        tuples: Array,
        is_nd: bool,
        make: Callable[[Shape], strew.Plan],
    ) -> None:
        """make() makes the plan of the whole from its shape."""
        self._client, self._tuples, self._is_nd = client, tuples, is_nd
        self._rows, whole = shape_of_whole(client.gather(client.map(np.shape, shards)))
        require_rows(tuples.shape, whole)
        self._whole = make(whole)
        # Each entry has one number: that of its row if all indexed axes were one.
        self._axes = tuples.shape[-1]
        extents = whole[: self._axes]
        widths = [math.prod(extents[axis + 1 :]) for axis in range(self._axes)]
        self._numbers = (wrapped(tuples, whole) * widths).sum(axis=-1).reshape(-1)
        sizes = [rows * widths[0] for rows in self._rows]
        self._begins = [0, *accumulate(sizes)]
        # The numbers of entries by shard, each in the order of the indices.
        owners = np.searchsorted(self._begins[1:], self._numbers, side="right")
        order = np.argsort(owners, kind="stable")
        cuts = np.searchsorted(owners[order], range(1, len(sizes)))
        self._entries = np.split(order, cuts)
        self._plans = [
            self._plan_of_rows(self._numbers[entries], shard)
            for shard, entries in enumerate(self._entries)
        ]
        self._halos: WeakKeyDictionary[Plan, list[Halo]] = WeakKeyDictionary()

    def scatter(
        self,
        shards: Sequence[Future[Any]],
        updates: ArrayLike,
        *,
        reduction: Reduction = "none",
        exclude_self: bool = False,
        wide: bool = False,
    ) -> list[Future[Any]]:
        """The operator of the plan, without reading the indices again. As scatter_nd() above.

        The shards must have as many rows as those with which the plan was made; all else is free.
        Each worker receives only the updates of its shards.
        """
        how: dict[str, Any] = {"reduction": reduction, "exclude_self": exclude_self, "wide": wide}

        def check(data: Array, nothing: Array) -> None:
            self._whole.scatter(data, nothing, **how)

        def start(values: Array, rows: list[int], whole: Shape) -> list[Future[Any]]:
            self._require(rows)
            flat = values.reshape(len(self._numbers), *whole[self._axes :])
            return [
                self._client.submit(_scatter, shard, plan, flat[entries], how, pure=False)
                for shard, plan, entries in zip(shards, self._plans, self._entries)
            ]

        return run(self._client, shards, self._tuples, self._is_nd, updates, check, start)

    def gather(self, shards: Sequence[Future[Any]]) -> Array:
        """The opposite direction: strew.Plan.gather() from the rows of all shards.

        Returns a NumPy array of the caller, to which each worker sends the rows of its shards.
        """
        rows, whole, dtype = self._about(shards)
        self._whole.gather(np.empty((*whole, 0), dtype))
        self._require(rows)
        tasks = [self._client.submit(_gather, *pair) for pair in zip(shards, self._plans)]
        output = np.empty((len(self._numbers), *whole[self._axes :]), dtype)
        for entries, gathered in zip(self._entries, self._client.gather(tasks)):
            output[entries] = gathered
        return output.reshape(*self._tuples.shape[:-1], *whole[self._axes :])

    def _gather_scatter(
        self,
        source: Sequence[Future[Any]],
        to_plan: Plan,
        data: Sequence[Future[Any]],
        weights: ArrayLike | None,
        how: dict[str, Any],
    ) -> list[Future[Any]]:
        """See gather_scatter() below, with this plan as from_plan."""
        source_rows, source_whole, source_dtype = self._about(source)
        rows, whole, dtype = to_plan._about(data)
        factors = None if weights is None else plain_array(weights)
        strew.gather_scatter(
            self._whole,
            np.empty((*source_whole, 0), source_dtype),
            to_plan._whole,
            np.empty((*whole, 0), dtype),
            None if factors is None else _without_elements(factors),
            **how,
        )
        self._require(source_rows)
        to_plan._require(rows)
        outer, inner = to_plan._tuples.shape[:-1], whole[to_plan._axes :]
        if self._tuples.shape[:-1] != outer:
            raise ValueError(f"the plans have entries {self._tuples.shape[:-1]} and {outer}")
        if factors is not None:
            factors = _by_entry(factors, outer, len(inner))
        submit, applied = self._client.submit, []
        for shard, plan, entries, halo in zip(
            data, to_plan._plans, to_plan._entries, to_plan._halos_in(self)
        ):
            parts = [submit(_gather, source[owner], rows) for owner, rows in halo.rows]
            own = None if factors is None else factors[entries]
            arguments = (shard, plan, halo.plan, own, how, *parts)
            applied.append(submit(_gather_scatter, *arguments, pure=False))
        return finish(self._client, applied, len(self._numbers) * math.prod(inner))

    def _halos_in(self, other: Plan) -> list[Halo]:
        """The rows of another plan that each shard needs, found once."""
        if other not in self._halos:
            self._halos[other] = [self._halo_in(other, entries) for entries in self._entries]
        return self._halos[other]

    def _halo_in(self, other: Plan, entries: Array) -> Halo:
        numbers, places = np.unique(other._numbers[entries], return_inverse=True)
        plan = self._client.submit(_RowPlan, places, len(numbers), 1, pure=False)
        parts = np.split(numbers, np.searchsorted(numbers, other._begins[1:-1]))
        # One part at least, for the shape and dtype of rows.
        owners = [owner for owner, part in enumerate(parts) if part.size] or [0]
        return Halo(plan, [(owner, other._plan_of_rows(parts[owner], owner)) for owner in owners])

    def _about(self, shards: Sequence[Future[Any]]) -> tuple[list[int], Shape, np.dtype[Any]]:
        """The rows of each shard, and the shape and the dtype of the whole."""
        about = self._client.gather(self._client.map(_shape_and_dtype, shards))
        rows, whole = shape_of_whole([shape for shape, _ in about])
        require_rows(self._tuples.shape, whole)
        dtypes = [dtype for _, dtype in about]
        if len(set(dtypes)) != 1:
            raise ValueError(f"shards of {[*map(str, dtypes)]} are not the rows of one array")
        return rows, whole, dtypes[0]

    def _require(self, rows: list[int]) -> None:
        if rows != self._rows:
            raise ValueError(f"shards have {rows} rows, those of the plan had {self._rows}")

    def _plan_of_rows(self, numbers: Array, shard: int) -> Future[Any]:
        begin, end = self._begins[shard : shard + 2]
        arguments = numbers - begin, end - begin, self._axes
        return self._client.submit(_RowPlan, *arguments, pure=False)


def gather_scatter(
    from_plan: Plan,
    source: Sequence[Future[Any]],
    to_plan: Plan,
    data: Sequence[Future[Any]],
    weights: ArrayLike | None = None,
    *,
    reduction: Reduction = "add",
    exclude_self: bool = False,
    wide: bool = False,
) -> list[Future[Any]]:
    """strew.gather_scatter() from the rows of all shards of source to those of data.

    source    shards of as many rows as those of from_plan
    data      shards of as many rows as those of to_plan
    weights   in the memory of the caller; each worker receives those of its entries

    A worker receives each row of source that its shard of data needs once, and never stores the
    updates. The first call with the two plans, whose entries must have one shape, finds out which
    rows these are, and to_plan keeps them. Returns and raises as scatter_nd() above.
    """
    how: dict[str, Any] = {"reduction": reduction, "exclude_self": exclude_self, "wide": wide}
    return from_plan._gather_scatter(source, to_plan, data, weights, how)


def _without_elements(factors: Array) -> Array:
    return np.empty((*factors.shape, 0) if factors.ndim else (), factors.dtype)


def _by_entry(factors: Array, outer: Shape, inner: int) -> Array:
    """Weights of each entry, which are broadcast within it later; inner dims are those of a row."""
    factors = factors.reshape((1,) * (len(outer) + inner - factors.ndim) + factors.shape)
    dims = factors.shape[len(outer) :]
    return np.broadcast_to(factors, (*outer, *dims)).reshape(math.prod(outer), *dims)


class _RowPlan:
    """A plan for rows of a shard whose first axes are one, made again after pickling."""

    def __init__(self, numbers: Array, extent: int, axes: int) -> None:
        self._arguments = numbers, extent, axes
        self.plan = strew.plan_scatter_update(numbers, extent)

    def rows_of(self, shard: Array) -> Array:
        _, extent, axes = self._arguments
        return shard.reshape(extent, *shard.shape[axes:])

    def __reduce__(self) -> tuple[Any, ...]:
        return _RowPlan, self._arguments


def _shape_and_dtype(shard: Array) -> tuple[Shape, np.dtype[Any]]:
    return shard.shape, shard.dtype


def _scatter(
    shard: Array, plan: _RowPlan, updates: Array, how: dict[str, Any]
) -> tuple[Array, int]:
    """The updated shard, and how much was applied to it."""
    context = strew.Context()
    output = plan.plan.scatter(plan.rows_of(shard), updates, context=context, **how)
    return output.reshape(shard.shape), context.applied


def _gather(shard: Array, plan: _RowPlan) -> Array:
    return plan.plan.gather(plan.rows_of(shard))


def _gather_scatter(
    shard: Array,
    to_plan: _RowPlan,
    from_plan: _RowPlan,
    weights: Array | None,
    how: dict[str, Any],
    *parts: Array,
) -> tuple[Array, int]:
    """The same from the rows of all parts."""
    source, context = np.concatenate(parts), strew.Context()
    output = strew.gather_scatter(
        from_plan.plan,
        source,
        to_plan.plan,
        to_plan.rows_of(shard),
        weights,
        context=context,
        **how,
    )
    return output.reshape(shard.shape), context.applied
