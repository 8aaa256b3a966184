# SPDX-License-Identifier: Apache-2.0
"""strew.torch under vmap: the results and the refusals of one call for each sample."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import strew
import strew.torch as st
import torch
from torch import Tensor

ELEMENTS = torch.tensor([[0, 4, -1], [2, 2, 2]])
FROM = st.plan_scatter_update(torch.tensor([0, 2, -1, 2]), 5)
TO = st.plan_scatter_update(torch.tensor([1, 1, 3, 0]), 4)


def samples(shapes: list[tuple[int, ...]], highs: dict[int, int], dims: tuple[Any, ...]) -> list:
    made = []
    for place, (shape, dim) in enumerate(zip(shapes, dims)):
        whole = list(shape)
        if dim is not None:
            whole.insert(dim if dim >= 0 else len(whole), 3)
        high = highs.get(place)
        made.append(torch.randn(whole) if high is None else torch.randint(-high, high, whole))
    return made


def one(tensor: Tensor, dim: int | None, n: int) -> Tensor:
    return tensor if dim is None else tensor.select(dim, n)


LAST = st.plan_scatter_update(torch.tensor([0, 2, -1, 2]), 5, -1)
TUPLE = st.plan_scatter_nd(torch.tensor([1]), (3,))
NUMBER = st.plan_scatter_update(torch.tensor(1), 3, -1)
ELEMENTWISE = st.plan_scatter_elements(ELEMENTS, 5)
BATCHED: dict[str, tuple[Callable[..., Tensor], list[tuple[int, ...]], dict[int, int]]] = {
    **{
        f"elements {axis}": (
            lambda d, i, u, axis=axis: st.scatter_elements(d, i, u, axis, reduction="add"),
            [(5, 4), (4, 3), (4, 3)],
            {1: 4},
        )
        for axis in (0, 1, -1, -2)
    },
    **{
        f"rows {axis}": (
            lambda d, i, u, axis=axis: st.scatter_update(d, i, u, axis, reduction="mean"),
            [(5, 4), (2, 2), (2, 2, 4) if axis % 2 == 0 else (5, 2, 2)],
            {1: (5, 4)[axis]},
        )
        for axis in (0, 1, -1, -2)
    },
    "one row": (lambda d, i, u: st.scatter_update(d, i, u, 1), [(5, 4), (), (5,)], {1: 4}),
    "tuples": (lambda d, i, u: st.scatter_nd(d, i, u), [(5, 4), (3, 2), (3,)], {1: 4}),
    "rows by tuples": (lambda d, i, u: st.scatter_nd(d, i, u), [(5, 4), (3, 1), (3, 4)], {1: 5}),
    "one element": (lambda d, i, u: st.scatter_nd(d, i, u), [(5, 4), (2,), (1, 1)], {1: 4}),
    "an element": (lambda d, i, u: st.scatter_nd(d, i, u), [(5, 4), (2,), ()], {1: 4}),
    "slice": (
        lambda d, u: st.slice_scatter(d, u, [0, 3], [4, 0], [2, -1], [-2, 1], reduction="sub"),
        [(5, 4), (3,)],
        {},
    ),
    "plan": (FROM.scatter, [(5, 3), (4, 3)], {}),
    "plan of one dim": (FROM.scatter, [(5,), (4,)], {}),
    "plan of the last axis": (LAST.scatter, [(3, 5), (3, 4)], {}),
    "plan of a tuple": (TUPLE.scatter, [(3,), (1, 1)], {}),
    "plan of a tuple and a number": (TUPLE.scatter, [(3,), ()], {}),
    "plan of a number": (NUMBER.scatter, [(3,), ()], {}),
    "plan of elements": (ELEMENTWISE.scatter, [(5, 3), (2, 3)], {}),
    "gather": (FROM.gather, [(5, 3)], {}),
    "gather of the last axis": (LAST.gather, [(3, 5)], {}),
    "gather of elements": (ELEMENTWISE.gather, [(5, 3)], {}),
    "gather_scatter": (
        lambda s, d: st.gather_scatter(FROM, s, TO, d),
        [(5, 3), (4, 3)],
        {},
    ),
    "weights": (
        lambda s, w, d: st.gather_scatter(FROM, s, TO, d, w),
        [(5, 3), (4, 1), (4, 3)],
        {},
    ),
    "short weights": (
        lambda s, w, d: st.gather_scatter(FROM, s, TO, d, w),
        [(5, 3), (3,), (4, 3)],
        {},
    ),
}


@pytest.mark.parametrize("case", BATCHED.values(), ids=BATCHED)
def test_vmap(case: tuple[Any, list, dict]) -> None:
    torch.manual_seed(9)
    function, shapes, highs = case
    for dims in itertools.product((None, 0, -1), repeat=len(shapes)):
        if all(dim is None for dim in dims):
            continue
        made = samples(shapes, highs, dims)
        found = torch.vmap(function, in_dims=dims)(*made)
        expected = [function(*(one(t, d, n) for t, d in zip(made, dims))) for n in range(3)]
        assert found.equal(torch.stack(expected)), dims


@pytest.mark.parametrize("case", BATCHED.values(), ids=BATCHED)
def test_vmap_of_no_samples(case: tuple[Any, list, dict]) -> None:
    function, shapes, highs = case
    for dims in itertools.product((None, 0, -1), repeat=len(shapes)):
        if all(dim is None for dim in dims):
            continue
        made = samples(shapes, highs, dims)
        sample = function(*(one(t, d, 0) for t, d in zip(made, dims)))
        empty = [t if d is None else t.narrow(d, 0, 0) for t, d in zip(made, dims)]
        given = [t.requires_grad_() for t in empty if t.is_floating_point()]
        found = torch.vmap(function, in_dims=dims)(*empty)
        assert found.shape == (0, *sample.shape) and found.dtype == sample.dtype, dims
        for t, gradient in zip(given, torch.autograd.grad(found.sum(), given)):
            assert gradient.equal(torch.zeros_like(t)), dims


COLUMNS = st.plan_scatter_update(torch.tensor([0, 2]), 3, 1)
CORNER = st.plan_scatter_nd(torch.tensor([[0, 2]]), (3, 3))
ONES, FIRST = torch.ones(3), torch.tensor([0, 1])
# Calls that are refused for a sample [3], or [3, 3], but not for a batch of three of them if the
# batch is taken for a dim of the sample.
REFUSED: dict[str, tuple[Callable[..., Tensor], int]] = {
    "elements": (lambda d: st.scatter_elements(d, FIRST[:, None], d[:2, :1], -3), 2),
    "elements of one dim": (lambda d: st.scatter_elements(d, FIRST, d[:2], 1), 1),
    "rows": (lambda d: st.scatter_update(d, FIRST, d[:2], 7), 2),
    "rows from the end": (lambda d: st.scatter_update(d, FIRST, d[:2], -4), 2),
    "indices of each": (lambda d: st.scatter_update(d, (d[:2, 0] * 0).long(), d[:2], 2), 2),
    "slice": (lambda d: st.slice_scatter(d, d, 0, 3, axes=-3), 2),
    "slices": (lambda d: st.slice_scatter(d, d, [0, 0], [3, 3], axes=[0, 2]), 2),
    "a number": (lambda d: st.scatter_update(d[0], torch.tensor(0), d[1]), 1),
    "tuples": (lambda d: st.scatter_nd(d, torch.tensor([[0, 1], [1, 0], [2, 2]]), d[0]), 1),
    "plan of an axis": (lambda d: COLUMNS.scatter(d, ONES[:2]), 1),
    "gather of an axis": (COLUMNS.gather, 1),
    "gather of tuples": (CORNER.gather, 1),
    "gather_scatter": (lambda d: st.gather_scatter(CORNER, d, CORNER, d), 1),
}


@pytest.mark.parametrize("call, rank", REFUSED.values(), ids=REFUSED)
def test_vmap_refuses_what_a_sample_does(call: Callable[..., Tensor], rank: int) -> None:
    batch = torch.randn(3, 3, 3) if rank == 2 else torch.randn(3, 3)
    with pytest.raises(strew.Error) as of_one:
        call(batch[0])
    for dim in (0, -1):
        with pytest.raises(type(of_one.value)) as of_many:
            torch.vmap(call, in_dims=dim)(batch)
        assert of_many.value.args == of_one.value.args


@pytest.mark.parametrize("dim", [0, None])
def test_vmap_refuses_two_updates_of_an_element(dim: int | None) -> None:
    data, updates = torch.zeros(3, 3), torch.ones(2) if dim is None else torch.ones(3, 2)
    for call in (TUPLE.scatter, lambda d, u: st.scatter_nd(d, torch.tensor([1]), u)):
        with pytest.raises(strew.Error, match="updates has"):
            torch.vmap(call, (0, dim))(data, updates)


def test_vmap_checks_indices() -> None:
    data, updates = torch.zeros(3, 4), torch.ones(3, 1)
    with pytest.raises(st.IndexOutOfRange):
        torch.vmap(st.scatter_update)(data, torch.tensor([[0], [4], [0]]), updates)
