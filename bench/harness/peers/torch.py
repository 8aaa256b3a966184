# SPDX-License-Identifier: Apache-2.0
"""PyTorch: scatter, index and put functions, in place and functional, and slices."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial

import ml_dtypes
import numpy as np
import torch

from ..contestants import Call, Contestant, on_copy
from ..scatter import Scatter
from ..workloads import Operator

REDUCTIONS = {"add": "sum", "mul": "prod", "min": "amin", "max": "amax"}

# The name of a method, without the underscore of those in place, and its arguments.
Method = tuple[str, tuple]


class Peer:
    """PyTorch without its record of gradients."""

    name = "PyTorch"
    version = torch.__version__

    def __init__(self, threads: int) -> None:
        warnings.filterwarnings("ignore", message=".*index_reduce.*")
        torch.set_grad_enabled(False)
        torch.set_num_threads(threads)

    def prepare(self, scatter: Scatter) -> list[Contestant]:
        """TypeError where PyTorch has no such dtype."""
        data, output, updates = map(_tensor, (scatter.data, scatter.output, scatter.updates))
        if scatter.operator is Operator.SLICE_SCATTER:
            in_place = _slice_updates(scatter, output, updates)
            methods = list(_slice_methods(scatter, updates))
        else:
            methods = list(_methods(scatter, updates))
            in_place = ((f"{name}_", _bound(output, f"{name}_", args)) for name, args in methods)
        contestants = on_copy(self.name, in_place, ("copy_", partial(output.copy_, data)), scatter)
        if not scatter.in_place:
            contestants += [_functional(name, _bound(data, name, args)) for name, args in methods]
        return contestants


def _tensor(array: np.ndarray) -> torch.Tensor:
    """The same memory."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _array(tensor: torch.Tensor) -> np.ndarray:
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.uint16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _bound(tensor: torch.Tensor, method: str, arguments: tuple) -> Callable[[], torch.Tensor]:
    return partial(getattr(tensor, method), *arguments)


def _functional(label: str, function: Callable[[], torch.Tensor]) -> Contestant:
    """One that makes its output anew in every call."""
    made: list[torch.Tensor] = []

    def call() -> None:
        made.clear()  # so that its memory can be had again
        made.append(function())

    return Contestant(Peer.name, label, call, lambda: _array(made[0]), made.clear)


def _methods(scatter: Scatter, updates: torch.Tensor) -> Iterator[Method]:
    """The functions that have both forms."""
    reduction = scatter.reduction
    if scatter.row_indices is not None:
        yield from _row_methods(reduction, torch.from_numpy(scatter.row_indices), updates)
    elif scatter.operator is Operator.SCATTER_ND:
        yield from _index_put(reduction, torch.from_numpy(scatter.indices).unbind(-1), updates)
        return
    where = (scatter.axis, _element_indices(scatter), updates)
    if reduction == "none":
        yield "scatter", where
    else:
        yield "scatter_reduce", (*where, REDUCTIONS[reduction])
    if reduction == "add":
        yield "scatter_add", where


def _row_methods(reduction: str, rows: torch.Tensor, updates: torch.Tensor) -> Iterator[Method]:
    yield from _index_put(reduction, (rows,), updates)
    if reduction == "none":
        yield "index_copy", (0, rows, updates)
    elif reduction == "add":
        yield "index_add", (0, rows, updates)
    else:
        yield "index_reduce", (0, rows, updates, REDUCTIONS[reduction])
    if updates.ndim == 1 and reduction in ("none", "add"):
        yield "put", (rows, updates, reduction == "add")


def _index_put(
    reduction: str, where: tuple[torch.Tensor, ...], updates: torch.Tensor
) -> Iterator[Method]:
    if reduction in ("none", "add"):
        yield "index_put", (where, updates, reduction == "add")


def _element_indices(scatter: Scatter) -> torch.Tensor:
    """One for each element of updates; a view where whole rows are named."""
    rows = scatter.row_indices
    if rows is None:
        return torch.from_numpy(scatter.indices)
    column = torch.from_numpy(rows).reshape(-1, *[1] * (scatter.updates.ndim - 1))
    return column.expand(scatter.updates.shape)


def _slice_updates(
    scatter: Scatter, output: torch.Tensor, updates: torch.Tensor
) -> Iterator[tuple[str, Call]]:
    """PyTorch has no negative steps: there the updates are reversed, or indices are."""
    cut = scatter.slice
    backwards = [axis for axis, step in zip(cut.axes, cut.step) if step < 0]
    named = [range(size)[entry] for size, entry in zip(output.shape, scatter.slices)]
    target = output[tuple(slice(min(n), max(n) + 1, abs(n.step)) for n in named)]
    if not backwards:
        yield "slice copy_", partial(target.copy_, updates)
        return
    yield "slice copy_(flip)", lambda: target.copy_(updates.flip(backwards))
    if len(cut.axes) == 1:
        indices = torch.from_numpy(np.array(named[cut.axes[0]]))
        yield "index_copy_", partial(output.index_copy_, cut.axes[0], indices, updates)


def _slice_methods(scatter: Scatter, updates: torch.Tensor) -> Iterator[Method]:
    """The one that has no form in place."""
    cut = scatter.slice
    if len(cut.axes) == 1 and cut.step[0] > 0:
        yield "slice_scatter", (updates, cut.axes[0], cut.start[0], cut.stop[0], cut.step[0])
