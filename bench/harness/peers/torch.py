# SPDX-License-Identifier: Apache-2.0
"""PyTorch: scatter, gather, index and put functions, slices, and products of sparse matrices."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import ml_dtypes
import numpy as np
import torch

from ..contestants import Call, Contestant, Way, functional, on_copy, on_output
from ..gather import Gather, GatherScatter
from ..indexed import Indexed
from ..scatter import Scatter
from ..workloads import Operator
from . import System

REDUCTIONS = {"add": "sum", "mul": "prod", "min": "amin", "max": "amax", "mean": "mean"}
# Functions that accept int32 indices. All accept int64, and other dtypes are converted.
TAKE_INT32 = ("scatter", "scatter_add", "scatter_reduce", "index_add", "index_reduce", "index_put")


@dataclass(frozen=True)
class Method:
    """A function with both forms: its name without the underscore of the form in place, a function
    that makes its arguments from an index tensor, and keywords. `expanded` indices are views in
    which several elements share an index; they must be int64."""

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


class Peer(System):
    """PyTorch without its record of gradients."""

    name = "PyTorch"
    version = torch.__version__

    def __init__(self, threads: int) -> None:
        warnings.filterwarnings("ignore", message=".*index_reduce.*|Sparse CSR tensor support.*")
        torch.set_grad_enabled(False)
        self._threads = threads

    def prepare(self, scatter: Scatter) -> list[Contestant]:
        """The dtype in PyTorch; TypeError if there is none."""
        torch.set_num_threads(self._threads)
        data, output, updates = map(tensor_of, (scatter.data, scatter.output, scatter.updates))
        copy = "copy_", partial(output.copy_, data)
        if scatter.operator is Operator.SLICE_SCATTER:
            contestants = on_copy(
                self.name, _slice_updates(scatter, output, updates), copy, scatter
            )
            functional_ways = _slice_methods(scatter, data, updates)
        else:
            methods = list(_methods(scatter, updates))
            in_place = [(f"{method.name}_", method.bound(output, "_")) for method in methods]
            in_place += _on_flat(scatter, output, updates)
            contestants = on_copy(self.name, in_place, copy, scatter)
            functional_ways = ((method.name, method.bound(data)) for method in methods)
        # Functions that make an output give it data's layout, if that is transposed.
        if not scatter.in_place and scatter.data.flags.c_contiguous:
            contestants += [self._functional(*way) for way in functional_ways]
        return contestants

    def gather(self, gather: Gather) -> list[Contestant]:
        contestants = super().gather(gather)
        if gather.operator is Operator.SCATTER_ND:
            source, indices = tensor_of(gather.source), torch.from_numpy(gather.indices).long()
            contestants.append(
                self._functional("source[indices]", lambda: source[indices.unbind(-1)])
            )
        return contestants

    def reads(self, gather: Gather) -> list[Way]:
        torch.set_num_threads(self._threads)
        return list(_reads(gather))

    def product(self, updates: np.ndarray, weights: np.ndarray) -> Call:
        return partial(tensor_of(updates).mul_, tensor_of(weights))

    def gather_scatter(self, work: GatherScatter) -> list[Contestant]:
        contestants = super().gather_scatter(work)
        if work.is_matrix_product:
            contestants.append(on_output(self.name, *_matrix_product(work), work))
        return contestants

    def order(self, scatter: Scatter) -> list[Contestant]:
        if scatter.row_indices is None:
            return []
        torch.set_num_threads(self._threads)
        keys = torch.from_numpy(scatter.row_indices)
        made = torch.empty_like(keys), torch.empty(keys.shape, dtype=torch.int64)
        sort = partial(torch.sort, keys, stable=True, out=made)
        return [self.ordering("sort", sort, lambda result: result[1].numpy(), scatter)]

    def _functional(self, label: str, make: Callable[[], torch.Tensor]) -> Contestant:
        return functional(self.name, label, make, _array)


def tensor_of(array: np.ndarray) -> torch.Tensor:
    """The same memory."""
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _array(tensor: torch.Tensor) -> np.ndarray:
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.uint16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _reads(gather: Gather) -> Iterator[Way]:
    source, output = tensor_of(gather.source), tensor_of(gather.output)
    lines, axis = gather.line_indices, gather.axis
    if lines is None:
        lines, axis = gather.row_indices, 0
    if lines is not None and lines.ndim == 1:
        indices = _known(torch.from_numpy(lines))
        yield "index_select", lambda: torch.index_select(source, axis, indices(), out=output)
        if source.ndim == 1:
            wide = _wide(torch.from_numpy(lines))
            yield "take", lambda: torch.take(source, wide(), out=output)
    elif gather.operator is Operator.SCATTER_ND:
        if gather.indices.ndim == 2 and gather.source.flags.c_contiguous:
            rows, numbers = _rows_of_tuples(gather, source)
            yield "flat index_select", lambda: torch.index_select(rows, 0, numbers(), out=output)
    if gather.operator is Operator.SCATTER_ELEMENTS:
        wide = _wide(torch.from_numpy(gather.indices))
        yield "gather", lambda: torch.gather(source, gather.axis, wide(), out=output)


def _wide(indices: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Indices as int64; every call converts other dtypes."""
    return (lambda: indices) if indices.dtype == torch.int64 else indices.long


