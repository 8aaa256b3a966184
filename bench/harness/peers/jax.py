# SPDX-License-Identifier: Apache-2.0
"""JAX: jitted `.at[]` and dynamic_update_slice; in place means that data is donated to the call."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..contestants import Contestant
from ..scatter import Scatter
from ..workloads import Operator
from . import System

METHODS = {"none": "set", "add": "add", "mul": "multiply", "min": "min", "max": "max"}

Update = Callable[..., jax.Array]  # of data, updates, and an index array an axis

# A label, what the function is given after data, and the function.
Way = tuple[str, tuple[jax.Array, ...], Callable[..., jax.Array]]


class Peer(System):
    """XLA on the CPU, called from the thread that waits for it."""

    name = "JAX"
    version = jax.__version__

    def __init__(self, threads: int) -> None:
        # Read when the first array is made.
        os.environ["PJRT_NPROC"] = str(threads)
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_cpu_enable_async_dispatch", False)

    def prepare(self, scatter: Scatter) -> list[Contestant]:
        contestants = []
        for label, operands, function in _ways(scatter):
            if scatter.in_place:
                contestants.append(_donated(label, function, operands, scatter.data))
            else:
                contestants += _new_ways(label, function, operands, scatter.data)
        return contestants


def _view(array: np.ndarray) -> jax.Array:
    """The memory of a NumPy array, without a copy if it is contiguous and has a dtype of NumPy."""
    array = np.ascontiguousarray(array)
    if array.dtype == jnp.bfloat16:
        return jnp.from_dlpack(array.view(np.uint16)).view(jnp.bfloat16)
    return jnp.from_dlpack(array)


def _donated(
    label: str, function: Callable[..., jax.Array], operands: tuple, data: np.ndarray
) -> Contestant:
    """Each call updates the result of the call before. JAX can do so only in its own memory."""
    update = jax.jit(function, donate_argnums=0)
    return _contestant(
        f"{label}, donated", lambda old: update(old, *operands), lambda: jnp.copy(_view(data))
    )


def _new_ways(
    label: str, function: Callable[..., jax.Array], operands: tuple, data: np.ndarray
) -> Iterator[Contestant]:
    """The plain call, and two calls to which the old output is donated, so that no memory must be
    allocated: for the result, or for a copy of data that is then updated."""
    view = _view(data)
    plain = jax.jit(function)
    yield _contestant(label, lambda old: plain(view, *operands), lambda: None)

    reuse = {"donate_argnums": 0, "keep_unused": True}
    into = jax.jit(lambda old, data, *operands: function(data, *operands), **reuse)
    yield _contestant(
        f"{label}, into old output",
        lambda old: into(old, view, *operands),
        lambda: jnp.zeros_like(view),
    )

    copy = jax.jit(lambda old, data: jnp.copy(data), **reuse)
    update = jax.jit(function, donate_argnums=0)
    yield _contestant(
        f"copy into old output, {label}",
        lambda old: update(copy(old, view), *operands),
        lambda: jnp.zeros_like(view),
    )


def _contestant(
    label: str,
    step: Callable[[jax.Array | None], jax.Array],
    first: Callable[[], jax.Array | None],
) -> Contestant:
    """`step` receives the result of the step before, or that of `first`.

    A result that is not donated is freed before the next is made.
    """
    state = [first()]

    def call() -> None:
        state.append(step(state.pop()).block_until_ready())

    def reset() -> None:
        state[:] = [first()]

    return Contestant(Peer.name, label, call, lambda: np.asarray(state[0]), reset)


def _ways(scatter: Scatter) -> Iterator[Way]:
    updates = _view(scatter.updates)
    if scatter.operator is Operator.SLICE_SCATTER:
        yield from _slice_ways(scatter, updates)
        return
    options = {
        "mode": "promise_in_bounds",
        "unique_indices": scatter.unique,
        "wrap_negative_indices": False,
    }
    update = partial(_at, METHODS[scatter.how.narrow], options)
    if (rows := scatter.row_indices) is not None:
        yield "at[rows]", (_view(rows), updates), lambda d, i, u: update(d, u, i)
        return
    if (lines := scatter.line_indices) is not None:
        before = [slice(None)] * scatter.axis
        yield "at[..., lines]", (_view(lines), updates), lambda d, i, u: update(d, u, *before, i)
        return
    operands = (_view(scatter.indices), updates)
    if scatter.operator is Operator.SCATTER_ND:
        yield "at[tuples]", operands, partial(_at_tuples, update)
        return
    yield "at[grid]", operands, partial(_at_grid, update, scatter.axis)
    yield "flat at[]", operands, partial(_at_flat, update, scatter.axis)


def _slice_ways(scatter: Scatter, updates: jax.Array) -> Iterator[Way]:
    slices, cut = scatter.slices, scatter.slice
    method = METHODS[scatter.how.narrow]
    yield "at[slices]", (updates,), lambda d, u: getattr(d.at[slices], method)(u)
    broadcast = updates.ndim != scatter.data.ndim
    if scatter.reduction != "none" or broadcast or any(abs(step) != 1 for step in cut.step):
        return
    named = [range(size)[entry] for size, entry in zip(scatter.data.shape, slices)]
    backwards = [axis for axis, places in enumerate(named) if places.step < 0]
    corner = [min(places) for places in named]

    def write_block(data: jax.Array, updates: jax.Array) -> jax.Array:
        return lax.dynamic_update_slice(data, lax.rev(updates, backwards), corner)

    yield "dynamic_update_slice" + ("(rev)" if backwards else ""), (updates,), write_block


def _at(
    method: str, options: dict, data: jax.Array, updates: jax.Array, *where: jax.Array
) -> jax.Array:
    return getattr(data.at[where], method)(updates, **options)


def _at_tuples(
    update: Update, data: jax.Array, indices: jax.Array, updates: jax.Array
) -> jax.Array:
    return update(data, updates, *jnp.moveaxis(indices, -1, 0))


def _at_grid(
    update: Update, axis: int, data: jax.Array, indices: jax.Array, updates: jax.Array
) -> jax.Array:
    return update(data, updates, *_grid(indices, axis))


def _at_flat(
    update: Update, axis: int, data: jax.Array, indices: jax.Array, updates: jax.Array
) -> jax.Array:
    strides = [math.prod(data.shape[a + 1 :]) for a in range(data.ndim)]
    flat = sum(place * stride for place, stride in zip(_grid(indices, axis), strides))
    return update(data.ravel(), updates.ravel(), flat.ravel()).reshape(data.shape)


def _grid(indices: jax.Array, axis: int) -> tuple[jax.Array, ...]:
    """The place in data of each element of indices, one array an axis."""
    grid = list(jnp.ogrid[tuple(slice(size) for size in indices.shape)])
    grid[axis] = indices
    return tuple(grid)
