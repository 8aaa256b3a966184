# SPDX-License-Identifier: Apache-2.0
"""strew.torch.enable(): aten's operators have the results of aten, and its errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import strew
import strew.torch
import torch
from torch import Tensor
from torch.testing._internal.common_methods_invocations import op_db

OPERATORS = (
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "index_add",
    "index_copy",
    "index_reduce",
    "index_put",
)
ROUTED = [op for op in op_db if op.name in OPERATORS]
INTEGERS = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
DTYPES = [*INTEGERS, *FLOATS, torch.complex64, torch.complex128]


def bits(tensor: Tensor) -> Tensor:
    """The bytes, with one NaN for all, of which neither side promises the payload."""
    real = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
    real = real.detach().contiguous()
    if real.dtype.is_floating_point:
        real = real.masked_fill(real.isnan(), float("nan"))
    return real.reshape(-1).view(torch.uint8)


def require_same(found: Tensor, expected: Tensor, what: object) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape, what
    assert found.stride() == expected.stride(), what
    assert torch.equal(bits(found), bits(expected)), (what, found, expected)


def outcome(call: Callable[[], Tensor]) -> Tensor | Exception:
    try:
        return call()
    except Exception as error:
        return error


def require_same_outcome(call: Callable[[], Tensor], what: object) -> None:
    expected = outcome(call)
    with strew.torch.enable():
        found = outcome(call)
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected)), (what, expected, found)
        if not isinstance(found, strew.torch.IndexOutOfRange):
            assert str(found) == str(expected), what
        return
    assert isinstance(found, Tensor), (what, found)
    require_same(found, expected, what)


def forms(op: Any, sample: Any) -> Iterator[tuple[str, Callable[[], Tensor]]]:
    """The same call as a function, in place, and with out."""
    given, rest, options = sample.input, sample.args, sample.kwargs
    yield "functional", lambda: op(given, *rest, **options)
    in_place = getattr(torch.Tensor, f"{op.name}_")
    yield "in place", lambda: in_place(given.clone(), *rest, **options)
    if op.supports_out:
        yield "out", lambda: op(given, *rest, **options, out=torch.empty_like(given))
        yield "resized", lambda: op(given, *rest, **options, out=given.new_empty(0))
        yield "cast", lambda: op(given, *rest, **options, out=given.new_empty(0).double())


def test_the_operators_are_there() -> None:
    assert {op.name for op in ROUTED} == set(OPERATORS)


@pytest.mark.parametrize("op", ROUTED, ids=lambda op: f"{op.name}{op.variant_test_name}")
def test_every_sample(op: Any) -> None:
    count = 0
    for dtype in sorted(op.supported_dtypes("cpu"), key=str):
        for sample in op.sample_inputs("cpu", dtype, requires_grad=False):
            for form, call in forms(op, sample):
                require_same_outcome(call, (op.name, dtype, form, sample))
                count += 1
    assert count > 20


@pytest.mark.parametrize("op", ROUTED, ids=lambda op: f"{op.name}{op.variant_test_name}")
def test_gradients_of_every_sample(op: Any) -> None:
    def gradients(sample: Any) -> list[Tensor]:
        tensors = [t for t in (sample.input, *sample.args) if isinstance(t, Tensor)]
        wanted = [t for t in tensors if t.requires_grad]
        result = op(sample.input, *sample.args, **sample.kwargs)
        return [result, *torch.autograd.grad(result.sin().sum(), wanted, allow_unused=True)]

    if not op.supports_autograd:
        pytest.skip("PyTorch has no gradient")
    for sample in op.sample_inputs("cpu", torch.float64, requires_grad=True):
        expected = gradients(sample)
        with strew.torch.enable():
            found = gradients(sample)
        for one, other in zip(found, expected):
            assert (one is None) == (other is None)
            if one is not None:
                torch.testing.assert_close(one, other, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("op", ROUTED, ids=lambda op: f"{op.name}{op.variant_test_name}")
def test_errors_of_every_sample(op: Any) -> None:
    if op.error_inputs_func is None:
        pytest.skip("PyTorch lists no wrong inputs")
    for wrong in op.error_inputs("cpu"):
        sample = wrong.sample_input
        call = lambda: op(sample.input, *sample.args, **sample.kwargs)  # noqa: E731
        require_same_outcome(call, (op.name, sample))


# ---- Elements that are hard to sum in the same way ----


def elements(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Random bits in integers; zeros of both signs, infinities and NaN among the floats."""
    if dtype is torch.bool:
        return torch.rand(shape) > 0.5
    if not (dtype.is_floating_point or dtype.is_complex):
        return torch.randint(-(2**62), 2**62, shape).to(dtype)
    special = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1, -1, 2])
    real = torch.randn(shape, dtype=torch.float64)
    mask = torch.rand(shape) < 0.5
    real[mask] = special[torch.randint(0, len(special), (int(mask.sum()),))].double()
    if dtype.is_complex:
        return torch.complex(real, torch.randn(shape, dtype=torch.float64)).to(dtype)
    return real.to(dtype)


