# SPDX-License-Identifier: Apache-2.0
"""Gradients of strew.torch, first and second, and those of torch.func."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import strew.torch as st
import torch
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

REDUCTIONS = ("none", "add", "mul", "min", "max", "sub", "mean")
HOW = [
    (reduction, exclude_self)
    for reduction, exclude_self in itertools.product(REDUCTIONS, (False, True))
    if not (reduction == "sub" and exclude_self)
]
ELEMENTS = torch.tensor([[0, 4, -1], [2, 2, 2]])
FROM = st.plan_scatter_update(torch.tensor([0, 2, -1, 2]), 5)
TO = st.plan_scatter_update(torch.tensor([1, 1, 3, 0]), 4)
# FROM_SOME drops the last entry of element 1 and the only one of element 2; TO_SOME drops another.
FROM_SOME = st.plan_scatter_update(torch.tensor([0, 9, 7, -1, 2, 3]), 5, index_policy="drop")
TO_SOME = st.plan_scatter_update(torch.tensor([1, 1, 2, 3, 3, 8]), 4, index_policy="drop")
SOME = st.plan_scatter_nd(torch.tensor([[0, 1], [9, 0], [4, 2]]), (5, 3), index_policy="drop")


def leaf(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, dtype=dtype, requires_grad=True)


Case = tuple[Callable[..., Tensor], list[tuple[int, ...]]]
CASES: dict[str, Case] = {
    "elements": (lambda d, u, **h: st.scatter_elements(d, ELEMENTS, u, **h), [(5, 3), (2, 3)]),
    "rows": (
        lambda d, u, **h: st.scatter_update(d, ELEMENTS[:, 1:], u, 0, **h),
        [(5, 2), (2, 2, 2)],
    ),
    "last axis": (
        lambda d, u, **h: st.scatter_update(d, torch.tensor([0, -1]), u, -1, **h),
        [(5, 3), (5, 2)],
    ),
    "tuples": (
        lambda d, u, **h: st.scatter_nd(d, torch.tensor([[0, 1], [4, -1], [0, 1]]), u, **h),
        [(5, 3), (3,)],
    ),
    "rows by tuples": (
        lambda d, u, **h: st.scatter_nd(d, torch.tensor([[0], [4], [0]]), u, **h),
        [(5, 2), (3, 2)],
    ),
    "one element": (
        lambda d, u, **h: st.scatter_nd(d, torch.tensor([4, 1]), u, **h),
        [(5, 2), (1, 1)],
    ),
    "the whole": (
        lambda d, u, **h: st.scatter_nd(d, torch.zeros(2, 0, dtype=torch.int64), u, **h),
        [(3,), (2, 3)],
    ),
    "slice": (lambda d, u, **h: st.slice_scatter(d, u, 1, 5, 2, **h), [(5, 3), (2, 3)]),
    "broadcast": (
        lambda d, u, **h: st.slice_scatter(d, u, [4, 0], [0, 3], [-2, 1], [0, -1], **h),
        [(5, 3), (2, 1)],
    ),
    "no slice": (lambda d, u, **h: st.slice_scatter(d, u, 3, 3, **h), [(5, 3), (0, 3)]),
    "plan": (lambda d, u, **h: FROM.scatter(d, u, **h), [(5, 2), (4, 2)]),
    "dropping plan": (lambda d, u, **h: SOME.scatter(d, u, **h), [(5, 3), (3,)]),
    "gather_scatter": (
        lambda d, s, **h: st.gather_scatter(FROM, s, TO, d, **h),
        [(4, 2), (5, 2)],
    ),
    "weights": (
        lambda d, s, w, **h: st.gather_scatter(FROM, s, TO, d, w, **h),
        [(4, 2), (5, 2), (4, 1)],
    ),
    "dropping gather_scatter": (
        lambda d, s, **h: st.gather_scatter(FROM_SOME, s, TO_SOME, d, **h),
        [(4, 2), (5, 2)],
    ),
    "dropping weights": (
        lambda d, s, w, **h: st.gather_scatter(FROM_SOME, s, TO_SOME, d, w, **h),
        [(4, 2), (5, 2), (6, 1)],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("reduction, exclude_self", HOW)
def test_first_and_second(case: Case, reduction: str, exclude_self: bool) -> None:
    torch.manual_seed(7)
    function, shapes = case
    arguments = [leaf(*shape) for shape in shapes]

    def call(*tensors: Tensor) -> Tensor:
        return function(*tensors, reduction=reduction, exclude_self=exclude_self)

    assert gradcheck(call, arguments)
    assert gradgradcheck(call, arguments)
    for wanted in range(len(arguments)):  # each alone
        some = [a if i == wanted else a.detach() for i, a in enumerate(arguments)]
        assert gradcheck(call, some)


@pytest.mark.parametrize("case", ["elements", "rows", "tuples", "slice", "plan", "weights"])
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "sub", "mean"])
def test_complex(case: str, reduction: str) -> None:
    torch.manual_seed(8)
    function, shapes = CASES[case]
    arguments = [leaf(*shape, dtype=torch.complex128) for shape in shapes]
    assert gradcheck(lambda *tensors: function(*tensors, reduction=reduction), arguments)


PLANS = (st.plan_scatter_update, st.plan_scatter_elements)


@pytest.mark.parametrize("make_from", PLANS)
@pytest.mark.parametrize("make_to", PLANS)
@pytest.mark.parametrize("reduction, exclude_self", HOW)
def test_entries_that_are_dropped(
    make_from: Callable[..., st.Plan], make_to: Callable[..., st.Plan], reduction: str,
    exclude_self: bool,
) -> None:  # fmt: skip
    """Gradients are those of a call without the entries."""
    torch.manual_seed(12)
    origin, target = torch.tensor([0, 9, 1, 2, 1, 7]), torch.tensor([0, 0, 1, 2, 8, 3])
    kept = torch.tensor([0, 2, 3])
    data, source, weights = leaf(4), leaf(3), leaf(6)
    how = {"reduction": reduction, "exclude_self": exclude_self}

    def call(entries: Tensor) -> Tensor:
        from_plan = make_from(origin[entries], 3, index_policy="drop")
        to_plan = make_to(target[entries], 4, index_policy="drop")
        return st.gather_scatter(from_plan, source, to_plan, data, weights[entries], **how)

    found, expected = call(torch.arange(6)), call(kept)
    assert found.equal(expected)
    given, grad = (data, source, weights), torch.randn(4, dtype=torch.float64)
    of_found = torch.autograd.grad(found, given, grad)
    for one, other in zip(of_found, torch.autograd.grad(expected, given, grad)):
        torch.testing.assert_close(one, other)


def test_gather() -> None:
    for plan in (FROM, SOME):
        assert gradcheck(plan.gather, (leaf(5, 3),))
        assert gradgradcheck(plan.gather, (leaf(5, 3),))


def test_products_with_zeros() -> None:
    index = torch.tensor([0, 0, 1, 1, 2])
    updates = torch.tensor([0.0, 3, 0, 0, 0], dtype=torch.float64, requires_grad=True)
    data = torch.tensor([2.0, 5, 7, 0], dtype=torch.float64, requires_grad=True)
    st.scatter_elements(data, index, updates, reduction="mul").sum().backward()
    assert updates.grad.tolist() == [6, 0, 0, 0, 7]
    assert data.grad.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("zeros", range(4))
def test_second_derivatives_of_products_with_zeros(zeros: int) -> None:
    index = torch.tensor([0, 0])
    for factors in itertools.permutations([0.0] * zeros + [2.0, 3.0, 4.0][zeros:]):
        point = torch.tensor(factors, dtype=torch.float64)
        for first, exclude_self in ((0, False), (1, True)):

            def call(x: Tensor) -> Tensor:
                how = {"reduction": "mul", "exclude_self": exclude_self}
                return st.scatter_update(x[:1], index, x[1:], **how).sum()

            expected = torch.autograd.functional.hessian(lambda x: x[first:].prod(), point)
            assert torch.autograd.functional.hessian(call, point).equal(expected)
            assert torch.func.jacrev(torch.func.jacrev(call))(point).equal(expected)


def test_indices_of_rank_0() -> None:
    for reduction in ("none", "add", "mul", "max", "mean"):
        updates = torch.full((), 2.0, requires_grad=True)
        found = st.scatter_update(torch.ones(3), torch.tensor(1), updates, reduction=reduction)
        found.sum().backward()
        assert updates.grad == (0.5 if reduction == "mean" else 1)


def test_a_batch_of_single_tuples() -> None:
    write = lambda u, i: st.scatter_nd(torch.zeros(3), i, u, reduction="add").sum()
    gradient = torch.vmap(torch.func.grad(write))(torch.ones(2), torch.tensor([[0], [1]]))
    assert gradient.tolist() == [1, 1]


def test_parts_of_an_extremum() -> None:
    """As PyTorch: all that are the result have an equal part."""
    index = torch.tensor([0, 0, 0, 2])

    def gradients(call: Callable[[Tensor, Tensor], Tensor]) -> list[list[float]]:
        data = torch.tensor([1.0, 2, 3], requires_grad=True)
        updates = torch.tensor([1.0, 1, 0, 3], requires_grad=True)
        call(data, updates).sum().backward()
        return [data.grad.tolist(), updates.grad.tolist()]

    for reduction, name in (("max", "amax"), ("min", "amin")):
        found = gradients(lambda d, u: st.scatter_elements(d, index, u, reduction=reduction))
        assert found == gradients(lambda d, u: d.scatter_reduce(0, index, u, name))
    # PyTorch gives the old value a part here, which nobody gets.
    found = gradients(
        lambda d, u: st.scatter_elements(d, index, u, reduction="max", exclude_self=True)
    )
    assert found == [[0, 1, 0], [0.5, 0.5, 0, 1]]


def test_of_overwritten_updates() -> None:
    updates = torch.ones(3, requires_grad=True)
    st.scatter_elements(torch.zeros(2), torch.tensor([1, 0, 1]), updates).sum().backward()
    assert updates.grad.tolist() == [0, 1, 1]


def test_halves() -> None:
    source = torch.zeros(1, dtype=torch.bfloat16, requires_grad=True)
    plan = st.plan_scatter_update(torch.zeros(3000, dtype=torch.int64), 1)
    plan.gather(source).sum().backward()
    assert source.grad.item() == 3008  # 256 if each of the 3000 ones were rounded


# ---- torch.func ----


TRANSFORMED = ("elements", "rows", "tuples", "broadcast", "plan", "weights", "dropping weights")


@pytest.mark.parametrize("case", TRANSFORMED)
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "mean"])
def test_functions_of_functions(case: str, reduction: str) -> None:
    torch.manual_seed(11)
    function, shapes = CASES[case]
    arguments = tuple(torch.randn(shape, dtype=torch.float64) for shape in shapes)

    def call(*tensors: Tensor) -> Tensor:
        return function(*tensors, reduction=reduction).sin()

    numbers = tuple(range(len(arguments)))
    found = torch.func.jacrev(call, numbers)(*arguments)
    expected = torch.autograd.functional.jacobian(call, arguments)
    torch.testing.assert_close(found, expected)
    twice = [torch.stack([tensor, tensor.sin()]) for tensor in arguments]
    gradient = torch.func.grad(lambda *tensors: call(*tensors).sum(), numbers)
    for place, many in enumerate(torch.vmap(gradient)(*twice)):
        one_by_one = [gradient(*(tensor[n] for tensor in twice))[place] for n in range(2)]
        torch.testing.assert_close(many, torch.stack(one_by_one))
    hessian = torch.func.jacrev(torch.func.jacrev(lambda last: call(*arguments[:-1], last).sum()))
    expected = torch.autograd.functional.hessian(
        lambda last: call(*arguments[:-1], last).sum(), arguments[-1]
    )
    torch.testing.assert_close(hessian(arguments[-1]), expected)
