# SPDX-License-Identifier: Apache-2.0
"""Calls of operators that JAX can differentiate, batch and compile.

In the table of gradients, g is the gradient of the output, G(x) gathers from x the elements to
which the updates are applied, and n is the number of terms of an element (with its old value,
unless that is excluded):

    reduction  of data                       of updates
    add        g                             G(g)
    sub        g                             -G(g)
    none       g, 0 where touched            G(g) for the last writer of an element, else 0
    mul        g * product of its updates    G(g) * product of the other factors
    min, max   g / ties, 0 if another wins   G(g / ties), 0 if another wins
    mean       g / n where touched           G(g / n)

With exclude_self, the gradient of data is 0 at the elements that updates are applied to, else g.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp

from strew._jax_native import Array, How
from strew._jax_operators import Places, Shape

PLAIN = How()


def scatter(operator: Any, how: How, data: Array, places: Places, updates: Array) -> Array:
    return _compiled(operator, how)(data, places, updates)


@lru_cache(maxsize=1024)
def _compiled(operator: Any, how: How) -> Any:
    """Compiled, because otherwise each call outside of jax.jit() would be traced anew."""
    return jax.jit(_differentiable(operator, how))


@lru_cache(maxsize=1024)
def _differentiable(operator: Any, how: How) -> Any:
    run = _batchable(operator, how)

    def forward(data: Array, places: Places, updates: Array) -> tuple[Array, Any]:
        output = program(data, places, updates)  # which second derivatives differentiate
        # An empty array carries the shape of the updates.
        shape = jnp.empty((*updates.shape, 0), updates.dtype)
        needs_values = how.reduction in ("mul", "min", "max")
        kept = (data, updates, output) if needs_values else None
        return output, (places, shape, kept)

    def backward(residuals: Any, g: Array) -> tuple[Array, None, Array]:
        places, shape, kept = residuals
        calls = _Calls(operator, how, places, shape.shape[:-1])
        of_data, of_updates = _RULES[how.reduction](calls, g, *(kept or ()))
        if how.exclude_self and how.reduction != "none":
            of_data = jnp.where(calls.touched(g.shape), 0, g)
        return of_data, None, of_updates

    program: Any = jax.custom_vjp(run)
    program.defvjp(forward, backward)
    return program


@lru_cache(maxsize=1024)
def _batchable(operator: Any, how: How) -> Any:
    def run(data: Array, places: Places, updates: Array) -> Array:
        return operator.apply(how, data, places, updates)

    def batched(
        size: int, is_batched: Any, data: Array, places: Places, updates: Array
    ) -> tuple[Array, bool]:
        of_data, of_places, of_updates = is_batched
        if not of_data:
            data = jnp.broadcast_to(data, (size, *data.shape))
        if not of_updates:
            updates = jnp.broadcast_to(updates, (size, *updates.shape))
        is_shared = not any(of_places)
        if not is_shared:
            places = tuple(
                place if has_batch else jnp.broadcast_to(place, (size, *place.shape))
                for place, has_batch in zip(places, of_places)
            )
        call = operator.batch(data, places, updates, is_shared)
        if call is None:
            return jax.lax.map(lambda one: batchable(*one), (data, places, updates)), True
        output = _batchable(call.operator, how)(call.data, call.places, call.updates)
        return output.reshape(data.shape), True

    batchable = jax.custom_batching.custom_vmap(run)
    batchable.def_vmap(batched)
    return batchable


class _Calls:
    """Answers the questions that gradients ask about the places of a call."""

    def __init__(self, operator: Any, how: How, places: Places, shape: Shape) -> None:
        self.operator, self.how, self.places, self.shape = operator, how, places, shape

    def gather(self, source: Array) -> Array:
        return self.operator.gather(self.how, source, self.places, self.shape).reshape(self.shape)

    def combine(self, reduction: Any, data: Array, updates: Array) -> Array:
        how = self.how._replace(reduction=reduction, exclude_self=False, wide=False)
        return scatter(self.operator, how, data, self.places, updates)

    def touched(self, data: Shape) -> Array:
        """True where updates go, in a shape that broadcasts to that of data."""
        thin, updates = self.operator.thin(data, self.places, self.shape)
        return self.combine("none", jnp.zeros(thin, bool), jnp.ones(updates, bool))

    def count(self, data: Shape) -> Array:
        """The number of updates of each element, in the same shape."""
        thin, updates = self.operator.thin(data, self.places, self.shape)
        return self.combine("add", jnp.zeros(thin, jnp.int32), jnp.ones(updates, jnp.int32))

    def is_last(self, data: Shape) -> Array:
        """True for updates that no later one replaces, in a shape that broadcasts to theirs."""
        thin, updates = self.operator.thin(data, self.places, self.shape)
        count = 1
        for dim in updates:
            count *= dim
        entries = jnp.arange(count, dtype=jnp.int32).reshape(updates)
        last = self.combine("none", jnp.zeros(thin, jnp.int32), entries)
        return self.operator.gather(self.how, last, self.places, updates) == entries


def _of_add(calls: _Calls, g: Array) -> tuple[Array, Array]:
    return g, calls.gather(g)


def _of_sub(calls: _Calls, g: Array) -> tuple[Array, Array]:
    return g, -calls.gather(g)


def _of_none(calls: _Calls, g: Array) -> tuple[Array, Array]:
    of_data = jnp.where(calls.touched(g.shape), 0, g)
    return of_data, jnp.where(calls.is_last(g.shape), calls.gather(g), 0)


def _of_mean(calls: _Calls, g: Array) -> tuple[Array, Array]:
    count = calls.count(g.shape) + (0 if calls.how.exclude_self else 1)
    share = g / jnp.maximum(count, 1).astype(g.real.dtype)
    return share, calls.gather(share)


def _of_mul(
    calls: _Calls, g: Array, data: Array, updates: Array, output: Array
) -> tuple[Array, Array]:
    """The products of all factors but one: quotients, or with one zero the product of the rest."""
    ones = jnp.ones_like(data)
    of_data = g * calls.combine("mul", ones, updates)
    is_zero = updates == 0
    first = ones if calls.how.exclude_self else data
    zeros = calls.combine("add", (first == 0).astype(jnp.int32), is_zero.astype(jnp.int32))
    rest = calls.combine(
        "mul", jnp.where(first == 0, 1, first), jnp.where(is_zero, 1, updates)
    )
    zeros = calls.gather(zeros) - is_zero
    others = calls.gather(g * rest) / jnp.where(is_zero, 1, updates)
    return of_data, jnp.where(zeros == 0, others, 0)


def _of_extreme(
    calls: _Calls, g: Array, data: Array, updates: Array, output: Array
) -> tuple[Array, Array]:
    wins = _same(updates, calls.gather(output))
    stays = _same(data, output)
    if calls.how.exclude_self:
        stays &= ~calls.touched(g.shape)
    ties = calls.combine("add", stays.astype(jnp.int32), wins.astype(jnp.int32))
    share = g / jnp.maximum(ties, 1).astype(g.dtype)
    return jnp.where(stays, share, 0), jnp.where(wins, calls.gather(share), 0)


def _same(left: Array, right: Array) -> Array:
    return (left == right) | (jnp.isnan(left) & jnp.isnan(right))


_RULES: dict[str, Any] = {
    "none": _of_none,
    "add": _of_add,
    "sub": _of_sub,
    "mul": _of_mul,
    "min": _of_extreme,
    "max": _of_extreme,
    "mean": _of_mean,
}
