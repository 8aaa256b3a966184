# SPDX-License-Identifier: Apache-2.0
"""strew.torch under torch.compile() and torch.export()."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import strew.torch as st
import torch
from torch import Tensor

FROM = st.plan_scatter_update(torch.tensor([0, 2, -1, 2]), 5)
TO = st.plan_scatter_update(torch.tensor([1, 1, 3, 0]), 4)
INDEX = torch.tensor([[0, 4, -1], [2, 2, 2]])


def network(x: Tensor, updates: Tensor, weights: Tensor, columns: Tensor) -> Tensor:
    """Every operator once."""
    x = st.scatter_elements(x, INDEX, updates, reduction="add").relu()
    x = st.scatter_update(x, torch.tensor([1, 1]), columns, 1, reduction="mean")
    x = FROM.scatter(x, torch.ones(4, 3), reduction="max")
    y = st.gather_scatter(FROM, x * 2, TO, torch.zeros(4, 3), weights)
    y = st.slice_scatter(y, y[:1].sin(), 0, 4, 2, reduction="mul")
    y = st.scatter_nd(y, torch.tensor([[0], [1]]), y[2:4])
    return FROM.gather(x).sum() + y.sum()


def arguments() -> list[Tensor]:
    torch.manual_seed(10)
    return [torch.randn(shape) for shape in ((5, 3), (2, 3), (4, 1), (5, 2))]


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_network_and_its_gradients(backend: str) -> None:
    compiled = torch.compile(network, backend=backend, fullgraph=True)
    results = []
    for call in (network, compiled):
        given = [t.requires_grad_() for t in arguments()]
        result = call(*given)
        result.backward()
        results.append([result, *(t.grad for t in given)])
    for one, other in zip(*results):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)
    with torch.no_grad():
        torch.testing.assert_close(compiled(*arguments()), network(*arguments()))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_out(backend: str) -> None:
    def call(data: Tensor, updates: Tensor) -> Tensor:
        copy = data.clone()
        st.scatter_elements(copy, INDEX, updates, reduction="add", out=copy)
        other = torch.empty_like(copy)
        st.scatter_nd(copy, torch.tensor([[0], [1]]), updates, out=other)
        return copy + other

    given = arguments()[:2]
    compiled = torch.compile(call, backend=backend, fullgraph=True)
    assert compiled(*given).equal(call(*given))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_out_of_plans(backend: str) -> None:
    def call(rows: Tensor, updates: Tensor) -> Tensor:
        sums, gathered, messages = rows + 7, updates + 7, rows[:4] + 7
        FROM.scatter(rows, updates, reduction="add", out=sums)
        FROM.gather(sums, out=gathered)
        st.gather_scatter(FROM, sums, TO, updates, out=messages)
        return torch.cat([sums, gathered * 2, messages])

    given = [torch.randn(5, 3), torch.randn(4, 3)]
    expected = FROM.scatter(*given, reduction="add")
    compiled = torch.compile(call, backend=backend, fullgraph=True)
    for function in (call, compiled):
        found = function(*given)
        assert found[:5].equal(expected) and found[5:9].equal(FROM.gather(expected) * 2)
        assert found[9:].equal(st.gather_scatter(FROM, expected, TO, given[1]))


@pytest.mark.parametrize("reduction", ["none", "mul", "max", "mean"])
def test_gradients_without_dropped_entries(reduction: str) -> None:
    some = st.plan_scatter_update(torch.tensor([0, 9, 1, 2]), 5, index_policy="drop")

    def call(rows: Tensor, data: Tensor, weights: Tensor) -> Tensor:
        how = {"reduction": reduction, "exclude_self": True}
        return st.gather_scatter(some, rows, TO, data, weights, **how).sin().sum()

    compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
    given = [torch.randn(shape, requires_grad=True) for shape in ((5, 3), (4, 3), (4, 1))]
    expected = torch.autograd.grad(call(*given), given)
    for one, other in zip(torch.autograd.grad(compiled(*given), given), expected):
        torch.testing.assert_close(one, other)


def test_shapes_that_change() -> None:
    def call(data: Tensor, index: Tensor, updates: Tensor) -> Tensor:
        rows = st.scatter_update(data, index, updates, reduction="add")
        return st.slice_scatter(rows, rows[0], 1, data.shape[0] - 1) * 2

    compiled = torch.compile(call, dynamic=True, fullgraph=True)
    for n in (3, 5, 9):
        data, updates = torch.randn(n, 4), torch.randn(2 * n, 4)
        index = torch.randint(0, n, (2 * n,))
        assert compiled(data, index, updates).equal(call(data, index, updates))


def test_another_plan_is_another_graph() -> None:
    def call(plan: st.Plan, rows: Tensor) -> Tensor:
        return plan.gather(rows) * 2

    compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
    rows = torch.randn(6, 2)
    for places in ([0, 1], [5, 5, 2], [3]):
        plan = st.plan_scatter_update(torch.tensor(places), 6)
        assert compiled(plan, rows).equal(rows[places] * 2)


CACHED = """
import sys
import torch
import strew.torch as st

extent = int(sys.argv[1])
plan = st.plan_scatter_update(torch.arange(0, 9, 9 // extent), 4, index_policy="drop")
call = lambda x: (plan.gather(x) * 2).square().sum()
x = torch.arange(1.0, 5.0, requires_grad=True)
found, expected = (torch.autograd.grad(f(x), x)[0] for f in (torch.compile(call), call))
assert found.equal(expected), (found, expected)
"""


def test_the_next_process_has_other_plans(tmp_path) -> None:
    """Compiled functions are cached on disk, by text in which only keys stand for plans."""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    for extent in (9, 3):
        subprocess.run([sys.executable, "-c", CACHED, str(extent)], check=True, env=environment)


def test_a_plan_made_within() -> None:
    def call(data: Tensor, index: Tensor, updates: Tensor) -> Tensor:
        return st.plan_scatter_update(index, 5).scatter(data, updates, reduction="add")

    compiled = torch.compile(call, backend="aot_eager")
    data, updates = torch.zeros(5, 3), torch.ones(2, 3)
    assert compiled(data, torch.tensor([1, 4]), updates).sum(1).tolist() == [0, 3, 0, 0, 3]


def test_indices_out_of_range() -> None:
    compiled = torch.compile(lambda d, i, u: st.scatter_update(d, i, u) + 1)
    with pytest.raises(IndexError, match=r"indices\[0\] = 7 is out of range"):
        compiled(torch.zeros(3, 3), torch.tensor([7]), torch.ones(1, 3))


def test_export() -> None:
    class Module(torch.nn.Module):
        def forward(self, data: Tensor, updates: Tensor) -> Tensor:
            return st.scatter_elements(data, INDEX, updates, reduction="add")

    given = tuple(arguments()[:2])
    exported = torch.export.export(Module(), given)
    assert "strew.scatter_elements" in str(exported.graph)
    assert exported.module()(*given).equal(Module()(*given))
