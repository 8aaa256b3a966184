# SPDX-License-Identifier: Apache-2.0
"""Index dtypes of strew.jax: gradients take the elements that the call writes, whatever the type."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import strew
import strew.jax as sj

jax.config.update("jax_enable_x64", True)

OPERATORS = ["scatter_elements", "scatter_nd", "scatter_update"]
POLICIES = ["drop", "clamp"]

# ---- gradients ----


def number(value: int, dtype: str) -> np.ndarray:
    return np.array([value], dtype)


def gradient(operator: str, index: np.ndarray, extent: int, **how) -> list[float]:
    """The gradient of one update, where element i of the result has weight i + 1."""
    places = index[:, None] if operator == "scatter_nd" else index
    weights = jnp.arange(1.0, extent + 1)

    def weigh(update: jax.Array) -> jax.Array:
        call = getattr(sj, operator)
        return call(jnp.zeros(extent), jnp.asarray(places), update, reduction="add", **how) @ weights

    value, found = jax.value_and_grad(weigh)(jnp.ones(1))
    assert value == found.sum()  # the element that was written
    return found.tolist()


@pytest.mark.parametrize("dtype, value, clamped", [
    ("int8", -128, 1),
    ("uint8", 250, 50),
    ("int16", 2**15 - 1, 50),
    ("uint32", 4_000_000_000, 50),
    ("uint32", 2**32 - 1, 50),
    ("int64", 2**32 + 5, 50),
    ("int64", 5 - 2**32, 1),
    ("int64", -2**63, 1),
    ("uint64", 2**32 + 5, 50),
    ("uint64", 2**63 + 5, 50),
    ("uint64", 2**64 - 1, 50),
])  # fmt: skip
@pytest.mark.parametrize("wraps", [False, True])
@pytest.mark.parametrize("operator", OPERATORS)
def test_gradients_of_indices_far_out_of_range(operator, wraps, dtype, value, clamped) -> None:
    index = number(value, dtype)
    for policy, expected in (("drop", 0), ("clamp", clamped)):
        how = {"index_policy": policy, "negative_indices": wraps}
        assert gradient(operator, index, 50, **how) == [expected]


@pytest.mark.parametrize("dtype, value, element", [
    ("int8", -1, 200),
    ("int8", -128, 73),
    ("int8", 127, 128),
    ("uint8", 199, 200),
    ("int16", -1, 40_000),
    ("int16", -2**15, 40_000 - 2**15 + 1),
    ("uint16", 39_999, 40_000),
    ("uint64", 199, 200),
])  # fmt: skip
@pytest.mark.parametrize("operator", OPERATORS)
def test_gradients_of_types_that_do_not_hold_the_extent(operator, dtype, value, element) -> None:
    extent = 40_000 if "16" in dtype else 200
    for policy in ("error", *POLICIES):
        assert gradient(operator, number(value, dtype), extent, index_policy=policy) == [element]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64"])
def test_gradients_of_slices_of_long_axes(dtype) -> None:
    """By traced numbers, on an axis that is longer than int8 can tell."""

    def found(start: int, stop: int, step: int, count: int) -> list[float]:
        ends = [jnp.asarray(number(end, dtype)) for end in (start, stop, step)]
        write = lambda values: sj.slice_scatter(jnp.zeros(200), values, *ends)  # noqa: E731
        return jax.grad(lambda values: write(values) @ jnp.arange(200.0))(jnp.ones(count)).tolist()

    assert found(2, 100, 49, 2) == [2, 51]
    assert found(120, 127, 100, 1) == [120]
    if not dtype.startswith("u"):
        assert found(-3, -1, 1, 2) == [197, 198]
        assert found(-1, -100, -50, 2) == [199, 149]


def test_gradients_of_slices_by_mixed_types() -> None:
    data, ends = jnp.zeros(200), (np.uint64(2**63 + 5), np.int8(-100), np.int8(-60))
    write = lambda values: sj.slice_scatter(data, values, *map(jnp.asarray, ends))  # noqa: E731
    found = jax.grad(lambda values: write(values) @ jnp.arange(200.0))(jnp.ones(2))
    assert found.tolist() == [199, 139]


CACHE_STARTS = [
    ("int8", "linear", [3, 100], [[3, 4], [100, 101]]),
    ("int8", "circular", [127, 3], [[127, 128], [3, 4]]),
    ("int16", "circular", [32_767, 3], [[167, 168], [3, 4]]),
    ("uint8", "linear", [198, 255], [[198, 199], None]),
    ("uint32", "circular", [2**32 - 1, 199], [[95, 96], [199, 0]]),
    ("int64", "linear", [2**32 + 5, -(2**32)], [None, None]),
    ("int64", "circular", [2**32 + 5, -1], [[101, 102], None]),
    ("uint64", "linear", [2**63 + 5, 2], [None, [2, 3]]),
    ("uint64", "circular", [2**64 - 1, 2**63], [[15, 16], [8, 9]]),
]


@pytest.mark.parametrize("dtype, mode, starts, dropped", CACHE_STARTS)
def test_gradients_of_long_caches(dtype, mode, starts, dropped) -> None:
    cache, places = jnp.zeros((2, 200, 1)), np.array(starts, dtype)
    weights = jnp.arange(200.0)[None, :, None]

    def rows(policy: str) -> list[list[float]]:
        write = lambda update: sj.tensor_scatter(  # noqa: E731
            cache, update, jnp.asarray(places), mode=mode, index_policy=policy
        )
        found = jax.grad(lambda update: (write(update) * weights).sum())(jnp.ones((2, 2, 1)))
        return found[..., 0].tolist()

    assert rows("drop") == [[0, 0] if row is None else row for row in dropped]
    context = strew.Context(index_policy="clamp")
    update = np.ones((2, 2, 1))
    written = strew.tensor_scatter(np.zeros((2, 200, 1)), update, places, mode=mode, context=context)
    assert [sorted(row) for row in rows("clamp")] == [
        np.flatnonzero(entry).tolist() for entry in written
    ]
