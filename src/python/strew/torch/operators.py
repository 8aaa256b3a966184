# SPDX-License-Identifier: Apache-2.0
"""The operators as functions; public in strew.torch."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from strew._support import Error
from strew.torch._calls import CALLS, are_plain, code_of, reraise
from strew.torch._library import call, call_into, written

if TYPE_CHECKING:
    from strew._strew import Reduction

Bounds = int | Sequence[int]

_empty_like = torch.empty_like


def scatter_elements(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis: int = 0,
    *,
    reduction: Reduction = "none",
    exclude_self: bool = False,
    wide: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """strew.scatter_elements() of tensors; like Tensor.scatter_reduce(), in order and checked."""
    if are_plain(data, indices, updates, out):
        output = _empty_like(data) if out is None else out
        code = code_of(reduction, exclude_self, wide)
        try:
            CALLS.scatter_elements(data, indices, updates, axis, code, output, True)
        except Error as error:
            reraise(error)
        return output if out is None else written(out)
    arguments = (data, indices, updates, axis, reduction, exclude_self, wide)
    if out is None:
        return call("scatter_elements", *arguments)
    return call_into(out, "scatter_elements", *arguments)


def scatter_update(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis: int = 0,
    *,
    reduction: Reduction = "none",
    exclude_self: bool = False,
    wide: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """strew.scatter_update() of tensors; like Tensor.index_reduce(), with indices of any rank."""
    if are_plain(data, indices, updates, out):
        output = _empty_like(data) if out is None else out
        code = code_of(reduction, exclude_self, wide)
        try:
            CALLS.scatter_update(data, indices, updates, axis, code, output, True)
        except Error as error:
            reraise(error)
        return output if out is None else written(out)
    arguments = (data, indices, updates, axis, reduction, exclude_self, wide)
    if out is None:
        return call("scatter_update", *arguments)
    return call_into(out, "scatter_update", *arguments)


def scatter_nd(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    reduction: Reduction = "none",
    exclude_self: bool = False,
    wide: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """strew.scatter_nd() of tensors; like Tensor.index_put(), with tuples as rows of a tensor."""
    if are_plain(data, indices, updates, out):
        output = _empty_like(data) if out is None else out
        try:
            code = code_of(reduction, exclude_self, wide)
            CALLS.scatter_nd(data, indices, updates, code, output)
        except Error as error:
            reraise(error)
        return output if out is None else written(out)
    arguments = (data, indices, updates, reduction, exclude_self, wide)
    if out is None:
        return call("scatter_nd", *arguments)
    return call_into(out, "scatter_nd", *arguments)


def slice_scatter(
    data: Tensor,
    updates: Tensor,
    start: Bounds,
    stop: Bounds,
    step: Bounds | None = None,
    axes: Bounds | None = None,
    *,
    reduction: Reduction = "none",
    exclude_self: bool = False,
    wide: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """strew.slice_scatter() of tensors: several axes, steps of either sign, updates broadcast."""
    starts, stops = _numbers(start), _numbers(stop)
    steps = [1] * len(starts) if step is None else _numbers(step)
    sliced = list(range(len(starts))) if axes is None else _numbers(axes)
    bounds = (starts, stops, steps, sliced)
    if are_plain(data, updates, out):
        output = _empty_like(data) if out is None else out
        try:
            code = code_of(reduction, exclude_self, wide)
            CALLS.slice_scatter(data, updates, *bounds, code, output)
        except Error as error:
            reraise(error)
        return output if out is None else written(out)
    arguments = (data, updates, *bounds, reduction, exclude_self, wide)
    if out is None:
        return call("slice_scatter", *arguments)
    return call_into(out, "slice_scatter", *arguments)


def _numbers(given: Bounds) -> list[int]:
    if isinstance(given, (int, torch.SymInt)):
        return [given]
    return [operator.index(given)] if hasattr(given, "__index__") else list(given)