def indexed_calls(data: Tensor, dim: int, n: int) -> Iterator[tuple[str, Callable[[], Tensor]]]:
    """Calls of all routed operators on data and n updates a row."""
    shape = list(data.shape)
    shape[dim] = n
    updates = elements(tuple(shape), data.dtype)
    index = torch.randint(0, data.shape[dim], shape)
    row = torch.randint(0, data.shape[dim], (n,))
    spread = row.reshape([-1 if axis == dim else 1 for axis in range(data.dim())]).expand(shape)
    part = (slice(None),) * dim + (slice(0, n - 1),)
    for name, places in (("", index), ("spread ", spread), ("part ", index[part])):
        yield name + "scatter", lambda i=places: data.scatter(dim, i, updates)
        yield name + "scatter_add", lambda i=places: data.scatter_add(dim, i, updates)
        value = data.flatten()[0].item() if data.dtype is not torch.bool else True
        yield name + "scatter value", lambda i=places: data.scatter(dim, i, value)
        for how in ("add", "multiply"):
            yield f"{name}scatter {how}", lambda i=places, h=how: data.scatter(
                dim, i, updates, reduce=h
            )
        for how, include in itertools.product(("sum", "prod", "mean", "amin", "amax"), (True, False)):
            yield f"{name}scatter_reduce {how} {include}", lambda i=places, h=how, s=include: (
                data.scatter_reduce(dim, i, updates, h, include_self=s)
            )
    for narrow in (torch.int64, torch.int32):
        names = row.to(narrow)
        yield f"index_add {narrow}", lambda i=names: data.index_add(dim, i, updates)
        for how, include in itertools.product(("prod", "mean", "amin", "amax"), (True, False)):
            yield f"index_reduce {how} {include}", lambda i=names, h=how, s=include: (
                data.index_reduce(dim, i, updates, h, include_self=s)
            )
        lead = (slice(None),) * dim
        yield "index_put", lambda i=names: data.index_put((*[None] * dim, i), updates)
        yield "index_put accumulate", lambda i=names: (
            data.index_put((*[None] * dim, i), updates, accumulate=True)
        )
        yield "broadcast", lambda i=names: data.index_put((*[None] * dim, i), updates.flatten()[0])
    yield "alpha", lambda: data.index_add(dim, row, updates, alpha=2)
    yield "index_copy", lambda: data.index_copy(dim, row, updates)
    yield "two indices", lambda: data.index_put((*[None] * dim, row - 1), updates)
    del lead


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_hard_elements(dtype: torch.dtype) -> None:
    torch.manual_seed(3)
    for shape, dim, n in (((50,), 0, 90), ((7, 40), 0, 60), ((6, 9), 1, 20), ((3, 5, 4), 1, 11)):
        data = elements(shape, dtype)
        for base in (data, data.transpose(0, -1).contiguous().transpose(0, -1)):
            for name, call in indexed_calls(base, dim, n):
                require_same_outcome(call, (name, dtype, shape))


def test_large_sums_of_halves() -> None:
    for dtype in (torch.bfloat16, torch.float16):
        data, updates = torch.zeros(3, 4, dtype=dtype), torch.ones(60000, 4, dtype=dtype)
        index = torch.zeros(60000, 4, dtype=torch.int64)
        require_same_outcome(lambda: data.scatter_add(0, index, updates), dtype)  # noqa: B023


def test_two_threads() -> None:
    torch.manual_seed(4)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        data, updates = torch.randn(5000, 33), torch.randn(40000, 33)
        row = torch.randint(0, 5000, (40000,))
        index = row[:, None].expand(40000, 33)
        for call in (
            lambda: data.index_add(0, row, updates),
            lambda: data.scatter_add(0, index, updates),
            lambda: data.scatter_reduce(0, index, updates, "mean"),
            lambda: data.index_reduce(0, row, updates, "prod"),
        ):
            with strew.torch.enable():
                found = call()
            torch.set_num_threads(1)
            with strew.torch.enable():
                require_same(call(), found, "threads")
            require_same(found, call(), "aten on one thread")
            torch.set_num_threads(2)
    finally:
        torch.set_num_threads(before)