def _known(indices: torch.Tensor) -> Callable[[], torch.Tensor]:
    """The same for functions that also accept int32."""
    return (lambda: indices) if indices.dtype == torch.int32 else _wide(indices)


def _matrix_product(work: GatherScatter) -> Way:
    """The matrix is made before, as a plan is."""
    source, data, output = map(tensor_of, work.flattened)
    weights, sources, starts = map(tensor_of, work.csr)
    shape = len(output), len(source)
    matrix = torch.sparse_csr_tensor(starts, sources, weights, shape, check_invariants=False)
    return "sparse CSR addmm", lambda: torch.addmm(data, matrix, source, out=output)


def _methods(scatter: Scatter, updates: torch.Tensor) -> Iterator[Method]:
    """The functions that have both forms."""
    reduction, without_old, _ = scatter.how
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
    reduction, without_old, _ = scatter.how
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
    reduction, without_old, _ = scatter.how
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
    reduction, without_old, _ = scatter.how
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
) -> list[Way]:
    """Tuples as numbers of rows or elements, which each call computes first."""
    many = scatter.operator is Operator.SCATTER_ND and scatter.indices.shape[-1] > 1
    if not many or scatter.indices.ndim != 2 or not scatter.output.flags.c_contiguous:
        return []
    count = len(scatter.indices)
    rows, numbers = _rows_of_tuples(scatter, output)
    update = replace(scatter, operator=Operator.SCATTER_UPDATE, indices=np.zeros(count, np.int64))
    methods = _line_methods(update, torch.from_numpy(update.indices), updates)

    def bind(method: Method) -> Way:
        function, arguments = getattr(rows, f"{method.name}_"), method.arguments

        def call() -> None:
            function(*arguments(numbers()), **method.keywords)

        return f"flat {method.name}_", call

    return [bind(method) for method in (*methods, *_element_methods(update, updates))]


def _rows_of_tuples(
    indexed: Indexed, tensor: torch.Tensor
) -> tuple[torch.Tensor, Callable[[], torch.Tensor]]:
    """The tensor as the rows that tuples name, and what computes their numbers."""
    length, shape = indexed.indices.shape[-1], indexed.shape
    tuples = torch.from_numpy(indexed.indices)
    strides = torch.tensor([math.prod(shape[i + 1 : length]) for i in range(length)])
    rows = tensor.view(math.prod(shape[:length]), *shape[length:])
    return rows, lambda: (tuples * strides).sum(-1)


def _slice_updates(
    scatter: Scatter, output: torch.Tensor, updates: torch.Tensor
) -> Iterator[Way]:
    """PyTorch has no negative steps: instead, the updates or the indices are reversed."""
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
) -> Way:
    if reduction in ("min", "max"):
        function = {"min": torch.minimum, "max": torch.maximum}[reduction]
        return f"slice {reduction}imum", lambda: function(target, updates(), out=target)
    method = {"none": "copy_", "add": "add_", "mul": "mul_"}[reduction]
    function = getattr(target, method)
    return f"slice {method}", lambda: function(updates())


def _slice_methods(
    scatter: Scatter, data: torch.Tensor, updates: torch.Tensor
) -> Iterator[Way]:
    """The function that has no form in place."""
    cut = scatter.slice
    if scatter.reduction == "none" and len(cut.axes) == 1 and cut.step[0] > 0:
        bounds = (cut.axes[0], cut.start[0], cut.stop[0], cut.step[0])
        yield "slice_scatter", partial(data.slice_scatter, updates, *bounds)
