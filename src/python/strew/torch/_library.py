# SPDX-License-Identifier: Apache-2.0
"""The operators torch.ops.strew.*: schemas, CPU kernels, and kernels that compute only shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from strew._support import Error
from strew.torch._calls import (
    CALLS,
    are_plain,
    are_recorded,
    are_transformed,
    code_of,
    refuse_gradients,
    reraise,
)
from strew.torch._registry import plan_of

LIBRARY = torch.library.Library("strew", "DEF")

_HOW = "str reduction, bool exclude_self, bool wide"
# Each has a variant that ends in _out, writes to a given tensor, and returns nothing.
SCHEMAS = {
    "scatter_elements": f"Tensor data, Tensor indices, Tensor updates, int axis, {_HOW}",
    "scatter_update": f"Tensor data, Tensor indices, Tensor updates, int axis, {_HOW}",
    "scatter_nd": f"Tensor data, Tensor indices, Tensor updates, {_HOW}",
    "slice_scatter": "Tensor data, Tensor updates, SymInt[] start, SymInt[] stop, SymInt[] step, "
    f"int[] axes, {_HOW}",
    "plan_scatter": f"str plan, Tensor data, Tensor updates, {_HOW}",
    "plan_gather": "str plan, Tensor source",
    "gather_scatter": "str from_plan, Tensor source, Tensor? weights, str to_plan, Tensor data, "
    + _HOW,
}


def scatter_elements(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis: int,
    reduction: str,
    exclude_self: bool,
    wide: bool,
    out: Tensor,
) -> None:
    code = code_of(reduction, exclude_self, wide)
    CALLS.scatter_elements(data, indices, updates, axis, code, out, True)


def scatter_update(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis: int,
    reduction: str,
    exclude_self: bool,
    wide: bool,
    out: Tensor,
) -> None:
    code = code_of(reduction, exclude_self, wide)
    CALLS.scatter_update(data, indices, updates, axis, code, out, True)


def scatter_nd(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    reduction: str,
    exclude_self: bool,
    wide: bool,
    out: Tensor,
) -> None:
    CALLS.scatter_nd(data, indices, updates, code_of(reduction, exclude_self, wide), out)


def slice_scatter(
    data: Tensor,
    updates: Tensor,
    start: Sequence[int],
    stop: Sequence[int],
    step: Sequence[int],
    axes: Sequence[int],
    reduction: str,
    exclude_self: bool,
    wide: bool,
    out: Tensor,
) -> None:
    code = code_of(reduction, exclude_self, wide)
    CALLS.slice_scatter(data, updates, start, stop, step, axes, code, out)


def plan_scatter(
    plan: str,
    data: Tensor,
    updates: Tensor,
    reduction: str,
    exclude_self: bool,
    wide: bool,
    out: Tensor,
) -> None:
    code = code_of(reduction, exclude_self, wide)
    CALLS.plan_scatter(plan_of(plan).handle, data, updates, code, out)


def plan_gather(plan: str, source: Tensor, out: Tensor) -> None:
    CALLS.plan_gather(plan_of(plan).handle, source, out)


def gather_scatter(
    from_plan: str,
    source: Tensor,
    weights: Tensor | None,
    to_plan: str,
    data: Tensor,
    reduction: str,
    exclude_self: bool,
    wide: bool,
    out: Tensor,
) -> None:
    code = code_of(reduction, exclude_self, wide)
    from_handle, to_handle = plan_of(from_plan).handle, plan_of(to_plan).handle
    CALLS.gather_scatter(from_handle, source, to_handle, data, weights, code, out)


def written(out: Tensor) -> Tensor:
    """The tensor, after autograd is told that it was written."""
    if not out.is_inference():
        torch.autograd.graph.increment_version(out)
    return out


def new_gathered(plan: str, source: Tensor) -> Tensor:
    """Zeros where an entry was dropped, which gather() leaves alone."""
    planned = plan_of(plan)
    shape = planned.updates_shape(source.shape)
    return source.new_zeros(shape) if planned.dropped else source.new_empty(shape)


# The operand whose shape and strides the result has, by its place.
_LIKE = {"plan_gather": -1, "plan_scatter": 1, "gather_scatter": 4}


def _new_output(name: str) -> Callable[..., Tensor]:
    if name == "plan_gather":
        return new_gathered
    place = _LIKE.get(name, 0)

    def new(*arguments: Any) -> Tensor:
        return torch.empty_like(arguments[place])

    return new


_KERNELS: dict[str, Callable[..., Tensor]] = {}
# Functions with gradients by the name of the operator: of autograd alone, and of torch.func.
EAGER: dict[str, type[torch.autograd.Function]] = {}
TRANSFORMED: dict[str, type[torch.autograd.Function]] = {}


def call(name: str, *arguments: Any) -> Tensor:
    """The operator, called in the cheapest way that does what the call needs.

    Compilers and modes see the operator of the dispatcher. Otherwise a function of autograd
    replaces it, which takes 16 us instead of 36. torch.func cannot differentiate the operator; for
    a function that it can differentiate, it takes 12 us more.
    """
    result: Tensor
    if are_recorded():
        return getattr(torch.ops.strew, name)(*arguments)  # type: ignore[no-any-return]
    tensors = _tensors_of(name, arguments)
    if are_plain(*tensors):
        result = _KERNELS[name](*arguments)
    else:
        functions = TRANSFORMED if are_transformed() else EAGER
        result = functions[name].apply(*arguments)
    return result


_ARGUMENTS = (Tensor, str, int, list, tuple, type(None), torch.SymInt)


def _tensors_of(name: str, arguments: Sequence[Any]) -> list[Tensor]:
    """The tensors of a call, at least one; arrays of other libraries are refused."""
    for argument in arguments:
        if not isinstance(argument, _ARGUMENTS):
            kind = type(argument).__name__
            raise TypeError(f"{name}(): an operand must be a torch.Tensor, not {kind}")
    tensors = [a for a in arguments if isinstance(a, Tensor)]
    if not tensors:
        raise TypeError(f"{name}() was called without a torch.Tensor")
    return tensors


def call_into(out: Tensor, name: str, *arguments: Any) -> Tensor:
    """The operator with a result in `out`, for calls that the dispatcher must see."""
    refuse_gradients(out, *(a for a in arguments if isinstance(a, Tensor)))
    # A copy if the elements in memory are not those of the view.
    written = out.resolve_conj().resolve_neg()
    getattr(torch.ops.strew, f"{name}_out")(*arguments, out=written)
    return out if written is out else out.copy_(written)


def kernel_or_operator(name: str, *arguments: Any) -> Tensor:
    """The operator within a function of autograd."""
    if are_plain(*(a for a in arguments if isinstance(a, Tensor))):
        return _KERNELS[name](*arguments)
    result: Tensor = getattr(torch.ops.strew, name)(*arguments)
    return result


def _define(name: str, write: Callable[..., None]) -> None:
    new = _new_output(name)

    def functional(*arguments: Any) -> Tensor:
        output = new(*arguments)
        try:
            write(*arguments, output)
        except Error as error:
            reraise(error)
        return output

    def into(*arguments: Any, out: Tensor) -> None:
        try:
            write(*arguments, out)
        except Error as error:
            reraise(error)
        written(out)

    def nothing(*arguments: Any, out: Tensor) -> None:
        pass

    def fake(*arguments: Any) -> Tensor:
        # The dispatcher also calls this for tensors of which only some have no memory.
        devices = {a.device.type for a in arguments if isinstance(a, Tensor)}
        if len(devices) > 1:
            raise RuntimeError(f"tensors are on different devices: {', '.join(sorted(devices))}")
        return new(*arguments)

    _KERNELS[name] = functional
    LIBRARY.define(f"{name}({SCHEMAS[name]}) -> Tensor")
    LIBRARY.impl(name, functional, "CPU")
    torch.library.register_fake(f"strew::{name}", fake, lib=LIBRARY)
    LIBRARY.define(f"{name}_out({SCHEMAS[name]}, *, Tensor(a!) out) -> ()")
    LIBRARY.impl(f"{name}_out", into, "CPU")
    torch.library.register_fake(f"strew::{name}_out", nothing, lib=LIBRARY)


for _name in SCHEMAS:
    _define(_name, globals()[_name])
