# SPDX-License-Identifier: Apache-2.0
"""Operators and plans of strew.torch: results, errors, memory, and the rules of the dispatcher."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import strew
import strew.torch as st
import torch
from torch import Tensor
from torch.library import opcheck

REDUCTIONS = ("none", "add", "mul", "min", "max", "sub", "mean")
DTYPES = [
    torch.bool,
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.uint16, torch.uint32, torch.uint64),
    *(torch.float32, torch.float64, torch.float16, torch.bfloat16),
    *(torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64, torch.complex128),
]


def tensor(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    return torch.randint(0, 7, shape).to(dtype)


def calls(dtype: torch.dtype) -> Iterator[tuple[Callable[..., Tensor], Any, tuple[Any, ...]]]:
    """Functions of strew.torch, those of strew, and arguments for both."""
    data, rows = tensor((6, 5), dtype), torch.tensor([0, 5, -1, 0])
    elements = torch.tensor([[0, 4, -1], [2, 2, 2]])
    tuples = torch.tensor([[0, 1], [-1, -1], [0, 1]], dtype=torch.int32)
    few = tensor((2, 3), dtype)
    yield st.scatter_elements, strew.scatter_elements, (data, elements, few, 0)
    yield st.scatter_elements, strew.scatter_elements, (data.t(), elements.t(), few.t(), -1)
    yield st.scatter_update, strew.scatter_update, (data, rows, tensor((4, 5), dtype))
    yield st.scatter_update, strew.scatter_update, (
        data,
        elements[:, :1],
        tensor((6, 2, 1), dtype),
        1,
    )
    yield st.scatter_nd, strew.scatter_nd, (data, tuples, tensor((3,), dtype))
    yield st.scatter_nd, strew.scatter_nd, (data, tuples[:, :1], tensor((3, 5), dtype))
    yield st.slice_scatter, strew.slice_scatter, (data, few[:1], [4, 0], [0, 5], [-2, 2], [0, 1])


def memory(array: Any) -> bytes:
    if isinstance(array, Tensor):
        return bytes(array.contiguous().reshape(-1).view(torch.uint8).numpy())
    return np.ascontiguousarray(array).tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_results_are_those_of_the_package(dtype: torch.dtype, reduction: str) -> None:
    torch.manual_seed(1)
    for function, other, arguments in calls(dtype):
        for exclude_self, wide in ((False, False), (reduction != "sub", True)):
            how = {"reduction": reduction, "exclude_self": exclude_self, "wide": wide}
            try:
                expected = other(*arguments, **how)
            except strew.Error as error:
                with pytest.raises(strew.Error) as refused:
                    function(*arguments, **how)
                assert str(refused.value) == str(error)
                continue
            found = function(*arguments, **how)
            assert type(found) is Tensor and found.dtype == dtype
            assert found.shape == arguments[0].shape and found.stride() == arguments[0].stride()
            assert memory(found) == memory(expected)
            # The operator of the dispatcher, and in place.
            operator = getattr(torch.ops.strew, function.__name__)
            if function is not st.slice_scatter:
                defaults = (0,) if function is not st.scatter_nd and len(arguments) == 3 else ()
                by_operator = operator(*arguments, *defaults, reduction, exclude_self, wide)
                assert memory(by_operator) == memory(expected)
            data = arguments[0].clone()
            assert function(data, *arguments[1:], **how, out=data) is data
            assert memory(data) == memory(expected)


def plans(rows: Tensor) -> dict[str, tuple[st.Plan, strew.Plan]]:
    return {
        "update": (st.plan_scatter_update(rows, 6), strew.plan_scatter_update(rows, 6)),
        "nd": (
            st.plan_scatter_nd(rows[:, None], [6]),
            strew.plan_scatter_nd(rows[:, None], [6]),
        ),
        "elements": (
            st.plan_scatter_elements(rows[:, None].expand(4, 5), 6),
            strew.plan_scatter_elements(rows[:, None].expand(4, 5), 6),
        ),
    }


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_plans(dtype: torch.dtype) -> None:
    data, updates = tensor((6, 5), dtype), tensor((4, 5), dtype)
    for plan, other in plans(torch.tensor([0, 5, -1, 0])).values():
        assert memory(plan.scatter(data, updates)) == memory(other.scatter(data, updates))
        assert memory(plan.gather(data)) == memory(other.gather(data))
        for reduction in ("add", "mean"):
            try:
                expected = strew.gather_scatter(other, data, other, data, reduction=reduction)
            except strew.Error:
                continue
            found = st.gather_scatter(plan, data, plan, data, reduction=reduction)
            assert memory(found) == memory(expected)
            out = data.clone()
            assert st.gather_scatter(plan, data, plan, out, reduction=reduction, out=out) is out
            assert memory(out) == memory(expected)


def test_a_plan() -> None:
    plan = st.plan_scatter_update(torch.tensor([0, 9, 1]), 4, index_policy="drop")
    assert (plan.entries, plan.dropped) == (3, 1) and plan.memory > 0
    assert repr(plan).startswith("<strew.torch.Plan of scatter_update: indices [3], axis 0 of 4")
    assert plan.gather(torch.ones(4)).tolist() == [1, 0, 1]
    out = torch.full((3,), 7.0)
    assert plan.gather(torch.ones(4), out=out).tolist() == [1, 7, 1]
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(plan)
    with pytest.raises(st.IndexOutOfRange, match=r"indices\[1\] = 9 is out of range"):
        st.plan_scatter_update(torch.tensor([0, 9, 1]), 4)
    with pytest.raises(strew.Error, match="names an element"):
        st.plan_scatter_update(torch.tensor([0, 0]), 4, duplicate_policy="error")


def test_plans_write_to_out_what_they_return() -> None:
    """For tensors that only the dispatcher can read, as for others."""
    plan = st.plan_scatter_update(torch.tensor([0, 2, 1]), 4)
    data, updates = torch.ones(4, 2), torch.arange(6.0).reshape(3, 2)
    conjugated = torch.view_as_complex(torch.randn(3, 2, 2)).conj()
    for start, given in (
        (data, updates),
        (data, torch.nn.Parameter(updates)),
        (torch.full((4, 2), 2j), conjugated),
        (torch.ones(4, 2), conjugated.imag),
    ):
        with torch.no_grad():
            out = torch.full_like(start, 7)
            assert plan.scatter(start, given, reduction="add", out=out) is out
            assert out.equal(plan.scatter(start, given, reduction="add"))
            rows = torch.full_like(given[:2], 7)
            back = st.plan_scatter_update(torch.tensor([2, 0]), 3)
            assert back.gather(given, out=rows) is rows
            assert rows.equal(given.detach()[[2, 0]])
    with pytest.raises(RuntimeError, match="out=... do not record"):
        plan.scatter(torch.zeros(4, 2), updates.requires_grad_(), out=torch.zeros(4, 2))
    with pytest.raises(RuntimeError, match="out=... do not record"):
        plan.gather(torch.ones(4, requires_grad=True), out=torch.zeros(3))


def test_a_plan_that_is_gone() -> None:
    plan = st.plan_scatter_update(torch.tensor([0, 2]), 4)
    data = torch.ones(4, requires_grad=True)
    result, key = plan.gather(data), plan._key
    del plan
    gc.collect()
    result.sum().backward()  # what autograd recorded keeps the plan
    assert data.grad.tolist() == [1, 0, 1, 0]
    del result
    gc.collect()
    with pytest.raises(RuntimeError, match="is gone"):
        torch.ops.strew.plan_gather(key, data)


@pytest.mark.parametrize("records", [False, True])
def test_indices_out_of_range(records: bool) -> None:
    data = torch.zeros(4, requires_grad=records)
    wrong = torch.tensor([0, 4, 1])
    for call in (
        lambda: st.scatter_elements(data, wrong, torch.ones(3)),
        lambda: st.scatter_update(data, wrong, torch.ones(3)),
        lambda: st.scatter_nd(data, wrong[:, None], torch.ones(3)),
    ):
        with pytest.raises(IndexError, match="= 4 is out of range") as refused:
            call()
        assert isinstance(refused.value, (strew.Error, RuntimeError))
        assert refused.value.position == 1
        assert copy.copy(refused.value).status == "STREW_INDEX_OUT_OF_RANGE"
    out = torch.zeros(4)
    with pytest.raises(st.IndexOutOfRange):
        st.scatter_elements(out, wrong, torch.ones(3), out=out)
    assert not out.any()


def test_other_errors() -> None:
    data, index = torch.zeros(4), torch.tensor([1])
    with pytest.raises(strew.Error) as refused:
        st.scatter_elements(data, index, torch.ones(1, dtype=torch.float64))
    assert refused.value.status == "STREW_INVALID_DTYPE"
    with pytest.raises(ValueError, match="'plus' is not one of: none, add"):
        st.scatter_elements(data, index, torch.ones(1), reduction="plus")
    for wrong in ([0.0], np.zeros(1)):
        with pytest.raises(TypeError, match="must be (a torch.)?Tensor, not"):
            st.scatter_elements(wrong, index, torch.ones(1))
        with pytest.raises(TypeError, match="must be a torch.Tensor, not"):
            st.scatter_elements(data, index, wrong)
    for other in (torch.ones(1, device="meta"), torch.ones(1).to_sparse()):
        with pytest.raises((RuntimeError, BufferError)):
            st.scatter_elements(data, index, other)
        assert not data.any()
    with pytest.raises(RuntimeError, match="out=... do not record"):
        st.scatter_elements(data, index, torch.ones(1, requires_grad=True), out=data)


def test_other_kinds_of_tensors() -> None:
    index = torch.tensor([1, 1, 0])
    operands = torch.zeros(4), index, torch.ones(3)
    meta = st.scatter_elements(*(operand.to("meta") for operand in operands))
    assert meta.device.type == "meta" and meta.shape == (4,)
    parameter = torch.nn.Parameter(torch.zeros(4))
    assert st.scatter_elements(parameter, index, torch.ones(3)).requires_grad
    complex_ones = torch.full((3,), 1j)
    zeros = torch.zeros(2, dtype=torch.complex64)
    found = st.scatter_elements(zeros, index, complex_ones.conj(), reduction="add")
    assert found.tolist() == [-1j, -2j]
    negated = complex_ones.conj().imag
    assert negated.is_neg()
    found = st.scatter_elements(torch.zeros(2), index, negated, reduction="add")
    assert found.tolist() == [-1, -2]
    with torch.inference_mode():
        data = torch.zeros(2)
        assert st.scatter_elements(data, index, torch.ones(3), out=data).tolist() == [1, 1]


def test_outputs_that_are_read_otherwise() -> None:
    """Views that conjugate or negate the elements in memory."""
    index, updates = torch.tensor([1, 1]), torch.tensor([1 + 2j, 3 - 1j])
    plan = st.plan_scatter_update(torch.tensor([1, 7]), 2, index_policy="drop")
    for view in (Tensor.conj, torch._neg_view):
        data = torch.tensor([5 + 5j, 6 + 0j])
        for call in (
            lambda out: st.scatter_update(data, index, updates, reduction="add", out=out),
            lambda out: st.scatter_elements(data, index, updates, reduction="add", out=out),
            lambda out: st.scatter_nd(data, index[:, None], updates, reduction="add", out=out),
            lambda out: st.slice_scatter(data, updates[:1], 1, 2, out=out),
            lambda out: plan.scatter(data, updates, reduction="add", out=out),
            lambda out: plan.gather(data, out=out),
            lambda out: st.gather_scatter(plan, data, plan, data, out=out),
            lambda out: st.scatter_sum(updates, index, out=out),
        ):
            out = torch.tensor([1j, 2 + 0j])
            expected = call(out.clone())
            found = view(out)
            found.copy_(torch.tensor([1j, 2 + 0j]))
            assert call(found) is found and found.equal(expected)
        data = view(data)
        assert st.scatter_update(data, index, updates, out=data) is data
        assert data[1] == updates[1]


def test_memory_that_only_some_tensors_have() -> None:
    index = torch.zeros(3, dtype=torch.int64, device="meta")
    operator = torch.ops.strew.scatter_update
    with pytest.raises(RuntimeError, match="different devices: cpu, meta"):
        operator(torch.zeros(3), index, torch.ones(3), 0, "add", False, False)


def test_bounds_that_are_numbers_of_other_libraries() -> None:
    found = st.slice_scatter(torch.zeros(4), torch.ones(2), np.int64(0), torch.tensor(2))
    assert found.tolist() == [1, 1, 0, 0]


def test_something_else_than_a_tensor() -> None:
    plan = st.plan_scatter_update(torch.tensor([1]), 2)
    for call in (
        lambda: st.scatter_update(None, torch.tensor([1]), torch.ones(1)),
        lambda: st.scatter_update(torch.ones(2), None, torch.ones(1)),
        lambda: plan.scatter(None, None),
        lambda: plan.gather(None),
        lambda: st.scatter_update(np.ones(2), torch.tensor([1]), torch.ones(1)),
        lambda: st.plan_scatter_update([2, 0], 4),
    ):
        with pytest.raises(TypeError, match="Tensor"):
            call()
    other = strew.plan_scatter_update(torch.tensor([1]), 2)
    for plans in ((plan, other), (other, plan), (torch.ones(2), plan)):
        with pytest.raises(TypeError, match="must be plans of strew.torch"):
            st.gather_scatter(plans[0], torch.ones(2), plans[1], torch.ones(2))


def test_autograd_sees_writes() -> None:
    data = torch.ones(3, requires_grad=True) * 2
    kept = (data * data).sum()
    with torch.no_grad():
        st.scatter_elements(data, torch.tensor([0]), torch.ones(1), out=data)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.backward()


def test_threads_of_pytorch() -> None:
    torch.manual_seed(2)
    data, updates = torch.randn(3000, 40), torch.randn(30000, 40)
    index = torch.randint(0, 3000, (30000,))
    before = torch.get_num_threads()
    results = []
    try:
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            plan = st.plan_scatter_update(index, 3000)
            results.append(
                (
                    st.scatter_update(data, index, updates, reduction="add"),
                    plan.scatter(data, updates, reduction="mean"),
                    st.gather_scatter(plan, data, plan, data),
                )
            )
    finally:
        torch.set_num_threads(before)
    for others in results[1:]:
        assert all(one.equal(other) for one, other in zip(results[0], others))


OPCHECKS = {
    "scatter_elements": lambda: (torch.randn(4, 3), torch.tensor([[0, 1]]), torch.randn(1, 2), 1),
    "scatter_update": lambda: (torch.randn(4, 3), torch.tensor([0, -1]), torch.randn(4, 2), 1),
    "scatter_nd": lambda: (torch.randn(4, 3), torch.tensor([[0, 1], [2, 2]]), torch.randn(2)),
    "slice_scatter": lambda: (torch.randn(4, 3), torch.randn(2, 3), [0], [4], [2], [0]),
    "plan_scatter": lambda: (PLANS[0]._key, torch.randn(4, 3), torch.randn(2, 3)),
    "plan_gather": lambda: (PLANS[0]._key, torch.randn(4, 3)),
    "gather_scatter": lambda: (
        *(PLANS[0]._key, torch.randn(4, 3), torch.randn(2, 1)),
        *(PLANS[1]._key, torch.randn(5, 3)),
    ),
}
PLANS = [
    st.plan_scatter_update(torch.tensor([1, -1]), 4),
    st.plan_scatter_update(torch.tensor([1, 1]), 5),
]


@pytest.mark.parametrize("name", OPCHECKS)
@pytest.mark.parametrize("records", [False, True])
def test_opcheck(name: str, records: bool) -> None:
    arguments = OPCHECKS[name]()
    if records:
        arguments = tuple(
            a.requires_grad_() if isinstance(a, Tensor) and a.is_floating_point() else a
            for a in arguments
        )
    for reduction in REDUCTIONS if name != "plan_gather" else [None]:
        how = () if reduction is None else (reduction, False, True)
        operator = getattr(torch.ops.strew, name)
        done = opcheck(operator.default, (*arguments, *how))
        assert set(done.values()) == {"SUCCESS"} and len(done) >= 4
        if not records:
            out = torch.zeros_like(operator(*arguments, *how))
            into = getattr(torch.ops.strew, name + "_out")
            done = opcheck(into.default, (*arguments, *how), {"out": out})
            assert set(done.values()) == {"SUCCESS"}
