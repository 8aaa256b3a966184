# SPDX-License-Identifier: Apache-2.0
"""The functions with torch_scatter's signatures against plain loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial

import pytest
import strew.torch as st
import torch
from torch import Tensor

REDUCTIONS = ("sum", "add", "mul", "mean", "min", "max")
FUNCTIONS = {name: getattr(st, f"scatter_{name}") for name in REDUCTIONS}


def by_loops(
    src: Tensor, index: Tensor, dim: int, out: Tensor | None, size: int, reduce: str
) -> tuple[Tensor, Tensor]:
    """Values, and where a least or greatest stands first."""
    dim %= src.dim()
    shape = list(src.shape)
    shape[dim] = size
    start = 1 if reduce == "mul" else 0
    values = torch.full(shape, start, dtype=src.dtype) if out is None else out.clone()
    places = torch.full(shape, src.shape[dim])
    terms = torch.zeros(shape, dtype=torch.int64)
    for at in itertools.product(*map(range, src.shape)):
        to = (*at[:dim], int(index[at]), *at[dim + 1 :])
        first = out is None and terms[to] == 0
        old, new = values[to].clone(), src[at]
        if reduce in ("min", "max"):
            if first or (new < old if reduce == "min" else new > old):
                values[to], places[to] = new, at[dim]
        else:
            values[to] = old * new if reduce == "mul" else old + new
        terms[to] += 1
    if reduce == "mean":
        exact = src.is_floating_point()
        values = values.div(terms.clamp(min=1), rounding_mode=None if exact else "floor")
    return values, places


CASES = {
    "one dim": ((9,), (9,), -1),
    "rows": ((9, 3), (9,), 0),
    "rows of the last dim": ((3, 9), (9,), -1),
    "rows between": ((2, 9, 3), (9,), 1),
    "elements": ((9, 3), (9, 3), 0),
    "first dims": ((2, 9, 3), (2, 9), 1),
    "nothing": ((0, 3), (0,), 0),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.int32], ids=str)
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_against_loops(case: tuple, dtype: torch.dtype, reduce: str) -> None:
    torch.manual_seed(5)
    shape, index_shape, dim = case
    src = torch.randint(-4, 5, shape).to(dtype)
    index = torch.randint(0, 4, index_shape)
    full = index
    if len(index_shape) == 1:
        full = index.reshape([-1 if axis == dim % len(shape) else 1 for axis in range(len(shape))])
    full = full.reshape(*full.shape, *[1] * (len(shape) - full.dim())).expand(shape)
    for size, given in itertools.product((None, 6), (False, True)):
        extent = size or (int(index.max()) + 1 if index.numel() else 0)
        result_shape = list(shape)
        result_shape[dim] = extent
        out = torch.randint(-2, 3, result_shape).to(dtype) if given else None
        values, places = by_loops(src, full, dim, out, extent, reduce)
        kept = None if out is None else out.clone()
        found = FUNCTIONS[reduce](src, index, dim, out, None if given else size)
        if reduce in ("min", "max"):
            assert found[1].equal(places)
            found = found[0]
        assert found.equal(values), (found, values)
        if out is not None:
            assert found is out
        again = st.scatter(src, index, dim, kept, None if given else size, reduce=reduce)
        assert again.equal(values)


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("given", [False, True])
def test_gradients(reduce: str, given: bool) -> None:
    torch.manual_seed(6)
    src = torch.randn(7, 2, dtype=torch.float64, requires_grad=True)
    index = torch.tensor([0, 3, 3, 1, 0, 3, 1])

    def call(values: Tensor) -> Tensor:
        out = torch.full((4, 2), 0.5, dtype=torch.float64) if given else None
        result = FUNCTIONS[reduce](values, index, 0, out)
        return result[0] if isinstance(result, tuple) else result

    assert torch.autograd.gradcheck(call, (src,))
    assert torch.autograd.gradgradcheck(call, (src,))


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("wanted", [(0,), (1,), (0, 1)], ids=["out", "src", "both"])
@pytest.mark.parametrize("rows", [7, 0])
def test_gradients_with_out(reduce: str, wanted: tuple[int, ...], rows: int) -> None:
    """For a tensor that is written in place, as for src."""
    torch.manual_seed(13)
    operands = [torch.randn(n, 2, dtype=torch.float64) for n in (4, rows)]
    index = torch.tensor([0, 3, 3, 1, 0, 3, 1])[:rows]

    for function in (FUNCTIONS[reduce], partial(st.scatter, reduce=reduce)):

        def call(*given: Tensor) -> Tensor:
            start, src = (dict(zip(wanted, given)).get(i, operands[i]) for i in (0, 1))
            out = start * 1
            result = function(src, index, 0, out)
            assert (result[0] if isinstance(result, tuple) else result) is out
            return out

        leaves = [operands[i].clone().requires_grad_() for i in wanted]
        assert torch.autograd.gradcheck(call, leaves)


def test_gradients_of_what_out_kept() -> None:
    start = torch.tensor([1.0, 5, 0], requires_grad=True)
    for reduce, expected in (("max", [0, 1, 1]), ("min", [1, 0, 1])):
        out = start * 1
        result = st.scatter(torch.tensor([2.0, 3]), torch.tensor([0, 1]), 0, out, None, reduce)
        assert torch.autograd.grad(result.sum(), start)[0].tolist() == expected


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
def test_segments(reduce: str) -> None:
    src = torch.randn(2, 7, 3, dtype=torch.float64)
    index = torch.tensor([[0, 0, 1, 1, 1, 3, 3], [0, 1, 1, 2, 2, 2, 2]])
    expected = st.scatter(src, index[..., None].expand_as(src), 1, dim_size=4, reduce=reduce)
    assert st.segment_coo(src, index, dim_size=4, reduce=reduce).equal(expected)
    named: Callable = getattr(st, f"segment_{reduce}_coo")
    result = named(src, index, None, 4)
    assert (result[0] if isinstance(result, tuple) else result).equal(expected)

    bounds = torch.tensor([[0, 2, 5, 5, 7], [0, 1, 3, 7, 7]])
    assert st.segment_csr(src, bounds, reduce=reduce).equal(expected)
    named = getattr(st, f"segment_{reduce}_csr")
    out = torch.full_like(expected, 9)
    result = named(src, bounds, out)
    assert out.equal(expected)
    if isinstance(result, tuple):
        places = st.scatter_min if reduce == "min" else st.scatter_max
        spread = index[..., None].expand_as(src)
        assert result[1].equal(places(src, spread, 1, None, 4)[1])


def test_segments_in_part_of_the_elements() -> None:
    src, bounds = torch.arange(8.0), torch.tensor([1, 3, 3, 6])
    assert st.segment_csr(src, bounds).tolist() == [3, 0, 12]
    assert st.segment_csr(src, bounds, reduce="max").tolist() == [2, 0, 5]
    assert st.segment_max_csr(src, bounds)[1].tolist() == [2, 8, 5]
    assert st.segment_csr(src[:, None], bounds, reduce="mean").tolist() == [[1.5], [0], [4]]


def test_halves_are_summed_wide() -> None:
    src, index = torch.ones(3000, dtype=torch.bfloat16), torch.zeros(3000, dtype=torch.int64)
    assert st.scatter(src, index).item() == 3008
    assert st.scatter(src, index, reduce="mean").item() == 1


def test_errors() -> None:
    src = torch.ones(3)
    with pytest.raises(ValueError, match="one of: sum"):
        st.scatter(src, torch.tensor([0, 1, 2]), reduce="median")
    with pytest.raises(st.IndexOutOfRange, match=r"indices\[2\] = 9 is out of range"):
        st.scatter(src, torch.tensor([0, 1, 9]), dim_size=3)
    with pytest.raises(st.IndexOutOfRange, match="indptr has 9 at 2"):
        st.segment_csr(src, torch.tensor([0, 1, 9]))
    with pytest.raises(ValueError, match="does not ascend"):
        st.segment_csr(src, torch.tensor([0, 2, 1]))
    with pytest.raises(ValueError, match="at least one bound"):
        st.segment_csr(src, torch.tensor([], dtype=torch.int64))


def test_bounds_of_every_integer_dtype() -> None:
    src = torch.ones(300)
    for dtype in (torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int64):
        assert st.segment_csr(src, torch.tensor([0, 1, 4], dtype=dtype)).tolist() == [1, 3]
    with pytest.raises(TypeError, match="float32, which is not an integer dtype"):
        st.segment_csr(src, torch.tensor([0.0, 1.0]))
    with pytest.raises(ValueError, match="indptr has rank 2, but src has rank 1"):
        st.segment_csr(src, torch.tensor([[0, 1]]))


@pytest.mark.parametrize("out", [torch.zeros(5, 2), torch.zeros(2, dtype=torch.int64)])
def test_outputs_of_segments_that_do_not_fit(out) -> None:
    for function in (st.segment_csr, st.segment_max_csr):
        with pytest.raises(ValueError, match="but the segments have shape"):
            function(torch.ones(4), torch.tensor([0, 1, 4]), out=out)
    assert not out.any()


def test_other_errors() -> None:
    index = torch.tensor([0, 1, 1])
    for dim in (1, -2, 5):
        with pytest.raises(IndexError, match="is out of range"):
            st.scatter_sum(torch.ones(3), index, dim)
    out = torch.zeros(2, dtype=torch.bool)
    with pytest.raises(TypeError, match="does not divide booleans"):
        st.scatter_mean(torch.ones(3, dtype=torch.bool), index, out=out)
    assert not out.any()


def test_indices_of_unsigned_dtypes() -> None:
    for dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64):
        index = torch.tensor([0, 1, 1], dtype=dtype)
        assert st.scatter_sum(torch.ones(3), index).tolist() == [1, 2]


def test_results_lie_where_the_source_lies() -> None:
    src, bounds, index = torch.arange(4.0), torch.tensor([0, 1, 4]), torch.tensor([0, 1, 1, 0])
    out = torch.ones(2)
    with torch.device("meta"):
        assert st.segment_csr(src, bounds).tolist() == [0, 6]
        assert st.scatter_max(src, index)[1].tolist() == [3, 2]
        assert st.scatter_mean(src, index, out=out).tolist() == [2, 2]


@pytest.mark.parametrize("reduce", ["sum", "mul", "mean", "min", "max"])
def test_vmap_and_compilers(reduce) -> None:
    src, index = torch.randn(3, 5), torch.tensor([0, 2, 0, 2, 2])
    bounds = torch.tensor([0, 3, 5])
    for function in (
        lambda s: st.scatter(s, index, dim_size=3, reduce=reduce),
        lambda s: st.segment_csr(s, bounds, reduce=reduce),
    ):
        expected = torch.stack([function(row) for row in src])
        assert torch.vmap(function)(src).equal(expected)
    scatter = lambda s: st.scatter(s, index, dim_size=3, reduce=reduce)
    compiled = torch.compile(scatter, backend="aot_eager", fullgraph=True)
    assert compiled(src).equal(scatter(src))


def test_extrema_under_vmap_and_compilers() -> None:
    src, index = torch.tensor([[1.0, math.nan, 2.0], [4.0, 3.0, 3.0]]), torch.tensor([0, 1, 1])
    function = lambda s: st.scatter_max(s, index, dim_size=2)
    values, places = torch.vmap(function)(src)
    assert places.tolist() == [[0, 1], [0, 1]] and values[1].tolist() == [4, 3]
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    assert compiled(src)[1].equal(places)
    gradient = torch.vmap(torch.func.grad(lambda s: function(s)[0].sum()))(src)
    assert gradient.tolist() == [[1, 1, 0], [1, 1, 0]]
