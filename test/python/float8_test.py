# SPDX-License-Identifier: Apache-2.0
"""All pairs of float8 numbers under every reduction, on every SIMD target, against ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import strew_ctypes as strew
from strew_ctypes import Context, Reduction, library

DTYPES = [np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)]
ARITHMETIC = {
    Reduction.ADD: np.add,
    Reduction.SUB: np.subtract,
    Reduction.MUL: np.multiply,
}
REDUCTIONS = [*ARITHMETIC, Reduction.MIN, Reduction.MAX]
PAIRS = 1 << 16


def targets() -> list[bytes]:
    names: list[bytes] = []
    while (name := library.strew_simd_target_at(len(names))) is not None:
        names.append(name)
    return names


@pytest.fixture(params=targets(), ids=bytes.decode)
def context(request) -> Context:
    made = Context()
    made.set("simd_target", request.param)
    return made


@pytest.fixture(params=DTYPES, ids=lambda dtype: dtype.name)
def dtype(request) -> np.dtype:
    return request.param


@pytest.fixture(params=REDUCTIONS, ids=lambda reduction: reduction.name)
def reduction(request) -> Reduction:
    return request.param


def all_pairs(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Old values and updates, in an order that puts different pairs beside each other."""
    pairs = np.random.default_rng(1).permutation(PAIRS)
    return (pairs >> 8).astype(np.uint8).view(dtype), (pairs & 255).astype(np.uint8).view(dtype)


def reduced(reduction: Reduction, old: np.ndarray, update: np.ndarray) -> np.ndarray:
    x, y = old.astype(np.float32), update.astype(np.float32)
    with np.errstate(all="ignore"):
        if reduction in ARITHMETIC:
            return ARITHMETIC[reduction](x, y).astype(old.dtype)
    # By value, and -0 below +0.
    x_is_less = (x < y) | ((x == y) & np.signbit(x) & ~np.signbit(y))
    chosen = np.where(x_is_less == (reduction == Reduction.MIN), old, update)
    return np.where(np.isnan(x) | np.isnan(y), np.array(np.nan, old.dtype), chosen)


def assert_same_numbers(actual: np.ndarray, expected: np.ndarray) -> None:
    """Bit for bit, but for NaNs."""
    assert actual.dtype == expected.dtype
    bits, wanted = actual.view(np.uint8), expected.view(np.uint8)
    both_nan = np.isnan(actual.astype(np.float32)) & np.isnan(expected.astype(np.float32))
    different = np.flatnonzero((bits != wanted) & ~both_nan)
    assert different.size == 0, (
        f"{different.size} differ, first at {different[0]}: {actual.ravel()[different[0]]!r}, "
        f"expected {expected.ravel()[different[0]]!r}"
    )


def test_single_elements(dtype, reduction, context) -> None:
    old, update = all_pairs(dtype)
    places = np.random.default_rng(2).permutation(PAIRS)
    output = strew.scatter_elements(old, places, update, 0, reduction, None, context)
    expected = np.empty_like(old)
    expected[places] = reduced(reduction, old[places], update)
    assert_same_numbers(output, expected)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 64, 65, 200, PAIRS])
def test_runs(dtype, reduction, context, length) -> None:
    old, update = (part[: PAIRS - PAIRS % length] for part in all_pairs(dtype))
    rows = np.arange(old.size // length)[:, None]
    output = strew.scatter_nd(
        old.reshape(-1, length), rows, update.reshape(-1, length), reduction, None, context
    )
    assert_same_numbers(output.ravel(), reduced(reduction, old, update))


@pytest.mark.parametrize("step", [-1, 2, -2, 3])
def test_slices(dtype, reduction, context, step) -> None:
    old, update = all_pairs(dtype)
    data = np.zeros(PAIRS * abs(step), dtype)
    data[::step] = old
    expected = data.copy()
    expected[::step] = reduced(reduction, old, update)
    lowest, highest = -(2**63), 2**63 - 1
    bounds = (lowest, highest) if step > 0 else (highest, lowest)
    output = strew.slice_scatter_int64(
        data, update, [bounds[0]], [bounds[1]], [step], None, reduction, None, context
    )
    assert_same_numbers(output, expected)


def test_every_update_of_one_element_is_rounded(dtype, reduction, context) -> None:
    random = np.random.default_rng(3)
    old = random.uniform(1, 2, (50, 1)).astype(dtype)
    updates = random.uniform(0.5, 1.5, (50, 40)).astype(dtype)
    expected = old.copy()
    for column in updates.T:
        expected = reduced(reduction, expected, column[:, None])
    assert np.isfinite(expected.astype(np.float32)).any()
    indices = np.zeros(updates.shape, np.int32)
    output = strew.scatter_elements(old, indices, updates, 1, reduction, None, context)
    assert_same_numbers(output, expected)


def test_what_rounds_above_the_largest_e4m3fn_is_nan(context) -> None:
    """464 is a tie, and 448 the even neighbour; PyTorch and ONNX Cast would saturate the rest."""
    data = np.array([448, 448, 448, -448], DTYPES[0])
    update = np.array([16, 18, 448, -18], DTYPES[0])
    places = np.arange(4)
    output = strew.scatter_elements(data, places, update, 0, Reduction.ADD, None, context)
    np.testing.assert_array_equal(output.astype(np.float32), [448, np.nan, np.nan, np.nan])
