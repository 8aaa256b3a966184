# SPDX-License-Identifier: Apache-2.0
"""Index dtypes of strew.jax: gradients take the elements that the call writes, and values that do
not fit the integers of JAX stay out of range."""

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
    call = getattr(sj, operator)
    places = jnp.asarray(index[:, None] if operator == "scatter_nd" else index)
    weights = jnp.arange(1.0, extent + 1)

    def weigh(update: jax.Array) -> jax.Array:
        return call(jnp.zeros(extent), places, update, reduction="add", **how) @ weights

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
    how = {"mode": mode, "context": strew.Context(index_policy="clamp")}
    written = strew.tensor_scatter(np.zeros((2, 200, 1)), np.ones((2, 2, 1)), places, **how)
    assert [sorted(row) for row in rows("clamp")] == [
        np.flatnonzero(entry).tolist() for entry in written
    ]


# ---- without 64-bit types ----


@pytest.fixture
def narrow():
    with jax.enable_x64(False):
        yield


FAR = 2**32 + 1  # index 1 by its low 32 bits
KINDS = {"int64": lambda v: np.array(v), "uint64": lambda v: np.array(v, "uint64"), "list": list}


def write(operator: str, indices, **how) -> list[float]:
    return getattr(sj, operator)(np.zeros(3, "f"), indices, np.ones(2, "f"), **how).tolist()


def make_plan(operator: str, indices, **how) -> sj.Plan:
    return getattr(sj, f"plan_{operator}")(indices, [3] if operator == "scatter_nd" else 3, **how)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_indices_beyond_32_bits(narrow, operator, kind) -> None:
    column = operator == "scatter_nd"
    indices = KINDS[kind]([[0], [FAR]] if column else [0, FAR])
    place = r"\[1,0\]" if column else r"\[1\]"
    sentence = f"indices{place} = {FAR} is out of range: the longest axis has 3 elements"
    for call in (write, make_plan):
        with pytest.raises(strew.IndexRangeError, match=sentence):
            call(operator, indices)
    assert write(operator, indices, index_policy="drop") == [1, 0, 0]
    assert write(operator, indices, index_policy="clamp") == [1, 0, 1]
    source = jnp.array([5.0, 6.0, 7.0])
    for policy, expected in (("drop", [5, 0]), ("clamp", [5, 7])):
        plan = make_plan(operator, indices, index_policy=policy)
        assert plan.gather(source).tolist() == expected


def test_negative_indices_beyond_32_bits(narrow) -> None:
    indices = np.array([0, 1 - 2**32])
    with pytest.raises(strew.IndexRangeError, match="-4294967295") as refused:
        write("scatter_update", indices)
    assert refused.value.position == 1 and refused.value.status == "STREW_INDEX_OUT_OF_RANGE"
    for wraps in (False, True):
        how = {"negative_indices": wraps}
        assert write("scatter_update", indices, index_policy="drop", **how) == [1, 0, 0]
        assert write("scatter_update", indices, index_policy="clamp", **how) == [1, 0, 0]


def test_numbers_and_constants_beyond_32_bits(narrow) -> None:
    data, update = jnp.zeros(3), jnp.ones(())
    for index in (FAR, np.int64(FAR), np.uint64(FAR)):
        with pytest.raises(strew.IndexRangeError, match=rf"indices\[\] = {FAR}"):
            sj.scatter_update(data, index, update)
        assert sj.scatter_update(data, index, update, index_policy="clamp").tolist() == [0, 0, 1]
    with pytest.raises(strew.IndexRangeError, match=str(FAR)):
        jax.jit(lambda data: sj.scatter_update(data, np.array([FAR]), update[None]))(data)


def test_values_that_fit_32_bits_are_kept(narrow) -> None:
    refused = (ValueError, jax.errors.JaxRuntimeError)
    for dtype in ("int64", "uint64"):
        assert write("scatter_update", np.array([0, 2], dtype)) == [1, 0, 1]
        with pytest.raises(refused, match=r"indices\[1\] = 3000000000 is out of range \[-3, 2\]"):
            sj.scatter_update(
                jnp.zeros(3), np.array([0, 3 * 10**9], dtype), jnp.ones(2)
            ).block_until_ready()
    assert write("scatter_update", np.array([0, -1])) == [1, 0, 1]
    assert write("scatter_update", [jnp.int32(0), jnp.int32(2)]) == [1, 0, 1]
    empty = sj.scatter_update(jnp.zeros(3), np.zeros(0, np.int64), jnp.ones(0))
    assert empty.tolist() == [0, 0, 0]
    with pytest.raises(refused, match="integer dtype"):
        sj.scatter_update(jnp.zeros(3), np.array([0.0]), jnp.ones(1)).block_until_ready()


def test_indices_of_axes_beyond_32_bits(narrow) -> None:
    """Such an index may be valid, whatever the policy says."""
    from strew._jax_indices import fitted

    longest = 3 * 10**9
    for policy in ("error", *POLICIES):
        with pytest.raises(OverflowError, match=r"indices\[1\] = 2999999999 .* jax_enable_x64"):
            fitted("indices", np.array([-1, longest - 1]), policy, longest)
    kept = fitted("indices", np.array([0, longest - 1]), "error", longest)
    assert kept.tolist() == [0, longest - 1] and kept.dtype == np.uint32


def test_slices_beyond_32_bits(narrow) -> None:
    def found(start, stop, step, count: int) -> list[float]:
        return sj.slice_scatter(jnp.zeros(5), jnp.ones(count), start, stop, step).tolist()

    assert found(jnp.array(3), np.int64(FAR), None, 2) == [0, 0, 0, 1, 1]
    assert found(jnp.array(3), FAR, np.array([2**40]), 1) == [0, 0, 0, 1, 0]
    assert found(jnp.array(1), [-FAR], [-(2**40)], 1) == [0, 1, 0, 0, 0]
    assert found(-FAR, jnp.array(2), None, 2) == [1, 1, 0, 0, 0]


def test_caches_beyond_32_bits(narrow) -> None:
    cache, update = np.zeros((2, 5, 1), "f"), np.ones((2, 1, 1), "f")
    starts = np.array([2**32 + 6, -FAR])
    with pytest.raises(strew.IndexRangeError, match=r"write_indices\[0\] = 4294967302"):
        sj.tensor_scatter(cache, update, starts)
    with pytest.raises(strew.IndexRangeError, match=r"write_indices\[1\] = -4294967297"):
        sj.tensor_scatter(cache, update, starts, mode="circular")
    for mode in ("linear", "circular"):
        for policy in POLICIES:
            context = strew.Context(index_policy=policy)
            expected = strew.tensor_scatter(cache, update, starts, mode=mode, context=context)
            found = sj.tensor_scatter(cache, update, starts, mode=mode, index_policy=policy)
            assert found.tolist() == expected.tolist()
    nothing = sj.tensor_scatter(cache[:, :0], update[:, :0], np.array([FAR, 0]), mode="circular")
    assert nothing.shape == (2, 0, 1)
    largest = np.array([2**64 - 1, 3], np.uint64)
    expected = strew.tensor_scatter(cache, update, largest, mode="circular")
    found = sj.tensor_scatter(cache, update, largest, mode="circular")
    assert found.tolist() == expected.tolist()
