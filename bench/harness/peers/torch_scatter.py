# SPDX-License-Identifier: Apache-2.0
"""torch-scatter, the extension of PyTorch that graph libraries use."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch_scatter

from ..contestants import Contestant, on_output
from ..gather import GatherScatter
from . import System
from .torch import tensor_of


class Peer(System):
    """Sums of the rows that a graph's edges take. The order of the edges by target is known."""

    name = "torch-scatter"
    version = torch_scatter.__version__

    def __init__(self, threads: int) -> None:
        torch.set_grad_enabled(False)
        self._threads = threads

    def gather_scatter(self, work: GatherScatter) -> list[Contestant]:
        if not work.is_matrix_product:
            return []
        torch.set_num_threads(self._threads)
        ways = {"segment_csr": _segments(work), "scatter": _scattered(work)}
        return [on_output(self.name, label, call, work) for label, call in ways.items()]


def _segments(work: GatherScatter) -> Callable[[], object]:
    source, data, output = map(tensor_of, (work.source, work.scatter.data, work.output))
    weights, sources, starts = map(tensor_of, work.csr)
    starts = starts.long()
    rows = _rows(source, sources, None if work.weights is None else weights)
    return lambda: torch.add(data, torch_scatter.segment_csr(rows(), starts), out=output)


def _scattered(work: GatherScatter) -> Callable[[], object]:
    scatter = work.scatter
    source, data, output = map(tensor_of, (work.source, scatter.data, work.output))
    sources, targets = (torch.from_numpy(of.row_indices) for of in (work.gather, scatter))
    targets = targets.long()
    weights = None if work.weights is None else tensor_of(work.row_weights)
    rows = _rows(source, sources, weights)

    def call() -> None:
        if not work.in_place:
            output.copy_(data)
        torch_scatter.scatter(rows(), targets, dim=0, out=output, reduce="sum")

    return call


def _rows(
    source: torch.Tensor, sources: torch.Tensor, weights: torch.Tensor | None
) -> Callable[[], torch.Tensor]:
    if weights is None:
        return lambda: source.index_select(0, sources)
    column = weights.reshape(-1, *[1] * (source.ndim - 1))
    return lambda: source.index_select(0, sources).mul_(column)
