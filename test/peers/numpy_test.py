# SPDX-License-Identifier: Apache-2.0
"""NumPy's put_along_axis, put and ufunc.at."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import strew_ctypes as strew
from arrays import assert_same_bytes
from differential import Rows, assert_refused, context, seen_in
from draw import BOOL, COMPLEX, FLOATS, INTEGERS, LONG_FLOATS
from strew_ctypes import DuplicatePolicy, IndexPolicy, Reduction, Status

NUMBERS = [*INTEGERS, *FLOATS, *COMPLEX]
ALL = [*BOOL, *NUMBERS]
REAL = [*BOOL, *INTEGERS, *FLOATS]
UFUNCS = {
    np.add: (Reduction.ADD, ALL),
    np.subtract: (Reduction.SUB, NUMBERS),
    np.multiply: (Reduction.MUL, ALL),
    np.minimum: (Reduction.MIN, REAL),
    np.maximum: (Reduction.MAX, REAL),
    np.logical_or: (Reduction.ADD, BOOL),
    np.logical_and: (Reduction.MUL, BOOL),
    np.logical_xor: (Reduction.SUB, BOOL),
}

rows = Rows("numpy")


@rows.add("put_along_axis")
def put_along_axis(draw):
    case = draw.elements(ALL)
    # NumPy broadcasts where indices are shorter than data; strew leaves the rest alone.
    corner = [slice(size) for size in case.indices.shape]
    corner[case.axis] = slice(None)
    expected = case.data.copy()
    np.put_along_axis(expected[tuple(corner)], case.indices, case.updates, case.axis)
    return strew.scatter_elements(case.data, case.indices, case.updates, case.axis), expected


@rows.add("put")
def put(draw):
    case = draw.rows(ALL)
    flat = case.data.ravel()
    indices = draw.rng.integers(-flat.size, flat.size, draw.shape())
    updates = draw.values(flat.dtype, indices.shape)
    expected = case.data.copy()
    np.put(expected, indices, updates)
    return strew.scatter_update(flat, indices, updates, 0).reshape(expected.shape), expected


@rows.add("put")
def put_clipped(draw):
    """mode="clip" has no negative indices."""
    data = draw.values(draw.one_of(ALL), draw.shape(1))
    indices = draw.rng.integers(-2 * data.size, 2 * data.size, 5)
    updates = draw.values(data.dtype, indices.shape)
    expected = data.copy()
    np.put(expected, indices, updates, mode="clip")
    clamp = context(index_policy=IndexPolicy.INDEX_CLAMP, negative_indices=0)
    return strew.scatter_update(data, indices, updates, 0, context=clamp), expected


@rows.add("ufunc.at")
def ufunc_at(draw):
    ufunc = draw.one_of(list(UFUNCS))
    reduction, dtypes = UFUNCS[ufunc]
    case = draw.tuples(dtypes, powers=ufunc is np.multiply)
    expected = case.data.copy()
    with np.errstate(over="ignore"):
        ufunc.at(expected, tuple(np.moveaxis(case.indices, -1, 0)), case.updates)
    return strew.scatter_nd(case.data, case.indices, case.updates, reduction), expected


@rows.add("ufunc.at")
def ufunc_at_with_rounding(draw):
    """One update after the other is the order of both, so that every sum is rounded alike."""
    ufunc = draw.one_of([np.add, np.subtract, np.multiply])
    data = draw.values(draw.one_of(FLOATS), draw.shape(1))
    indices = draw.rng.integers(-data.size, data.size, 20)
    updates = draw.rng.uniform(0.5, 2, 20).astype(data.dtype)
    expected = data.copy()
    ufunc.at(expected, indices, updates)
    return strew.scatter_update(data, indices, updates, 0, UFUNCS[ufunc][0]), expected


test_row = rows.tests()


def test_put_wraps_and_repeats() -> None:
    data = np.zeros(3)
    np.put(data, [3, 4, 5], [8, 9], mode="wrap")
    assert data.tolist() == [8, 9, 8]
    assert_refused(
        Status.INVALID_SHAPE,
        lambda: strew.scatter_update(np.zeros(3), np.array([3, 4, 5]), np.array([8.0, 9]), 0),
    )


def test_out_of_range() -> None:
    data, indices, updates = np.zeros(3), np.array([0, 5]), np.array([1.0, 2])
    written = data.copy()
    with pytest.raises(IndexError):
        np.put(written, indices, updates)
    assert written.tolist() == [1, 0, 0]
    call = strew.scatter_update
    assert_refused(
        Status.INDEX_OUT_OF_RANGE, lambda: call(data, indices, updates, 0, out=data)
    )
    assert data.tolist() == [0, 0, 0]


def test_indices_are_broadcast() -> None:
    expected = np.zeros((2, 3))
    np.put_along_axis(expected, np.array([[1]]), 9, 1)
    assert expected.tolist() == [[0, 9, 0], [0, 9, 0]]
    nine, one = np.full((1, 1), 9.0), np.array([[1]])
    actual = strew.scatter_elements(np.zeros((2, 3)), one, nine, 1)
    assert actual.tolist() == [[0, 9, 0], [0, 0, 0]]
    column = np.broadcast_to(one, (2, 1))
    actual = strew.scatter_elements(np.zeros((2, 3)), column, np.broadcast_to(nine, (2, 1)), 1)
    assert_same_bytes(actual, expected)


def test_duplicates() -> None:
    """The last one wins in both."""
    data = np.zeros(2)
    np.put(data, [0, 0], [1, 2])
    operands = (np.zeros(2), np.array([0, 0]), np.array([1.0, 2]))
    assert_same_bytes(strew.scatter_update(*operands, 0), data)
    error = context(duplicate_policy=DuplicatePolicy.DUPLICATE_ERROR)
    assert_refused(
        Status.DUPLICATE_INDEX, lambda: strew.scatter_update(*operands, 0, context=error)
    )


@pytest.mark.parametrize("dtype", LONG_FLOATS, ids=str)
def test_nan_in_min_and_max(dtype) -> None:
    data, updates = np.array([np.nan, 1, 0], dtype), np.array([1, np.nan, 5], dtype)
    for ufunc in (np.minimum, np.maximum):
        expected = data.copy()
        with np.errstate(invalid="ignore"):
            ufunc.at(expected, np.arange(3), updates)
        actual = strew.scatter_update(data, np.arange(3), updates, 0, UFUNCS[ufunc][0])
        assert np.isnan(expected).tolist() == np.isnan(actual).tolist() == [True, True, False]
        assert actual[2] == expected[2]


@seen_in("numpy")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="seen on x86-64")
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_zeros_in_min_and_max(dtype) -> None:
    """NumPy keeps the old zero for float16, and takes the update for float32."""
    data, updates = np.array([0.0, -0.0], dtype), np.array([-0.0, 0.0], dtype)
    for ufunc, sign in ((np.minimum, -0.0), (np.maximum, 0.0)):
        there = data.copy()
        ufunc.at(there, np.arange(2), updates)
        assert_same_bytes(there, data if dtype == "float16" else updates)
        here = strew.scatter_update(data, np.arange(2), updates, 0, UFUNCS[ufunc][0])
        assert_same_bytes(here, np.full(2, sign, dtype))


def test_sums_of_16_bits() -> None:
    data, indices, updates = np.full(1, 2048, "f2"), np.zeros(64, int), np.ones(64, "f2")
    expected = data.copy()
    np.add.at(expected, indices, updates)
    assert expected.tolist() == [2048]
    assert_same_bytes(strew.scatter_update(data, indices, updates, 0, Reduction.ADD), expected)


def test_bool_has_a_difference() -> None:
    data, updates = np.array([True, False]), np.array([True, True])
    with pytest.raises(TypeError, match="boolean subtract"):
        np.subtract.at(data, np.arange(2), updates)
    actual = strew.scatter_update(data, np.arange(2), updates, 0, Reduction.SUB)
    assert actual.tolist() == [False, True]
