# SPDX-License-Identifier: Apache-2.0
"""TensorFlow by the examples of its documentation (2.21), without the package."""

from __future__ import annotations

import numpy as np

import strew_ctypes as strew
from differential import Rows, assert_refused, context
from draw import Draw
from strew_ctypes import IndexPolicy, Reduction, Status

FOUR_PLACES = np.array([[4], [3], [1], [7]])
NINE_TO_TWELVE = np.array([9, 10, 11, 12], np.int32)
TWO_SLICES = np.array([[0], [2]])
FIVE_TO_EIGHT = np.tile(np.arange(5, 9, dtype=np.int32)[:, None], (2, 1, 4))
THREE_PLACES = np.array([[1], [4], [5]])
C = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [4, 3, 2, 1]], np.int32)
SEGMENTS = np.array([0, 1, 0])
MEAN = Reduction.MEAN | Reduction.EXCLUDE_SELF

rows = Rows("tensorflow", count=1)


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.int32)


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def segments(
    data: np.ndarray, ids: np.ndarray, count: int, start: int, reduction: int
) -> np.ndarray:
    """One row a segment, `start` where it has no members; negative ids are dropped."""
    empty = np.full((count, *data.shape[ids.ndim :]), start, data.dtype)
    dropped = context(index_policy=IndexPolicy.INDEX_DROP, negative_indices=0)
    return strew.scatter_update(empty, ids, data, 0, reduction, context=dropped)


@rows.add("tensor_scatter_nd_update")
def update(draw: Draw):
    actual = strew.scatter_nd(ones(8), FOUR_PLACES, NINE_TO_TWELVE)
    return actual, numbers(1, 11, 1, 10, 9, 1, 1, 12)


@rows.add("tensor_scatter_nd_update")
def update_of_slices(draw: Draw):
    actual = strew.scatter_nd(ones(4, 4, 4), TWO_SLICES, FIVE_TO_EIGHT)
    return actual, np.stack([FIVE_TO_EIGHT[0], ones(4, 4), FIVE_TO_EIGHT[1], ones(4, 4)])


@rows.add("tensor_scatter_nd_add")
def add(draw: Draw):
    actual = strew.scatter_nd(ones(8), FOUR_PLACES, NINE_TO_TWELVE, Reduction.ADD)
    return actual, numbers(1, 12, 1, 11, 10, 1, 1, 13)


@rows.add("tensor_scatter_nd_sub")
def subtract(draw: Draw):
    actual = strew.scatter_nd(ones(8), FOUR_PLACES, NINE_TO_TWELVE, Reduction.SUB)
    return actual, numbers(1, -10, 1, -9, -8, 1, 1, -11)


@rows.add("tensor_scatter_nd_sub")
def subtract_slices(draw: Draw):
    actual = strew.scatter_nd(ones(4, 4, 4), TWO_SLICES, FIVE_TO_EIGHT, Reduction.SUB)
    less = ones(4, 4) - FIVE_TO_EIGHT[0]
    return actual, np.stack([less, ones(4, 4), less, ones(4, 4)])


@rows.add("tensor_scatter_nd_max")
def maximum(draw: Draw):
    updates = numbers(1, -1, 1)
    actual = strew.scatter_nd(0 * ones(8), THREE_PLACES, updates, Reduction.MAX)
    return actual, numbers(0, 1, 0, 0, 0, 1, 0, 0)


@rows.add("tensor_scatter_nd_min")
def minimum(draw: Draw):
    """The documentation has no example: by its sentence, on the operands of that of the maximum."""
    updates = numbers(1, -1, 1)
    actual = strew.scatter_nd(0 * ones(8), THREE_PLACES, updates, Reduction.MIN)
    return actual, numbers(0, 0, 0, 0, -1, 0, 0, 0)


@rows.add("scatter_nd")
def scatter_nd(draw: Draw):
    actual = strew.scatter_nd(0 * ones(8), FOUR_PLACES, NINE_TO_TWELVE, Reduction.ADD)
    return actual, numbers(0, 11, 0, 10, 9, 0, 0, 12)


@rows.add("scatter_nd")
def scatter_nd_of_duplicates(draw: Draw):
    """They are summed, by its sentence."""
    actual = strew.scatter_nd(0 * ones(2), np.array([[1], [1]]), numbers(3, 4), Reduction.ADD)
    return actual, numbers(0, 7)


@rows.add("math.unsorted_segment_sum")
def segment_sum(draw: Draw):
    actual = segments(C, SEGMENTS, 2, 0, Reduction.ADD)
    return actual, np.array([[5, 5, 5, 5], [5, 6, 7, 8]], np.int32)


@rows.add("math.unsorted_segment_prod")
def segment_product(draw: Draw):
    actual = segments(C, SEGMENTS, 2, 1, Reduction.MUL)
    return actual, np.array([[4, 6, 6, 4], [5, 6, 7, 8]], np.int32)


@rows.add("math.unsorted_segment_max")
def segment_maximum(draw: Draw):
    """By its formula; a segment without members has the lowest number."""
    lowest = np.iinfo(np.int32).min
    actual = segments(C, SEGMENTS, 3, lowest, Reduction.MAX)
    return actual, np.array([[4, 3, 3, 4], [5, 6, 7, 8], [lowest] * 4], np.int32)


@rows.add("math.unsorted_segment_min")
def segment_minimum(draw: Draw):
    """By its formula; a segment without members has the highest number."""
    highest = np.iinfo(np.int32).max
    actual = segments(C, SEGMENTS, 3, highest, Reduction.MIN)
    return actual, np.array([[1, 2, 2, 1], [5, 6, 7, 8], [highest] * 4], np.int32)


@rows.add("math.unsorted_segment_mean")
def segment_mean(draw: Draw):
    """By its formula; a segment without members has 0."""
    actual = segments(C.astype(np.float32), SEGMENTS, 3, 0, MEAN)
    return actual, np.array([[2.5] * 4, [5, 6, 7, 8], [0] * 4], np.float32)


@rows.add("math.unsorted_segment_sum")
def segment_sum_of_matrix_of_ids(draw: Draw):
    """The ids have the shape of the first dims of data; negative ones are dropped."""
    ids = np.array([[0, 1, 0, -1], [1, -1, 0, 0], [0, 0, 1, -5]])
    return segments(C, ids, 2, 0, Reduction.ADD), numbers(1 + 3 + 7 + 8 + 4 + 3, 2 + 5 + 2)


test_row = rows.tests()


def test_ids_above_the_number_of_segments_are_dropped_too() -> None:
    """They are errors on TensorFlow's CPU. A check of them alone is that of the default policy."""
    ids = np.array([0, 2, -1])
    actual = segments(C, ids, 2, 0, Reduction.ADD)
    assert actual.tolist() == [[1, 2, 3, 4], [0, 0, 0, 0]]
    zeros = np.zeros((2, 4), np.int32)
    assert_refused(Status.INDEX_OUT_OF_RANGE, lambda: strew.scatter_update(zeros, ids, C, 0))


def test_out_of_range_on_any_device() -> None:
    """There it is an error on a CPU, and ignored on a GPU."""
    inputs = (ones(8), np.array([[8]]), numbers(9))
    assert_refused(Status.INDEX_OUT_OF_RANGE, lambda: strew.scatter_nd(*inputs))
    drop = context(index_policy=IndexPolicy.INDEX_DROP)
    assert strew.scatter_nd(*inputs, context=drop).tolist() == [1] * 8
