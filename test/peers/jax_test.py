# SPDX-License-Identifier: Apache-2.0
"""JAX's `.at[]` on the CPU."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import strew_ctypes as strew
from arrays import assert_same_bytes
from differential import Rows, assert_refused, context
from draw import BOOL, COMPLEX, FLOAT8, FLOATS, INTEGERS, SHORT_FLOATS, Draw
from strew_ctypes import IndexPolicy, Reduction, Status

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)

NUMBERS = [*INTEGERS, *FLOATS, *FLOAT8, *COMPLEX]
REAL = [*BOOL, *INTEGERS, *FLOATS, *FLOAT8]
METHODS = {
    "set": (Reduction.NONE, [*BOOL, *NUMBERS]),
    "add": (Reduction.ADD, NUMBERS),
    "subtract": (Reduction.SUB, NUMBERS),
    "multiply": (Reduction.MUL, NUMBERS),
    "min": (Reduction.MIN, REAL),
    "max": (Reduction.MAX, REAL),
}
POLICIES = {"drop": IndexPolicy.INDEX_DROP, "clip": IndexPolicy.INDEX_CLAMP}

# Every shape is compiled anew.
rows = Rows("jax", count=10)


def updated(
    method: str, data: np.ndarray, key: tuple, updates: np.ndarray, mode: str | None = None
) -> np.ndarray:
    at = jax.numpy.asarray(data).at[key]
    return np.asarray(getattr(at, method)(jax.numpy.asarray(updates), mode=mode))


def beyond(draw: Draw, indices: np.ndarray, dim: int, mode: str) -> np.ndarray:
    """Some are moved out of range: any of them, or those that are clipped to where they were."""
    coin = draw.rng.integers(0, 2, indices.shape) == 1
    above = dim + draw.rng.integers(0, dim + 1, indices.shape)
    below = -1 - above
    if mode == "drop":
        outside = np.where(draw.rng.integers(0, 2, indices.shape), above, below)
        return np.where(coin, outside, draw.wrapped(indices, dim))
    clipped = np.where(coin & (indices == 0), below, indices)
    return np.where(coin & (indices == dim - 1), above, clipped)


def draw_method(method: str, draw: Draw) -> tuple[Reduction, list[np.dtype], dict[str, bool], str]:
    """JAX does not define which of several writers of one element wins."""
    reduction, dtypes = METHODS[method]
    how = {"unique": method == "set", "powers": method == "multiply", "wrap": False}
    return reduction, dtypes, how, draw.one_of(list(POLICIES))


def rows_case(method):
    def at_rows(draw):
        reduction, dtypes, how, mode = draw_method(method, draw)
        case = draw.rows(dtypes, **how)
        axis = case.axis % case.data.ndim
        indices = beyond(draw, case.indices, case.data.shape[axis], mode)
        key = (*[slice(None)] * axis, indices)
        expected = updated(method, case.data, key, case.updates, mode)
        made = context(index_policy=POLICIES[mode])
        operands = (case.data, indices, case.updates)
        return strew.scatter_update(*operands, axis, reduction, context=made), expected

    return at_rows


def tuples_case(method):
    def at_tuples(draw):
        reduction, dtypes, how, mode = draw_method(method, draw)
        case = draw.tuples(dtypes, **how)
        columns = [
            beyond(draw, column, dim, mode)
            for column, dim in zip(np.moveaxis(case.indices, -1, 0), case.data.shape)
        ]
        expected = updated(method, case.data, tuple(columns), case.updates, mode)
        made = context(index_policy=POLICIES[mode])
        operands = (case.data, np.stack(columns, axis=-1), case.updates)
        return strew.scatter_nd(*operands, reduction, context=made), expected

    return at_tuples


for name in METHODS:
    rows.add(name)(rows_case(name))
    rows.add(name)(tuples_case(name))

test_row = rows.tests()


@pytest.mark.parametrize("index", [3, -4])
def test_out_of_range(index) -> None:
    data, indices, updates = np.zeros(3, "f4"), np.array([index]), np.ones(1, "f4")
    assert updated("set", data, (indices,), updates).tolist() == [0, 0, 0]
    assert_refused(
        Status.INDEX_OUT_OF_RANGE, lambda: strew.scatter_update(data, indices, updates, 0)
    )


def test_a_large_uint64_becomes_another_index() -> None:
    data, updates = np.zeros(3, "f4"), np.ones(1, "f4")
    indices = np.array([2**63 + 1], np.uint64)
    assert updated("set", data, (indices,), updates, "drop").tolist() == [0, 1, 0]
    drop = context(index_policy=IndexPolicy.INDEX_DROP)
    assert strew.scatter_update(data, indices, updates, 0, context=drop).tolist() == [0, 0, 0]


@pytest.mark.parametrize("method", ["add", "subtract", "multiply"])
def test_bool_is_refused(method) -> None:
    data, updates = np.array([True, False]), np.array([True, True])
    with pytest.raises(TypeError, match="does not accept dtype bool"):
        updated(method, data, (np.arange(2),), updates)
    actual = strew.scatter_update(data, np.arange(2), updates, 0, METHODS[method][0])
    expected = {"add": [True, True], "subtract": [False, True], "multiply": [True, False]}
    assert actual.tolist() == expected[method]


def test_complex_numbers_have_an_order_there() -> None:
    data, updates = np.array([1 + 2j]), np.array([3 + 1j])
    assert updated("min", data, (np.array([0]),), updates).tolist() == [1 + 2j]
    assert_refused(
        Status.INVALID_DTYPE,
        lambda: strew.scatter_update(data, np.array([0]), updates, 0, Reduction.MIN),
    )


def test_clipping_to_an_axis_without_elements() -> None:
    data, indices, updates = np.zeros((0, 2), "f4"), np.array([0]), np.ones((1, 2), "f4")
    assert updated("set", data, (indices,), updates, "clip").size == 0
    clamp = context(index_policy=IndexPolicy.INDEX_CLAMP)
    assert_refused(
        Status.INDEX_OUT_OF_RANGE,
        lambda: strew.scatter_update(data, indices, updates, 0, context=clamp),
    )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("method", ["min", "max"])
def test_nan_in_min_and_max(method, dtype) -> None:
    data, updates = np.array([np.nan, 1, 0], dtype), np.array([1, np.nan, 5], dtype)
    there = updated(method, data, (np.arange(3),), updates)
    here = strew.scatter_update(data, np.arange(3), updates, 0, METHODS[method][0])
    assert np.isnan(there).tolist() == np.isnan(here).tolist() == [True, True, False]
    assert here[2] == there[2]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_zeros_in_min_and_max(dtype) -> None:
    data, updates = np.array([0.0, -0.0], dtype), np.array([-0.0, 0.0], dtype)
    for method, sign in (("min", -0.0), ("max", 0.0)):
        there = updated(method, data, (np.arange(2),), updates)
        assert_same_bytes(there, np.full(2, sign, dtype))
        here = strew.scatter_update(data, np.arange(2), updates, 0, METHODS[method][0])
        assert_same_bytes(here, there)


@pytest.mark.parametrize("dtype", SHORT_FLOATS, ids=str)
def test_sums_of_16_bits(dtype) -> None:
    largest = 2048 if dtype == np.float16 else 256
    data, indices, updates = np.full(1, largest, dtype), np.zeros(64, int), np.ones(64, dtype)
    assert updated("add", data, (indices,), updates).tolist() == [largest]
    actual = strew.scatter_update(data, indices, updates, 0, Reduction.ADD)
    assert actual.tolist() == [largest]


def test_overflow_of_float8() -> None:
    for dtype, most, sum_of_both in ((FLOAT8[0], 448, np.nan), (FLOAT8[1], 57344, np.inf)):
        data, indices, updates = np.full(1, most, dtype), np.array([0]), np.full(1, most, dtype)
        expected = np.array([sum_of_both], dtype)
        assert_same_bytes(updated("add", data, (indices,), updates), expected)
        assert_same_bytes(strew.scatter_update(data, indices, updates, 0, Reduction.ADD), expected)


@pytest.mark.parametrize(
    "bounds", [(-9, -12, -1), (-9, -(2**31), -1), (4, 0, -2), (-1, -9, -1), (9, 1, -3)]
)
def test_slices_backwards(bounds) -> None:
    """They are those of Python: from before the axis they are empty."""
    data, entry = np.arange(5, dtype=np.float32), slice(*bounds)
    updates = -np.ones(data[entry].shape, np.float32)
    expected = updated("set", data, (entry,), updates)
    start, stop, step = ([number] for number in bounds)
    assert_same_bytes(strew.slice_scatter_int64(data, updates, start, stop, step), expected)
