# SPDX-License-Identifier: Apache-2.0
"""PyTorch: a layer of a graph network without its messages, and functions that enable() routes."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import torch

import strew.torch

from . import Case

VERSION = torch.__version__
SEED = 1

Function = Callable[[], torch.Tensor]


def whole(*shape: int) -> torch.Tensor:
    """Small whole numbers, whose sums do not depend on the order."""
    return torch.randint(0, 9, shape).float()


def discarding(function: Function) -> Callable[[], None]:
    def call() -> None:
        function()

    return call


def case_of(name: str, before: Function, after: Function) -> Case:
    def same() -> bool:
        return torch.equal(before(), after())

    return Case(name, discarding(before), discarding(after), same)


def graph(nodes: int, edges: int, features: int, weighted: bool) -> Case:
    """The sums of the messages that arrive at every node. Plans are made before, as in a model."""
    x, weight = whole(nodes, features), whole(edges, 1)
    origin, target = (torch.randint(0, nodes, (edges,)) for _ in range(2))
    leave = strew.torch.plan_scatter_update(origin, nodes)
    arrive = strew.torch.plan_scatter_update(target, nodes)

    def before() -> torch.Tensor:
        messages = x.index_select(0, origin)
        messages = messages * weight if weighted else messages
        return torch.zeros_like(x).index_add_(0, target, messages)

    def after() -> torch.Tensor:
        sums = torch.zeros_like(x)
        return strew.torch.gather_scatter(leave, x, arrive, sums, weight if weighted else None)

    kind = "weighted edges" if weighted else "edges"
    return case_of(f"graph, {nodes:,} nodes, {edges:,} {kind}, {features} columns", before, after)


def routed(name: str, function: Function) -> Case:
    """Calls enable() untimed: it takes 0.4 ms, which a program spends once."""

    def after() -> torch.Tensor:
        with strew.torch.enable():
            return function()

    return case_of(f"{name}, routed", function, after)


def rows_of(function: str, rows: int, updates: int, columns: int) -> Case:
    data, values = whole(rows, columns), whole(updates, columns)
    unique = function == "index_copy_"
    index = torch.randperm(rows)[:updates] if unique else torch.randint(0, rows, (updates,))
    name = f"{function}, {updates:,} rows of {columns} into {rows:,}"
    return routed(name, lambda: getattr(data.clone(), function)(0, index, values))


def tiny(calls: int) -> Case:
    data, values, index = torch.zeros(1_000, 16), whole(8, 16), torch.randint(0, 1_000, (8,))

    def function() -> torch.Tensor:
        for _ in range(calls):
            data.index_add_(0, index, values)
        sums = data.clone()
        data.zero_()
        return sums

    return routed(f"index_add_, 8 rows of 16, {calls:,} calls", function)


def cases(threads: int) -> Iterator[Case]:
    torch.set_num_threads(threads)
    torch.manual_seed(SEED)
    for weighted in (True, False):
        for size in ((100_000, 1_000_000, 64), (20_000, 400_000, 64), (10_000, 200_000, 16)):
            yield graph(*size, weighted)
            gc.collect()
    yield rows_of("index_add_", 100_000, 400_000, 64)
    yield rows_of("index_copy_", 100_000, 50_000, 64)
    yield tiny(10_000)
