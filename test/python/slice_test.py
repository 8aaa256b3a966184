# SPDX-License-Identifier: Apache-2.0
"""slice_scatter against NumPy's own slices."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strew_ctypes as strew
from arrays import INDEX_DTYPES, Layout, Placed, assert_same_bytes, check_call, copied
from strategies import broadcastable, fills, layouts, placed, shapes, sources_and_targets
from strew_ctypes import Reduction, Status, StrewError, Tensor

INT64_MAX = np.iinfo(np.int64).max
DTYPES = [np.dtype(name) for name in ("bool", "int8", "uint16", "float16", "float32", "int64")]
DTYPES += [np.dtype(name) for name in ("float64", "complex64", "complex128")]
MOVED_DTYPES = [*DTYPES, np.dtype("V3"), np.dtype("V12")]


@dataclasses.dataclass(frozen=True)
class Slices:
    """Entry j slices axis axes[j]; None for the axes 0, ..., n - 1."""

    start: np.ndarray
    stop: np.ndarray
    step: np.ndarray
    axes: np.ndarray | None

    def key(self, rank: int) -> tuple[slice, ...]:
        key = [slice(None)] * rank
        axes = range(len(self.start)) if self.axes is None else self.axes.tolist()
        for axis, *bounds in zip(axes, *(a.tolist() for a in (self.start, self.stop, self.step))):
            key[axis] = slice(*bounds)
        return tuple(key)

    def int64s(self) -> list[list[int] | None]:
        """The entries as strew_slice_scatter_int64() takes them: 2^63 and more mean what
        2^63 - 1 means."""
        arrays = (self.start, self.stop, self.step, self.axes)
        return [None if a is None else [min(n, INT64_MAX) for n in a.tolist()] for a in arrays]


@st.composite
def numbers(draw, dtype: np.dtype, near: int) -> int:
    """An integer of the dtype, mostly around [-near, near] and at the limits of integer types."""
    limits = [np.iinfo(name) for name in ("int8", "int16", "int32", "int64", "uint64")]
    edges = [edge + by for limit in limits for edge in (limit.min, limit.max) for by in (-1, 0, 1)]
    own = np.iinfo(dtype)
    inside = [edge for edge in edges if fits(edge, dtype)]
    return draw(
        st.integers(max(own.min, -near), near)
        | st.sampled_from(inside)
        | st.integers(int(own.min), int(own.max))
    )


def stored(values: list[int], dtype: np.dtype) -> st.SearchStrategy[np.ndarray]:
    """The values as a 1-D array of any stride."""

    def place(layout: Layout) -> np.ndarray:
        array = Placed(lambda size: np.zeros(size, dtype), (len(values),), layout).view
        array[...] = values
        return array

    return layouts(1, repeats=False).map(place)


@st.composite
def entries(draw, dim: int, start: np.dtype, stop: np.dtype, step: np.dtype) -> tuple[int, ...]:
    by = draw(numbers(step, 3).filter(bool))
    bounds = draw(numbers(start, dim + 2)), draw(numbers(stop, dim + 2))
    # Most random bounds leave nothing of an axis, and so nothing of the whole array.
    empty = len(range(dim)[bounds[0] : bounds[1] : by]) == 0
    swappable = fits(bounds[0], stop) and fits(bounds[1], start)
    if empty and swappable and draw(st.sampled_from([True] * 5 + [False])):
        bounds = bounds[::-1]
    return *bounds, by


def fits(number: int, dtype: np.dtype) -> bool:
    return np.iinfo(dtype).min <= number <= np.iinfo(dtype).max


@st.composite
def slices(draw, shape: tuple[int, ...]) -> Slices:
    rank = len(shape)
    count = draw(st.integers(0, rank))
    chosen = list(range(count))
    axes = None
    if draw(st.booleans()):
        chosen = draw(st.permutations(range(rank)))[:count]
        dtype = draw(st.sampled_from(INDEX_DTYPES))
        from_end = st.booleans() if dtype.kind == "i" else st.just(False)
        axes = draw(stored([axis - rank * draw(from_end) for axis in chosen], dtype))

    dtypes = [draw(st.sampled_from(INDEX_DTYPES)) for _ in range(3)]
    rows = [draw(entries(shape[axis], *dtypes)) for axis in chosen]
    columns = zip(*rows) if rows else [()] * 3
    arrays = [draw(stored(list(column), dtype)) for column, dtype in zip(columns, dtypes)]
    return Slices(*arrays, axes)


@given(st.data(), shapes(), st.sampled_from([Reduction.NONE, Reduction.ADD]))
def test_against_numpy(data, shape, reduction) -> None:
    chosen = data.draw(slices(shape))
    key = chosen.key(len(shape))
    dtype = data.draw(st.sampled_from(DTYPES if reduction == Reduction.ADD else MOVED_DTYPES))
    fill = data.draw(fills(dtype, moved_only=reduction == Reduction.NONE))
    source, target = data.draw(sources_and_targets(fill, shape))
    updates = data.draw(placed(fill, data.draw(broadcastable(source.view[key].shape))))

    expected = copied(source, target)
    if reduction == Reduction.NONE:
        expected.view[key] = updates.view
    else:
        expected.view[key] += updates.view

    for function, entries in (
        (strew.slice_scatter, [chosen.start, chosen.stop, chosen.step, chosen.axes]),
        (strew.slice_scatter_int64, chosen.int64s()),
    ):
        check_call(function, [source, updates], [*entries, reduction], target, expected)


@given(st.data(), shapes())
def test_one_descriptor_as_data_and_output(data, shape) -> None:
    chosen = data.draw(slices(shape))
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    expected = array.copy()
    updates = expected[chosen.key(len(shape))] + 1
    expected[chosen.key(len(shape))] = updates
    tensor = Tensor(array)
    arguments = [chosen.start, chosen.stop, chosen.step, chosen.axes]
    strew.slice_scatter(tensor, updates, *arguments, out=tensor)
    assert_same_bytes(array, expected)


@pytest.mark.parametrize("dtype", INDEX_DTYPES, ids=str)
def test_limits_are_open_ends(dtype) -> None:
    data = np.arange(6, dtype=np.int32)
    limits = np.iinfo(dtype)
    start, stop, step = (np.array([n], dtype) for n in (limits.min, limits.max, 2))
    output = strew.slice_scatter(data, np.array([9, 8, 7], np.int32), start, stop, step)
    assert output.tolist() == [9, 1, 8, 3, 7, 5]


@pytest.mark.parametrize(
    ("start", "stop", "step", "axes", "shape", "status"),
    [
        ([0], [2], [0], None, (2, 4), Status.INVALID_ARGUMENT),
        ([0], [2], [1], [2], (2, 4), Status.INVALID_AXIS),
        ([0], [2], [1], [-3], (2, 4), Status.INVALID_AXIS),
        ([0, 0], [2, 2], [1, 1], [1, -1], (3, 2), Status.INVALID_AXIS),
        ([0], [2], [1], None, (3, 4), Status.INVALID_SHAPE),
        ([0] * 3, [2] * 3, [1] * 3, None, (2, 2), Status.INVALID_SHAPE),
    ],
)
def test_refusals_leave_the_output_alone(start, stop, step, axes, shape, status) -> None:
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    before = data.copy()
    arrays = [None if n is None else np.array(n, np.int64) for n in (start, stop, step, axes)]
    updates = np.zeros(shape, np.float32)
    for function, arguments in (
        (strew.slice_scatter, arrays),
        (strew.slice_scatter_int64, [start, stop, step, axes]),
    ):
        with pytest.raises(StrewError) as failure:
            function(data, updates, *arguments, out=data)
        assert failure.value.status == status
        assert_same_bytes(data, before)


def test_an_axis_of_two_to_the_63_is_large() -> None:
    data = np.zeros(3, np.float32)
    zero, one = np.array([0]), np.array([1])
    with pytest.raises(StrewError) as failure:
        axes = np.array([2**64 - 1], np.uint64)
        strew.slice_scatter(data, data[:1].copy(), zero, one, one, axes)
    assert failure.value.status == Status.INVALID_AXIS
