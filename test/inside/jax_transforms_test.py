# SPDX-License-Identifier: Apache-2.0
"""Gradients and batches of strew.jax."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads
from jax_cases import CASES, RANDOM, REDUCTIONS, SLICES, bind, random, same

import strew
import strew.jax as sj

# ---- gradients ----


def distinct(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Values in [1, 2) far enough apart for differences of 1e-3 to change no order."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    values = 1 + RANDOM.permutation(sum(sizes)) / sum(sizes)
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes)]


def differentiable(name: str, reduction: str, exclude_self: bool) -> tuple[Callable, tuple]:
    ours, _, shape, indices, updates = bind(name, reduction=reduction, exclude_self=exclude_self)
    return lambda data, values: ours(data, indices, values), distinct(shape, updates)


@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", CASES)
def test_gradients(name, reduction, exclude_self) -> None:
    if reduction == "sub" and exclude_self:
        return
    function, operands = differentiable(name, reduction, exclude_self)
    order = 2 if name in ("elements", "update rows") else 1
    check_grads(jax.jit(function), operands, order, modes=["rev"], eps=1e-3)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape, updates, start, stop, step, axes", SLICES)
def test_gradients_of_slices(shape, updates, start, stop, step, axes, reduction) -> None:
    operands = distinct(shape, updates)
    call = partial(sj.slice_scatter, reduction=reduction)
    check_grads(
        lambda *arrays: call(*arrays, start, stop, step, axes), operands, 1, modes=["rev"], eps=1e-3
    )
    ends = [None if end is None else jnp.asarray(end) for end in (start, stop, step)]
    check_grads(lambda *arrays: call(*arrays, *ends, axes), operands, 1, modes=["rev"], eps=1e-3)


@pytest.mark.parametrize("mode, places", [("linear", [3, 0]), ("circular", [4, 9])])
@pytest.mark.parametrize("policy", ["error", "drop", "clamp"])
def test_gradients_of_caches(mode, places, policy) -> None:
    operands = distinct((2, 5, 3), (2, 2, 3))
    if policy != "error":
        places = [-1, 3]
    call = partial(sj.tensor_scatter, mode=mode, index_policy=policy)
    check_grads(lambda *arrays: call(*arrays, places), operands, 1, modes=["rev"], eps=1e-3)


@pytest.mark.parametrize("policy", ["drop", "clamp"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ["elements", "nd", "update"])
def test_gradients_of_bad_indices(name, reduction, policy) -> None:
    ours, _, shape, indices, updates = bind(name, reduction=reduction, index_policy=policy)
    operands = distinct(shape, updates)
    function = lambda data, values: ours(data, indices * 3 - 4, values)  # noqa: E731
    check_grads(function, operands, order=1, modes=["rev"], eps=1e-3)


def test_gradients_of_ties_and_zeros() -> None:
    indices = jnp.array([0, 0, 0, 1, 1, 2])
    data = jnp.array([3.0, 0.0, 0.0, 1.0])
    updates = jnp.array([3.0, 3.0, 1.0, 0.0, 2.0, 5.0])

    def gradients(reduction: str) -> tuple[list[float], list[float]]:
        function = lambda *arrays: sj.scatter_update(  # noqa: E731
            arrays[0], indices, arrays[1], reduction=reduction
        ).sum()
        return tuple(g.tolist() for g in jax.grad(function, argnums=(0, 1))(data, updates))

    third = pytest.approx(1 / 3)
    assert gradients("max") == ([third, 0, 0, 1], [third, third, 0, 0, 1, 1])
    assert gradients("min") == ([0, 0.5, 1, 1], [0, 0, 1, 0.5, 0, 0])
    assert gradients("mul") == ([9, 0, 5, 1], [9, 9, 27, 0, 0, 0])
    assert gradients("none") == ([0, 0, 0, 1], [0, 0, 1, 0, 1, 1])


def test_forward_mode_is_refused() -> None:
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(lambda d: sj.scatter_update(d, [0], d[:1]), (jnp.ones(3),), (jnp.ones(3),))


# ---- batches ----


@pytest.mark.parametrize("which", range(1, 8))
@pytest.mark.parametrize("name", CASES)
def test_vmap(name, which) -> None:
    axes = tuple(0 if which & bit else None for bit in (1, 2, 4))
    ours, package, shape, indices, updates = bind(name, reduction="add", index_policy="drop")
    given = (random(shape), indices, random(updates))
    batches = [np.stack([one] * 3) if axis == 0 else one for one, axis in zip(given, axes)]
    for batch, axis, turn in zip(batches, axes, (1, 2, 3)):
        if axis == 0:
            batch += np.arange(3, dtype=batch.dtype).reshape(3, *[1] * (batch.ndim - 1)) * turn
    expected = [
        package(*(batch[i] if axis == 0 else batch for batch, axis in zip(batches, axes)))
        for i in range(3)
    ]
    same(jax.vmap(ours, axes)(*batches), np.stack(expected))
    same(jax.jit(jax.vmap(ours, axes))(*batches), np.stack(expected))


@pytest.mark.parametrize("name", ["elements", "nd", "update"])
def test_vmap_of_vmap_and_of_gradients(name) -> None:
    ours, package, shape, indices, updates = bind(name, reduction="none")
    data, values = random((2, 3, *shape)), random((2, 3, *updates))
    expected = [[package(data[i, j], indices, values[i, j]) for j in range(3)] for i in range(2)]
    twice = jax.vmap(jax.vmap(ours, (0, None, 0)), (0, None, 0))
    same(twice(data, indices, values), np.array(expected))

    def gradient(data, indices, values):
        return jax.grad(lambda *a: (ours(a[0], indices, a[1]) ** 2).sum(), argnums=(0, 1))(
            data, values
        )

    found = jax.vmap(gradient, (0, None, 0))(data[0], indices, values[0])
    for j in range(3):
        for whole, one in zip(found, gradient(data[0, j], indices, values[0, j])):
            same(whole[j], np.asarray(one))


def test_vmap_of_slices_and_caches() -> None:
    data, values = random((3, 7, 6)), random((3, 2, 6))
    expected = [strew.slice_scatter(data[i], values[i], 1, 3) for i in range(3)]
    same(jax.vmap(lambda *a: sj.slice_scatter(*a, 1, 3))(data, values), np.stack(expected))
    start, stop = jnp.array([1]), jnp.array([3])
    found = jax.vmap(lambda *a: sj.slice_scatter(*a, start, stop))(data, values)
    same(found, np.stack(expected))
    starts = jnp.arange(3)
    expected = [strew.slice_scatter(data[i], values[i], i, i + 2) for i in range(3)]
    found = jax.vmap(lambda d, v, at: sj.slice_scatter(d, v, at, at + 2))(data, values, starts)
    same(found, np.stack(expected))
    caches, update, places = random((3, 2, 5, 4)), random((3, 2, 1, 4)), np.array([4, 2])
    expected = [strew.tensor_scatter(caches[i], update[i], places) for i in range(3)]
    same(jax.vmap(sj.tensor_scatter, (0, 0, None))(caches, update, places), np.stack(expected))
