# SPDX-License-Identifier: Apache-2.0
"""scatter_elements and scatter_nd against NumPy's put_along_axis, assignment and ufunc.at."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import strew_ctypes as strew
from arrays import INDEX_DTYPES, assert_same_bytes, check_call, copied, fill_of
from strategies import fills, generators, placed, shapes, sources_and_targets, up_to
from strew_ctypes import Reduction

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

INTEGERS = INDEX_DTYPES
FLOATS = [np.dtype(name) for name in ("float16", "float32", "float64")]
if ml_dtypes:
    FLOATS.append(np.dtype(ml_dtypes.bfloat16))
COMPLEX = [np.dtype(name) for name in ("complex64", "complex128")]
BOOL = np.dtype("bool")

# A row-major walk over 1-D index arrays is the order that strew promises, so that the sums of
# floating-point numbers agree to the last bit. NumPy has other rules for zeros in minimum and for
# the rounding of complex products.
UFUNCS = {
    Reduction.ADD: np.add,
    Reduction.MUL: np.multiply,
    Reduction.MIN: np.minimum,
    Reduction.MAX: np.maximum,
    Reduction.SUB: np.subtract,
}
REDUCED = {
    Reduction.ADD: [BOOL, *INTEGERS, *FLOATS, *COMPLEX],
    Reduction.MUL: [BOOL, *INTEGERS, *FLOATS],
    Reduction.MIN: [BOOL, *INTEGERS],
    Reduction.MAX: [BOOL, *INTEGERS],
    Reduction.SUB: [*INTEGERS, *FLOATS, *COMPLEX],
}
MOVED = [BOOL, *INTEGERS, *FLOATS, *COMPLEX, np.dtype("V3"), np.dtype("V20")]
CELLS = [(Reduction.NONE, dtype) for dtype in MOVED]
CELLS += [(reduction, dtype) for reduction, dtypes in REDUCED.items() for dtype in dtypes]


def apply(output: np.ndarray, places: list[np.ndarray], updates: np.ndarray, reduction) -> None:
    """Update i goes to output[places[0][i], places[1][i], ...], one after the other."""
    key = tuple(place.ravel().astype(np.int64) for place in places)
    if reduction == Reduction.NONE:
        output[key] = updates.ravel()
        return
    with np.errstate(all="ignore"):
        UFUNCS[reduction].at(output, key, updates.ravel())


def apply_elements(output, indices, updates, axis, reduction) -> None:
    places = list(np.indices(indices.shape))
    places[axis] = indices
    apply(output, places, updates, reduction)


def apply_nd(output, indices, updates, reduction) -> None:
    outer, count = indices.ndim - 1, indices.shape[-1]
    whole = np.indices(updates.shape)[outer:]
    columns = indices.reshape(*indices.shape[:-1], *[1] * len(whole), count)
    named = [np.broadcast_to(columns[..., j], updates.shape) for j in range(count)]
    apply(output, [*named, *whole], updates, reduction)


def random_indices(rng, dtype: np.dtype, dim: int, size: int) -> np.ndarray:
    lowest = -dim if dtype.kind == "i" else 0
    return rng.integers(lowest, max(dim, lowest + 1), size).astype(dtype)


@given(st.data(), shapes(), generators, st.sampled_from(CELLS))
def test_scatter_elements(data, shape, rng, cell) -> None:
    reduction, dtype = cell
    rank = len(shape)
    axis = data.draw(st.integers(0, rank - 1))
    most = [2 * dim if j == axis else dim for j, dim in enumerate(shape)]
    indices_shape = tuple(data.draw(up_to(dim)) for dim in most)
    fill = data.draw(fills(dtype, moved_only=reduction == Reduction.NONE))
    source, target = data.draw(sources_and_targets(fill, shape))
    updates = data.draw(placed(fill, indices_shape))
    index_dtype = data.draw(st.sampled_from(INDEX_DTYPES))
    indices = data.draw(
        placed(lambda size: random_indices(rng, index_dtype, shape[axis], size), indices_shape)
    )

    expected = copied(source, target)
    apply_elements(expected.view, indices.view, updates.view, axis, reduction)
    attributes = [axis - rank * data.draw(st.booleans()), reduction]
    check_call(strew.scatter_elements, [source, indices, updates], attributes, target, expected)


@given(st.data(), shapes(), generators, st.sampled_from(MOVED))
def test_scatter_elements_as_put_along_axis(data, shape, rng, dtype) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    corner = tuple(slice(data.draw(up_to(dim))) for dim in shape)
    indices = rng.permuted(np.indices(shape)[axis], axis=axis)[corner]
    indices = np.where(rng.integers(0, 2, indices.shape), indices, indices - shape[axis])
    fill = data.draw(fills(dtype, moved_only=True))
    source = fill(np.prod(shape)).reshape(shape)
    updates = fill(indices.size).reshape(indices.shape)

    expected = source.copy()
    corner_and_axis = [slice(None) if j == axis else n for j, n in enumerate(corner)]
    np.put_along_axis(expected[tuple(corner_and_axis)], indices, updates, axis)
    assert_same_bytes(strew.scatter_elements(source, indices, updates, axis), expected)


@given(st.data(), shapes(), generators, st.sampled_from(CELLS))
def test_scatter_nd(data, shape, rng, cell) -> None:
    reduction, dtype = cell
    count = data.draw(st.integers(0, len(shape)))
    outer = data.draw(st.just(()) | shapes(max_rank=2))
    assume(0 not in shape[:count] or 0 in outer)
    fill = data.draw(fills(dtype, moved_only=reduction == Reduction.NONE))
    source, target = data.draw(sources_and_targets(fill, shape))
    updates = data.draw(placed(fill, (*outer, *shape[count:])))
    index_dtype = data.draw(st.sampled_from(INDEX_DTYPES))
    indices = data.draw(
        placed(lambda size: np.zeros(size, index_dtype), (*outer, count), repeats=False)
    )
    for j in range(count):
        indices.view[..., j] = random_indices(rng, index_dtype, shape[j], outer)

    expected = copied(source, target)
    apply_nd(expected.view, indices.view, updates.view, reduction)
    check_call(strew.scatter_nd, [source, indices, updates], [reduction], target, expected)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_scatter_nd_of_one_tuple_takes_any_single_update(shape) -> None:
    data = np.arange(4, dtype=np.float32)
    output = strew.scatter_nd(data, np.array([2]), np.full(shape, 9, np.float32))
    assert output.tolist() == [0, 1, 9, 3]


@pytest.mark.parametrize(
    ("reduction", "dtype"), CELLS, ids=[f"{r.name}-{d.name}" for r, d in CELLS]
)
def test_many_updates_of_few_elements(reduction, dtype) -> None:
    rng = np.random.default_rng(1)
    fill = fill_of(rng, dtype, moved_only=reduction == Reduction.NONE)
    data = fill(40 * 7).reshape(40, 7)
    updates = fill(3000 * 7).reshape(3000, 7)
    indices = random_indices(rng, np.dtype("int32"), 40, (3000, 7))

    expected = data.copy()
    apply_elements(expected, indices, updates, 0, reduction)
    assert_same_bytes(strew.scatter_elements(data, indices, updates, 0, reduction), expected)

    rows = indices[:, :1].copy()
    expected = data.copy()
    apply_nd(expected, rows, updates, reduction)
    assert_same_bytes(strew.scatter_nd(data, rows, updates, reduction), expected)
