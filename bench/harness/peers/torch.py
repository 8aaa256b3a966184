# SPDX-License-Identifier: Apache-2.0
"""PyTorch: scatter, index and put functions, in place and functional, and slices."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import ml_dtypes
import numpy as np
import torch

from ..contestants import Call, Contestant, on_copy
from ..scatter import Scatter
from ..workloads import Operator

REDUCTIONS = {"add": "sum", "mul": "prod", "min": "amin", "max": "amax", "mean": "mean"}
# Who takes indices of int32 as they are; all take int64, and other dtypes are converted.
TAKE_INT32 = ("scatter", "scatter_add", "scatter_reduce", "index_add", "index_reduce", "index_put")


@dataclass(frozen=True)
class Method:
    """A function that has both forms: its name, without the underscore of the one in place, what
    makes its arguments of an index tensor, and keywords. `expanded` indices are views in which
    several elements share an index; they have to be int64."""

    name: str
    indices: torch.Tensor
    arguments: Callable[[torch.Tensor], tuple]
    keywords: Mapping[str, bool] = field(default_factory=dict)
    expanded: bool = False

    def bound(self, tensor: torch.Tensor, suffix: str = "") -> Callable[[], torch.Tensor]:
        """A call without arguments. Indices of a dtype that the function refuses are converted by
        every call."""
        function = getattr(tensor, self.name + suffix)
        indices, arguments, keywords = self.indices, self.arguments, self.keywords
        short = indices.dtype == torch.int32 and self.name in TAKE_INT32 and not self.expanded
        if short or indices.dtype == torch.int64:
            return partial(function, *arguments(indices), **keywords)
        return lambda: function(*arguments(indices.long()), **keywords)


class Peer:
    """PyTorch without its record of gradients."""

    name = "PyTorch"
    version = torch.__version__

    def __init__(self, threads: int) -> None:
        warnings.filterwarnings("ignore", message=".*index_reduce.*")
        torch.set_grad_enabled(False)
        self._threads = threads

    def prepare(self, scatter: Scatter) -> list[Contestant]:
        """TypeError where PyTorch has no such dtype."""
        torch.set_num_threads(self._threads)
        data, output, updates = map(_tensor, (scatter.data, scatter.output, scatter.updates))
        copy = "copy_", partial(output.copy_, data)
        if scatter.operator is Operator.SLICE_SCATTER:
            contestants = on_copy(
                self.name, _slice_updates(scatter, output, updates), copy, scatter
            )
            functional = _slice_methods(scatter, data, updates)
        else:
            methods = list(_methods(scatter, updates))
            in_place = [(f"{method.name}_", method.bound(output, "_")) for method in methods]
            in_place += _on_flat(scatter, output, updates)
            contestants = on_copy(self.name, in_place, copy, scatter)
            functional = ((method.name, method.bound(data)) for method in methods)
        # The functions that make an output give it the layout of data, if that is transposed.
        if not scatter.in_place and scatter.data.flags.c_contiguous:
            contestants += [_functional(name, function) for name, function in functional]
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


def _functional(label: str, function: Callable[[], torch.Tensor]) -> Contestant:
    """One that makes its output anew in every call."""
    made: list[torch.Tensor] = []

    def call() -> None:
        made.clear()  # so that its memory can be had again
        made.append(function())

    return Contestant(Peer.name, label, call, lambda: _array(made[0]), made.clear)


def _methods(scatter: Scatter, updates: torch.Tensor) -> Iterator[Method]:
    """The functions that have both forms."""
    reduction, without_old = _parts(scatter)
    if scatter.row_indices is not None:
        yield from _row_methods(scatter, torch.from_numpy(scatter.row_indices), updates)
    elif scatter.operator is Operator.SCATTER_ND:
        if reduction in ("none", "add") and not without_old:
            tuples, add = torch.from_numpy(scatter.indices), reduction == "add"
            yield Method("index_put", tuples, lambda i: (i.unbind(-1), updates, add))
        return
    elif scatter.line_indices is not None:
        yield from _line_methods(scatter, torch.from_numpy(scatter.line_indices), updates)
    yield from _element_methods(scatter, updates)


def _row_methods(scatter: Scatter, rows: torch.Tensor, updates: torch.Tensor) -> Iterator[Method]:
    reduction, without_old = _parts(scatter)
    yield from _line_methods(scatter, rows, updates)
    if reduction in ("none", "add") and not without_old:
        add = reduction == "add"
        yield Method("index_put", rows, lambda indices: ((indices,), updates, add))
        if updates.ndim == 1:
            yield Method("put", rows, lambda indices: (indices, updates, add))


def _line_methods(
    scatter: Scatter, indices: torch.Tensor, updates: torch.Tensor
) -> Iterator[Method]:
    """The functions that take one index for each slice of an axis."""
    reduction, without_old = _parts(scatter)
    axis, how = scatter.axis, REDUCTIONS.get(reduction)
    if reduction == "none":
        yield Method("index_copy", indices, lambda i: (axis, i, updates))
    elif reduction == "add" and not without_old:
        yield Method("index_add", indices, lambda i: (axis, i, updates))
    elif reduction != "add":
        keywords = {"include_self": not without_old}
        yield Method("index_reduce", indices, lambda i: (axis, i, updates, how), keywords)


def _element_methods(scatter: Scatter, updates: torch.Tensor) -> Iterator[Method]:
    """The functions that take one index for each element of updates."""
    reduction, without_old = _parts(scatter)
    axis, how = scatter.axis, REDUCTIONS.get(reduction)
    indices, expand = _element_indices(scatter)
    expanded = expand is not None
    full = expand or (lambda indices: indices)
    if reduction == "none":
        yield Method("scatter", indices, lambda i: (axis, full(i), updates), {}, expanded)
        return
    self_too = {"include_self": not without_old}
    yield Method(
        "scatter_reduce", indices, lambda i: (axis, full(i), updates, how), self_too, expanded
    )
    if reduction == "add" and not without_old:
        yield Method("scatter_add", indices, lambda i: (axis, full(i), updates), {}, expanded)


def _parts(scatter: Scatter) -> tuple[str, bool]:
    """The reduction, and True if the old value takes no part."""
    reduction, _, without_old = scatter.reduction.partition("|")
    return reduction, bool(without_old)


def _element_indices(
    scatter: Scatter,
) -> tuple[torch.Tensor, Callable[[torch.Tensor], torch.Tensor] | None]:
    """Indices, and what makes a view of them that has one for each element of updates; None where
    they are that many."""
    lines = scatter.row_indices
    if lines is None:
        lines = scatter.line_indices
    shape = scatter.updates.shape
    if lines is None or lines.shape == shape:
        return torch.from_numpy(scatter.indices if lines is None else lines), None
    column = [-1 if axis == scatter.axis else 1 for axis in range(len(shape))]
    return torch.from_numpy(lines), lambda indices: indices.reshape(column).expand(shape)


def _on_flat(
    scatter: Scatter, output: torch.Tensor, updates: torch.Tensor
) -> list[tuple[str, Call]]:
    """Tuples as numbers of rows or elements, which are computed first."""
    many = scatter.operator is Operator.SCATTER_ND and scatter.indices.shape[-1] > 1
    if not many or scatter.indices.ndim != 2 or not scatter.output.flags.c_contiguous:
        return []
    count, length = scatter.indices.shape
    shape = scatter.data.shape
    tuples = torch.from_numpy(scatter.indices)
    strides = torch.tensor([math.prod(shape[i + 1 : length]) for i in range(length)])
    rows = output.view(math.prod(shape[:length]), *shape[length:])
    update = replace(scatter, operator=Operator.SCATTER_UPDATE, indices=np.zeros(count, np.int64))
    methods = _line_methods(update, torch.from_numpy(update.indices), updates)

    def bind(method: Method) -> tuple[str, Call]:
        function, arguments = getattr(rows, f"{method.name}_"), method.arguments

        def call() -> None:
            function(*arguments((tuples * strides).sum(-1)), **method.keywords)

        return f"flat {method.name}_", call

    return [bind(method) for method in (*methods, *_element_methods(update, updates))]


def _slice_updates(
    scatter: Scatter, output: torch.Tensor, updates: torch.Tensor
) -> Iterator[tuple[str, Call]]:
    """PyTorch has no negative steps: there the updates are reversed, or indices are."""
    cut = scatter.slice
    backwards = [axis for axis, step in zip(cut.axes, cut.step) if step < 0]
    named = [range(size)[entry] for size, entry in zip(output.shape, scatter.slices)]
    target = output[tuple(slice(min(n), max(n) + 1, abs(n.step)) for n in named)]
    if not backwards:
        yield _into_slice(scatter.reduction, target, lambda: updates)
        return
    label, update = _into_slice(scatter.reduction, target, lambda: updates.flip(backwards))
    yield f"{label}(flip)", update
    if len(cut.axes) == 1 and scatter.reduction == "none":
        indices = torch.from_numpy(np.array(named[cut.axes[0]]))
        yield "index_copy_", partial(output.index_copy_, cut.axes[0], indices, updates)


def _into_slice(
    reduction: str, target: torch.Tensor, updates: Callable[[], torch.Tensor]
) -> tuple[str, Call]:
    if reduction in ("min", "max"):
        function = {"min": torch.minimum, "max": torch.maximum}[reduction]
        return f"slice {reduction}imum", lambda: function(target, updates(), out=target)
    method = {"none": "copy_", "add": "add_", "mul": "mul_"}[reduction]
    function = getattr(target, method)
    return f"slice {method}", lambda: function(updates())


def _slice_methods(
    scatter: Scatter, data: torch.Tensor, updates: torch.Tensor
) -> Iterator[tuple[str, Call]]:
    """The one that has no form in place."""
    cut = scatter.slice
    if scatter.reduction == "none" and len(cut.axes) == 1 and cut.step[0] > 0:
        bounds = (cut.axes[0], cut.start[0], cut.stop[0], cut.step[0])
        yield "slice_scatter", partial(data.slice_scatter, updates, *bounds)
