# SPDX-License-Identifier: Apache-2.0
"""strew.torch.enable(): aten's operators have the results of aten for elements of all kinds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest
import strew.torch
import torch
from torch import Tensor
from torch_same import require_same, require_same_outcome

INTEGERS = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
REDUCTIONS = ("prod", "mean", "amin", "amax")
DTYPES = [*INTEGERS, *FLOATS, torch.complex64, torch.complex128]


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
        for how, include in itertools.product(("sum", *REDUCTIONS), (True, False)):
            yield f"{name}scatter_reduce {how} {include}", lambda i=places, h=how, s=include: (
                data.scatter_reduce(dim, i, updates, h, include_self=s)
            )
    for narrow in (torch.int64, torch.int32):
        names = row.to(narrow)
        yield f"index_add {narrow}", lambda i=names: data.index_add(dim, i, updates)
        for how, include in itertools.product(REDUCTIONS, (True, False)):
            yield f"index_reduce {how} {include}", lambda i=names, h=how, s=include: (
                data.index_reduce(dim, i, updates, h, include_self=s)
            )
        yield "index_put", lambda i=names: data.index_put((*[None] * dim, i), updates)
        yield "index_put accumulate", lambda i=names: (
            data.index_put((*[None] * dim, i), updates, accumulate=True)
        )
        yield "broadcast", lambda i=names: data.index_put((*[None] * dim, i), updates.flatten()[0])
    yield "alpha", lambda: data.index_add(dim, row, updates, alpha=2)
    yield "index_copy", lambda: data.index_copy(dim, row, updates)
    yield "two indices", lambda: data.index_put((*[None] * dim, row - 1), updates)


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
