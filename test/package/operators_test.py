# SPDX-License-Identifier: Apache-2.0
"""Every operator of the package against NumPy, out of place and in place."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import strew

UFUNCS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
REDUCTIONS = ["none", *UFUNCS, "sub"]
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
DTYPES += ["complex64", "complex128"]


def random(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 5, shape).astype(dtype)


def reduce_at(expected: np.ndarray, key: tuple, updates: np.ndarray, reduction: str) -> None:
    if reduction == "none":
        expected[key] = updates
    elif reduction == "sub":
        np.subtract.at(expected, key, updates)
    else:
        UFUNCS[reduction].at(expected, key, updates)


def defined(dtype: str, reduction: str) -> bool:
    if dtype == "bool":
        return reduction != "sub"  # NumPy has no difference of bools
    return not (dtype.startswith("complex") and reduction in ("min", "max"))


CELLS = [(d, r) for d in DTYPES for r in REDUCTIONS if defined(d, r)]


def check(call: Callable[..., np.ndarray], data: np.ndarray, expected: np.ndarray) -> None:
    """A new array, an array of the caller, and the data itself receive the same."""
    before = data.copy()
    new = call(data)
    given = np.empty_like(data)
    assert call(data, out=given) is given
    assert data.tobytes() == before.tobytes()
    assert call(data, out=data) is data
    for result in (new, given, data):
        assert type(result) is np.ndarray and result.dtype == expected.dtype
        assert result.shape == expected.shape and result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype, reduction", CELLS)
def test_scatter_elements(dtype, reduction) -> None:
    data, updates = random((4, 6), dtype, 1), random((4, 3), dtype, 2)
    indices = np.array([[0, -1, 5], [2, 2, 2], [1, 0, 1], [-6, 3, 4]], np.int8)
    expected = data.copy()
    rows = np.arange(4)[:, None].repeat(3, 1)
    reduce_at(expected, (rows, indices), updates, reduction)
    check(
        lambda data, **out: strew.scatter_elements(
            data, indices, updates, axis=1, reduction=reduction, **out
        ),
        data,
        expected,
    )


@pytest.mark.parametrize("dtype, reduction", CELLS)
def test_scatter_nd(dtype, reduction) -> None:
    data, updates = random((4, 3, 5), dtype, 3), random((6, 5), dtype, 4)
    indices = np.array([[0, 1], [3, -1], [0, 1], [2, 0], [1, 1], [0, 1]], np.int32)
    expected = data.copy()
    reduce_at(expected, (indices[:, 0], indices[:, 1]), updates, reduction)
    check(
        lambda data, **out: strew.scatter_nd(data, indices, updates, reduction=reduction, **out),
        data,
        expected,
    )


@pytest.mark.parametrize("dtype, reduction", CELLS)
def test_scatter_update(dtype, reduction) -> None:
    data, updates = random((2, 5, 3), dtype, 5), random((2, 2, 2, 3), dtype, 6)
    indices = np.array([[4, 0], [-5, 2]])
    expected = data.copy()
    reduce_at(expected, (slice(None), indices), updates, reduction)
    check(
        lambda data, **out: strew.scatter_update(
            data, indices, updates, axis=1, reduction=reduction, **out
        ),
        data,
        expected,
    )


@pytest.mark.parametrize("dtype, reduction", CELLS)
def test_slice_scatter(dtype, reduction) -> None:
    data, updates = random((7, 6), dtype, 7), random((3, 2), dtype, 8)
    expected = data.copy()
    reduce_at(expected, (slice(-1, 0, -2), slice(1, 5, 2)), updates, reduction)
    check(
        lambda data, **out: strew.slice_scatter(
            data, updates, [1, -1], [5, 0], [2, -2], [1, 0], reduction=reduction, **out
        ),
        data,
        expected,
    )


@pytest.mark.parametrize("mode, places", [("linear", [3, 0]), ("circular", [4, 9])])
def test_tensor_scatter(mode, places) -> None:
    data, update = random((2, 5, 3), "float16", 9), random((2, 2, 3), "float16", 10)
    expected = data.copy()
    for batch, first in enumerate(places):
        for j in range(2):
            expected[batch, (first + j) % 5] = update[batch, j]
    check(
        lambda data, **out: strew.tensor_scatter(data, update, places, mode=mode, **out),
        data,
        expected,
    )


def test_defaults() -> None:
    data, ones = np.zeros((3, 4)), np.ones((1, 4))
    assert strew.scatter_elements(data, [[0, 1, 2, 0]], ones).sum(1).tolist() == [2, 1, 1]
    assert strew.scatter_update(data, [2], ones).sum(1).tolist() == [0, 0, 4]
    assert strew.slice_scatter(data, ones, 1, 2).sum(1).tolist() == [0, 4, 0]
    assert strew.tensor_scatter(data[None], ones[None]).sum(2).tolist() == [[4, 0, 0]]
    assert strew.tensor_scatter(data[None], np.ones((1, 3, 1)), [3], -1)[0, :, 3].sum() == 3


def test_mean_and_exclude_self() -> None:
    data, indices, updates = np.array([5.0, 7.0]), [0, 0], np.array([1.0, 3.0])
    assert strew.scatter_update(data, indices, updates, reduction="mean").tolist() == [3, 7]
    without = strew.scatter_update(data, indices, updates, reduction="mean", exclude_self=True)
    assert without.tolist() == [2, 7]


def test_wide_rounds_once() -> None:
    data, indices, updates = np.full(2, 2048, "f2"), [0] * 64, np.ones(64, "f2")
    for wide, expected in ((False, 2048), (True, 2112)):
        found = strew.scatter_update(data, indices, updates, reduction="add", wide=wide)
        assert found.tolist() == [expected, 2048]
        found = strew.scatter_elements(data, indices, updates, reduction="add", wide=wide)
        assert found.tolist() == [expected, 2048]
        places = np.zeros((64, 1), int)
        found = strew.scatter_nd(data, places, updates, reduction="add", wide=wide)
        assert found.tolist() == [expected, 2048]
        found = strew.slice_scatter(data, updates[:1], 0, 1, reduction="add", wide=wide)
        assert found.tolist() == [2048, 2048]


def test_every_operator_says_what_it_takes() -> None:
    others = ("plan_scatter", "gather_scatter")  # see plans_test.py
    operators = [n for n in strew.__all__ if "scatter" in n and not n.startswith(others)]
    assert len(operators) == 5
    for name in operators:
        text = getattr(strew, name).__doc__
        assert re.search(r"^ +(output = data|present_cache = past_cache)$", text, re.M), name
        for part in ("[d0", "[B, "), ("Returns `out`",), ("Raises strew.Error",):
            assert any(words in text for words in part), (name, part)
    with pytest.raises(TypeError):
        strew.scatter_nd(np.zeros(2), [[0]], np.zeros(1), "add")  # reduction is a keyword
