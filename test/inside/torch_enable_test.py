# SPDX-License-Identifier: Apache-2.0
"""strew.torch.enable(): when calls are routed, errors, and what is left to aten."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import strew
import strew.torch
import torch
from strew.torch import _routes
from torch_same import require_same_outcome


@pytest.fixture(autouse=True)
def nothing_stays_enabled():
    yield
    strew.torch.disable()


def is_routed() -> bool:
    """True if an index out of range is refused by strew."""
    with pytest.raises(RuntimeError) as refused:
        torch.zeros(3, 1).scatter_add_(0, torch.tensor([[5]]), torch.ones(1, 1))
    return isinstance(refused.value, strew.Error)


def test_a_with_statement() -> None:
    assert not is_routed() and not strew.torch.is_enabled()
    with strew.torch.enable():
        assert is_routed() and strew.torch.is_enabled()
        with strew.torch.enable():
            assert is_routed()
        assert is_routed()
    assert not is_routed() and not strew.torch.is_enabled()


def test_for_good_and_back() -> None:
    strew.torch.enable()
    assert is_routed()
    with strew.torch.enable():
        pass
    assert is_routed()
    strew.torch.disable()
    assert not is_routed()
    strew.torch.disable()


def test_an_error_leaves_the_with_statement() -> None:
    with pytest.raises(KeyError), strew.torch.enable():
        raise KeyError
    assert not is_routed()


CALLS = {
    "scatter_": lambda t, i, u: t.scatter_(0, i[:, None], u),
    "scatter_ value": lambda t, i, u: t.scatter_(0, i[:, None], 7.0),
    "scatter_ reduce": lambda t, i, u: t.scatter_(0, i[:, None], u, reduce="add"),
    "scatter_add_": lambda t, i, u: t.scatter_add_(0, i[:, None], u),
    "scatter_reduce_": lambda t, i, u: t.scatter_reduce_(0, i[:, None], u, "prod"),
    "index_add_": lambda t, i, u: t.index_add_(0, i, u),
    "index_copy_": lambda t, i, u: t.index_copy_(0, i, u),
    "index_reduce_": lambda t, i, u: t.index_reduce_(0, i, u, "prod"),
    "index_put_": lambda t, i, u: t.index_put_((i,), u),
    "accumulate": lambda t, i, u: t.index_put_((i,), u, accumulate=True),
    "assignment": lambda t, i, u: t.__setitem__(i, u),
    "out": lambda t, i, u: torch.scatter_add(t.clone(), 0, i[:, None], u, out=t),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("wrong", [9, -9, 2**40])
def test_indices_out_of_range(call, wrong) -> None:
    data, updates = torch.arange(4.0)[:, None], torch.ones(3, 1)
    index = torch.tensor([0, wrong, 1])
    with pytest.raises((IndexError, RuntimeError)) as of_aten:
        call(data.clone(), index, updates)
    with strew.torch.enable(), pytest.raises(of_aten.type) as refused:
        call(data, index, updates)
    assert isinstance(refused.value, strew.torch.IndexOutOfRange)
    assert refused.value.position == 1
    assert f"] = {wrong} is out of range" in str(refused.value)
    assert data.flatten().equal(torch.arange(4.0))


def test_negative_indices() -> None:
    data, index, updates = torch.zeros(4, 1), torch.tensor([-1]), torch.ones(1, 1)
    with strew.torch.enable():
        assert data.index_put((index,), updates).tolist() == [[0], [0], [0], [1]]
        for name in ("scatter_add", "index_add", "index_copy", "scatter"):
            places = index if name.startswith("index") else index[:, None]
            with pytest.raises(strew.torch.IndexOutOfRange):
                getattr(data, name)(0, places, updates)


def test_what_is_left_to_aten() -> None:
    data, index = torch.zeros(4), torch.tensor([1, 2])
    row = torch.ones(2)
    assert _routes.index_add(data, 0, index, row, alpha=2) is None
    assert _routes.scatter_reduce(data, 0, index, row, "amax") is None
    assert _routes.index_put(data, [data > 1], row) is None
    assert _routes.index_put(data[None], [index, index], row) is None
    assert _routes.scatter_add(data, 0, index, row) is None
    data, index, row = data[:, None], index[:, None], row[:, None]
    assert _routes.scatter_add(data, 0, index, row) is not None
    assert _routes.scatter_add(data, 0, index.short(), row) is None
    assert _routes.scatter_add(data, 0, index, row.double()) is None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.complex64])
def test_numbers_that_are_too_large(dtype) -> None:
    """aten refuses finite numbers beyond the largest of the dtype, also where rounding ends there."""
    index = torch.tensor([[1]])
    largest = torch.finfo(dtype).max
    for number in (largest, largest * 1.001, -largest * 1.001, 1e40, 10**30, math.inf, math.nan):
        for call in (
            lambda: torch.zeros(2, 1, dtype=dtype).scatter(0, index, number),
            lambda: torch.zeros(2, 1, dtype=dtype).scatter_(0, index, number),
        ):
            require_same_outcome(call, (dtype, number))


def test_memory_that_overlaps() -> None:
    """Calls that strew refuses go to aten, which raises its own exception."""
    index = torch.tensor([0, 1])
    memory = torch.arange(6.0)
    with strew.torch.enable():
        with pytest.raises(RuntimeError, match="single memory location"):
            torch.zeros(1).expand(4).index_add_(0, index, torch.ones(2))
        with pytest.raises(RuntimeError, match="some elements of the input tensor and the written"):
            memory[:4, None].scatter_add_(0, index[:, None], memory[1:3, None])
    assert memory.equal(torch.arange(6.0))


def test_deterministic_algorithms() -> None:
    data, index = torch.randn(5, 3), torch.randint(0, 5, (40,))
    updates = torch.randn(40, 3)
    torch.use_deterministic_algorithms(True)
    try:
        expected = data.index_add(0, index, updates)
        put = data.index_put((index,), updates, accumulate=True)
        with strew.torch.enable():
            assert data.index_add(0, index, updates).equal(expected)
            assert data.index_put((index,), updates, accumulate=True).equal(put)
    finally:
        torch.use_deterministic_algorithms(False)


def test_views_that_are_read_otherwise() -> None:
    """Elements that are conjugated or negated where they are read."""
    base = torch.randn(4, dtype=torch.complex64)
    index = torch.tensor([0, 0, 3])
    for updates in (base[:3].conj(), base.conj().imag[:3]):
        data = torch.zeros(4, dtype=updates.dtype)
        expected = data.index_put((index,), updates, accumulate=True)
        with strew.torch.enable():
            assert data.index_put((index,), updates, accumulate=True).equal(expected)
        data = data.conj() if data.is_complex() else data
        with strew.torch.enable():
            assert data.index_put_((index,), updates, accumulate=True).equal(expected)


def test_autograd_sees_writes() -> None:
    data = torch.ones(3, requires_grad=True) * 2
    kept = (data * data).sum()
    with strew.torch.enable():
        data.index_add_(0, torch.tensor([0]), torch.ones(1))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        kept.backward()


def test_other_threads_and_modes() -> None:
    from concurrent.futures import ThreadPoolExecutor

    index, updates = torch.randint(0, 50, (3000,)), torch.randn(3000)
    expected = torch.zeros(50).index_add(0, index, updates)

    def work(n: int) -> bool:
        with torch.inference_mode(n % 2 == 0):
            return torch.zeros(50).index_add_(0, index, updates).equal(expected)

    with strew.torch.enable(), ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(40)))


def test_threads_that_enable_and_disable() -> None:
    """Other threads call meanwhile, and every call is one of strew's or one of aten's."""
    from concurrent.futures import ThreadPoolExecutor

    index, updates = torch.randint(0, 50, (300,)), torch.randn(300)
    expected = torch.zeros(50).index_add(0, index, updates)
    strew.torch.enable()
    ended = threading.Event()

    def work(_: int) -> bool:
        return torch.zeros(50).index_add_(0, index, updates).equal(expected)

    def turn_on_and_off() -> int:
        turns = 0
        while not ended.is_set():
            with strew.torch.enable():
                turns += 1
            strew.torch.disable()
        return turns

    with ThreadPoolExecutor(4) as pool:
        turns = pool.submit(turn_on_and_off)
        same = all(pool.map(work, range(4000)))
        ended.set()
        assert same and turns.result() > 0


def test_data_without_elements() -> None:
    """aten accepts any index then."""
    data, index = torch.zeros(3, 0), torch.tensor([7])
    with strew.torch.enable():
        assert data.index_add_(0, index, torch.zeros(1, 0)) is data
        assert data.index_copy(0, index, torch.zeros(1, 0)).shape == (3, 0)


def test_compiled_functions() -> None:
    def step(data, index, updates):
        return data.index_add(0, index, updates).relu().scatter_add(0, index, updates)

    data, index, updates = torch.randn(9), torch.randint(0, 9, (30,)), torch.randn(30)
    expected = step(data, index, updates)
    with strew.torch.enable():
        compiled = torch.compile(step, backend="aot_eager", fullgraph=True)
        assert compiled(data, index, updates).equal(expected)
        assert torch.vmap(step, (0, None, None))(data[None], index, updates)[0].equal(expected)


def test_a_process_ends_while_enabled() -> None:
    program = (
        "import torch, strew.torch; strew.torch.enable(); torch.zeros(3)[torch.tensor([1])] = 2"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_the_page(capsys) -> None:
    """The code of doc/pytorch.md runs, block after block, and prints what stands there."""
    page = (Path(__file__).resolve().parents[2] / "doc" / "pytorch.md").read_text()
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for block in blocks:
        exec(block, names)
    assert len(blocks) == 5
    assert capsys.readouterr().out == "".join(re.findall(r"```text\n(.*?)```", page, re.DOTALL))
    assert names["sums"].tolist() == [[2, 3], [0, 0], [4, 6.5]]
