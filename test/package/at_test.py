# SPDX-License-Identifier: Apache-2.0
"""add_at() and its kin beside those of NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import strew

PAIRS = [
    (strew.add_at, np.add.at),
    (strew.subtract_at, np.subtract.at),
    (strew.multiply_at, np.multiply.at),
    (strew.minimum_at, np.minimum.at),
    (strew.maximum_at, np.maximum.at),
]


def draw_place(rng: np.random.Generator, n: int) -> Any:
    """An index of a dim of n elements."""
    bounds = [None if rng.random() < 0.3 else int(rng.integers(-n - 1, n + 1)) for _ in range(2)]
    step = rng.choice([1, 2, -1, -2])
    return [
        lambda: int(rng.integers(-n, n)),
        lambda: slice(*bounds, None if rng.random() < 0.3 else int(step)),
        lambda: rng.integers(-n, n, 3),
        lambda: rng.integers(-n, n, (2, 3)).astype(np.int16),
        lambda: rng.integers(-n, n, 3).tolist(),
        lambda: rng.random(n) < 0.5,
    ][rng.integers(0, 6)]()


def draw_index(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    count = int(rng.integers(1, len(shape) + 1))
    places = [draw_place(rng, n) for n in shape[:count]]
    if rng.random() < 0.3:
        kept = int(rng.integers(0, count + 1))
        behind = shape[len(shape) - (count - kept) :] if kept < count else ()
        places = [*places[:kept], ..., *(draw_place(rng, n) for n in behind)]
    return places[0] if len(places) == 1 and rng.random() < 0.5 else tuple(places)


def draw_values(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    values = rng.integers(-9, 9, shape).astype(dtype)
    choice = rng.random()
    if choice < 0.3 and shape:
        return values[tuple(slice(0, 1) if n else slice(None) for n in shape[:1])]
    return values.ravel()[:1].reshape(()) if choice < 0.4 and values.size else values


@pytest.mark.parametrize("seed", range(8))
def test_random_expressions(seed) -> None:
    rng = np.random.default_rng(seed)
    compared = 0
    while compared < 300:
        shape = tuple(map(int, rng.integers(1, 6, rng.integers(1, 5))))
        a = rng.integers(-9, 9, shape).astype(rng.choice(["f4", "i8", "i2"]))
        a = a.transpose(rng.permutation(a.ndim)) if rng.random() < 0.3 else a
        index = draw_index(rng, a.shape)
        try:
            selected = a[index].shape
        except IndexError:  # arrays that do not fit each other
            continue
        values = draw_values(rng, selected, a.dtype)
        ours, of_numpy = PAIRS[rng.integers(0, len(PAIRS))]
        expected = a.copy(order="K")
        # NumPy 2.4 itself reads beyond values that it is to repeat.
        of_numpy(expected, index, np.broadcast_to(values, selected).copy())
        found = a.copy(order="K")
        ours(found, index, values)
        assert (found == expected).all(), (a, index, values)
        compared += 1


def test_assignment() -> None:
    a = np.zeros((3, 4))
    strew.set_at(a, ([0, 2, 0], slice(1, 3)), [[1, 2], [3, 4], [5, 6]])
    assert a.tolist() == [[0, 5, 6, 0], [0, 0, 0, 0], [0, 3, 4, 0]]


def test_values_are_converted_within_their_kind() -> None:
    a = np.zeros(3, np.float32)
    strew.add_at(a, [0, 0], np.array([1.5, 2], np.float64))
    strew.add_at(a, 2, 1)
    assert a.tolist() == [3.5, 0, 1]
    with pytest.raises(TypeError, match="add_at.. cannot cast values of float64 to int32"):
        strew.add_at(np.zeros(3, np.int32), [0], 1.5)
    with pytest.raises(TypeError, match="cannot cast values of int64 to uint8"):
        strew.add_at(np.zeros(3, np.uint8), [0], np.array([1]))
    small = np.zeros(3, np.uint8)
    strew.add_at(small, [0], [200])
    assert small.tolist() == [200, 0, 0]


def test_operands_that_share_memory() -> None:
    a = np.arange(4)
    strew.add_at(a, a, a)
    assert a.tolist() == [0, 2, 4, 6]
    strew.add_at(a, slice(1, None), a[:-1])
    assert a.tolist() == [0, 2, 6, 10]


@pytest.mark.parametrize("index", [4, -5, [0, 4], (slice(None), 3), ([0, 1], [0, -4])])
def test_out_of_range(index) -> None:
    a = np.zeros((4, 3))
    with pytest.raises(IndexError, match="out of range"):
        strew.add_at(a, index, 1)
    assert not a.any()


@pytest.mark.parametrize("index", [None, (0, None), 1.5, "a", (0, 0, 0), (..., 0, ...), [0.5]])
def test_expressions_that_are_none(index) -> None:
    with pytest.raises(IndexError, match="add_at"):
        strew.add_at(np.zeros((4, 3)), index, 1)


@pytest.mark.parametrize("index", [[True, False], (..., np.ones(4, bool)), (0, np.ones(2, bool))])
def test_masks_have_the_shape_of_their_dims(index) -> None:
    with pytest.raises(IndexError, match="mask of shape"):
        strew.add_at(np.zeros((4, 3)), index, 1)


def test_what_cannot_be_updated() -> None:
    with pytest.raises(TypeError, match="in place"):
        strew.add_at([1, 2], 0, 1)
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        strew.add_at(frozen, [0], 1)


def test_a_context() -> None:
    a = np.zeros(3)
    context = strew.Context(index_policy="drop")
    strew.add_at(a, [0, 7], 1, context=context)
    assert a.tolist() == [1, 0, 0] and context.applied == 1


INTEGERS = [
    *(1, -1, np.uint64(1), np.array(2), (1, -2), (-1, np.uint64(0)), (1, slice(None))),
    *((slice(None), -1), (..., 1), (slice(None, None, -1), 2), (0, ..., 1), (slice(1, 1), 0)),
]


@pytest.mark.parametrize("index", INTEGERS, ids=str)
def test_integers_with_a_context(index) -> None:
    """The shapes of values are those of calls without one."""
    outcomes = []
    for context in (None, strew.Context()):
        for shape in ((), (1,), (4,), (2,), (1, 1), (1, 4), (2, 1), (1, 2), (4, 2), (3, 4, 2)):
            a, values = np.zeros((3, 4, 2)), np.arange(1.0, 1 + math.prod(shape)).reshape(shape)
            try:
                strew.add_at(a, index, values, context=context)
            except ValueError as error:
                a = type(error)
            outcomes.append(a)
    half = len(outcomes) // 2
    for one, other in zip(outcomes[:half], outcomes[half:]):
        assert one is other or (one == other).all()
    assert sum(isinstance(outcome, np.ndarray) for outcome in outcomes) >= 4


FAR = [4, (4, 0), (0, 3), (slice(None), 3), (..., -4), (slice(None, None, -1), 7)]


@pytest.mark.parametrize("index", FAR, ids=str)
def test_policies_for_integers(index) -> None:
    a = np.ones((4, 3))
    with pytest.raises(strew.IndexRangeError, match="out of range"):
        strew.add_at(a, index, 1, context=strew.Context())
    strew.set_at(a, index, 7, context=strew.Context(index_policy="drop"))
    assert (a == 1).all()
    bounded = tuple(
        part if isinstance(part, slice) or part is ... else min(max(part, -n), n - 1)
        for part, n in zip(index if isinstance(index, tuple) else (index,), (4, 3))
    )
    expected = a.copy()
    expected[bounded] += 2
    strew.add_at(a, index, 2, context=strew.Context(index_policy="clamp"))
    assert (a == expected).all()


@pytest.mark.parametrize("index", [-1, [-1], (0, -1), (slice(None), -1), (..., -3)], ids=str)
def test_a_context_without_negative_indices(index) -> None:
    a = np.zeros((4, 3))
    with pytest.raises(strew.IndexRangeError, match=r"out of range \[0, "):
        strew.add_at(a, index, 1, context=strew.Context(negative_indices=False))
    assert not a.any()


def test_unsigned_indices_beside_signed_ones() -> None:
    """NumPy stacks the two as floats."""
    for rows in (np.array([0, 2], np.uint64), np.uint64(1)):
        a, expected = np.zeros((3, 3)), np.zeros((3, 3))
        index = (rows, np.array([1, -1]))
        np.add.at(expected, index, 1.5)
        strew.add_at(a, index, 1.5)
        assert np.array_equal(a, expected)
    with pytest.raises(strew.IndexRangeError, match=r"indices\[0,0\]"):
        strew.add_at(np.zeros((3, 3)), (np.array([2**64 - 1], np.uint64), np.array([1])), 1)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
def test_tensors_of_torch(dtype) -> None:
    torch = pytest.importorskip("torch")
    a = torch.zeros(3, 4, 2, dtype=getattr(torch, dtype))
    expected = a.clone()
    index, values = torch.tensor([2, 0, 2]), torch.arange(6).reshape(3, 2).to(a.dtype)
    strew.add_at(a, (index, ..., 1), 1)
    strew.add_at(a, (index, index), values)
    strew.add_at(a, (slice(None), [0]), values[:, None])
    strew.add_at(a, 1, values[0])
    expected[..., 1].index_add_(0, index, torch.ones(3, 4, dtype=a.dtype))
    expected.index_put_((index, index), values, accumulate=True)
    expected[:, 0] += values
    expected[1] += values[0]
    assert torch.equal(a, expected)
    drop = strew.Context(index_policy="drop")
    strew.add_at(a, (slice(None), 9), values[:, None].sum(0), context=drop)
    strew.add_at(a, (slice(None), 3), values, context=drop)
    expected[:, 3] += values
    assert torch.equal(a, expected)
    with pytest.raises(TypeError, match="cannot cast"):
        strew.add_at(a, index, torch.zeros(1, dtype=torch.complex64))
    shared = torch.arange(4)
    strew.add_at(shared, shared, shared)
    assert shared.tolist() == [0, 2, 4, 6]
