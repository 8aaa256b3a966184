# SPDX-License-Identifier: Apache-2.0
"""The same computations in PyTorch: calls by their names, none where it is not installed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from checks import Array, Calls

try:
    import torch

    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", "Sparse")  # that CSR matrices are in beta state
except ImportError:
    print("PyTorch is not installed")
    torch = None

Edges = tuple[Array, Array, Array]  # sources, targets and weights
Sums = Callable[[Any], Any]


def ways_to_sum(edges: Edges, nodes: int) -> dict[str, Sums]:
    """Functions from rows of the nodes to sums of their neighbours' rows."""
    if torch is None:
        return {}
    source, target, weight = map(torch.from_numpy, edges)
    places = torch.stack([target, source])
    matrix = torch.sparse_coo_tensor(places, weight[:, 0], (nodes, nodes)).to_sparse_csr()

    def by_index(rows: Any) -> Any:
        messages = rows.index_select(0, source) * weight
        return torch.zeros_like(rows).index_add_(0, target, messages)

    return {
        "PyTorch, index_select and index_add_": by_index,
        "PyTorch, sparse CSR matrix": lambda rows: torch.sparse.mm(matrix, rows),
    }


def sums(edges: Edges, x: Array) -> Calls:
    ways = ways_to_sum(edges, len(x))
    return {name: lambda way=way: [way(torch.from_numpy(x))] for name, way in ways.items()}


def training_steps(edges: Edges, *tensors: Array) -> Calls:
    ways = ways_to_sum(edges, len(tensors[0]))
    return {name: training_step(way, *tensors) for name, way in ways.items()}


def training_step(way: Sums, *tensors: Array) -> Callable[[], list[Any]]:
    x, labels, w1, w2 = map(torch.from_numpy, tensors)
    w1.requires_grad_()
    w2.requires_grad_()

    def step() -> list[Any]:
        w1.grad = w2.grad = None
        active = torch.relu(way(x @ w1))
        loss = torch.nn.functional.cross_entropy(way(active @ w2), labels)
        loss.backward()
        return [loss.item(), w1.grad, w2.grad]

    return step


def embedding_bag(
    ids: Array, offsets: Array, table: Array, d: Array, mode: str
) -> tuple[Calls, Calls]:
    """The values of the bags, and the gradient of the table where theirs is d."""
    if torch is None:
        return {}, {}
    names, starts, d_values = map(torch.from_numpy, (ids, offsets, d))
    weight = torch.from_numpy(table).requires_grad_()

    def values() -> Any:
        return torch.nn.functional.embedding_bag(names, weight, starts, mode=mode)

    kept = values()

    def gradient() -> list[Any]:
        weight.grad = None
        kept.backward(d_values, retain_graph=True)
        return [weight.grad]

    return {"PyTorch": lambda: [values().detach()]}, {"PyTorch": gradient}
