# SPDX-License-Identifier: Apache-2.0
"""Plans for calls on tensors; public in strew.torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import torch
from torch import Tensor

import strew
from strew._support import Error
from strew.torch._calls import CALLS, are_plain, code_of, reraise
from strew.torch._library import call, call_into, new_gathered, written
from strew.torch._registry import Planned

if TYPE_CHECKING:
    from collections.abc import Callable

    from strew._strew import DuplicatePolicy, IndexPolicy, Reduction


class Plan:
    """Indices that are checked and put in order once: strew.Plan for tensors, with gradients.

    Keep the object as long as calls and gradients of compiled functions need it. It cannot be
    pickled. torch.compile() compiles a function again for each plan.
    """

    __module__ = "strew.torch"  # where it is public

    def __init__(self, planned: Planned) -> None:
        self._planned = planned
        self._key = planned.key

    def scatter(
        self,
        data: Tensor,
        updates: Tensor,
        *,
        reduction: Reduction = "none",
        exclude_self: bool = False,
        wide: bool = False,
        out: Tensor | None = None,
    ) -> Tensor:
        """The operator of the plan, without reading the indices again."""
        if are_plain(data, updates, out):
            output = torch.empty_like(data) if out is None else out
            code = code_of(reduction, exclude_self, wide)
            try:
                CALLS.plan_scatter(self._planned.handle, data, updates, code, output)
            except Error as error:
                reraise(error)
            return output if out is None else written(out)
        arguments = (self._key, data, updates, reduction, exclude_self, wide)
        if out is None:
            return call("plan_scatter", *arguments)
        return call_into(out, "plan_scatter", *arguments)

    def gather(self, source: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The opposite direction: the elements at the places, and zeros for dropped entries."""
        if are_plain(source, out):
            output = new_gathered(self._key, source) if out is None else out
            try:
                CALLS.plan_gather(self._planned.handle, source, output)
            except Error as error:
                reraise(error)
            return output if out is None else written(out)
        if out is None:
            return call("plan_gather", self._key, source)
        return call_into(out, "plan_gather", self._key, source)

    @property
    def entries(self) -> int:
        """The number of index values or, for scatter_nd, of tuples."""
        return self._planned.handle.entries

    @property
    def dropped(self) -> int:
        """The entries that index_policy "drop" skips in every call."""
        return self._planned.dropped

    @property
    def memory(self) -> int:
        """The memory of the plan, in bytes."""
        return self._planned.handle.memory

    def __repr__(self) -> str:
        return repr(self._planned.handle).replace("strew.Plan", "strew.torch.Plan")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Plan cannot be pickled: make it from its indices where it is needed")


def gather_scatter(
    from_plan: Plan,
    source: Tensor,
    to_plan: Plan,
    data: Tensor,
    weights: Tensor | None = None,
    *,
    reduction: Reduction = "add",
    exclude_self: bool = False,
    wide: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """strew.gather_scatter() of tensors: `data` with weights * rows of `source`, in one pass."""
    if not (isinstance(from_plan, Plan) and isinstance(to_plan, Plan)):
        raise TypeError("from_plan and to_plan must be plans of strew.torch")
    if are_plain(source, data, weights, out):
        output = torch.empty_like(data) if out is None else out
        code = code_of(reduction, exclude_self, wide)
        handles = from_plan._planned.handle, to_plan._planned.handle
        try:
            CALLS.gather_scatter(handles[0], source, handles[1], data, weights, code, output)
        except Error as error:
            reraise(error)
        return output if out is None else written(out)
    keys = from_plan._key, to_plan._key
    arguments = (keys[0], source, weights, keys[1], data, reduction, exclude_self, wide)
    if out is None:
        return call("gather_scatter", *arguments)
    return call_into(out, "gather_scatter", *arguments)


def plan_scatter_elements(
    indices: Tensor,
    extent: int,
    axis: int = 0,
    *,
    index_policy: IndexPolicy = "error",
    negative_indices: bool = True,
    duplicate_policy: DuplicatePolicy = "last",
) -> Plan:
    """A plan for the indices of scatter_elements(); `extent` is the size of data on the axis."""
    policies = (index_policy, negative_indices, duplicate_policy)
    return _plan("elements", indices, axis, (extent,), policies)


def plan_scatter_update(
    indices: Tensor,
    extent: int,
    axis: int = 0,
    *,
    index_policy: IndexPolicy = "error",
    negative_indices: bool = True,
    duplicate_policy: DuplicatePolicy = "last",
) -> Plan:
    """A plan for the indices of scatter_update(); `extent` is the size of data on the axis."""
    policies = (index_policy, negative_indices, duplicate_policy)
    return _plan("update", indices, axis, (extent,), policies)


def plan_scatter_nd(
    indices: Tensor,
    extents: Sequence[int],
    *,
    index_policy: IndexPolicy = "error",
    negative_indices: bool = True,
    duplicate_policy: DuplicatePolicy = "last",
) -> Plan:
    """A plan for the tuples of scatter_nd(); `extents` is data.shape[:k]."""
    policies = (index_policy, negative_indices, duplicate_policy)
    return _plan("nd", indices, 0, tuple(extents), policies)


def _new_plan(
    kind: str,
    indices: Tensor,
    axis: int,
    extents: tuple[int, ...],
    policies: tuple[IndexPolicy, bool, DuplicatePolicy],
) -> Plan:
    if not isinstance(indices, Tensor):
        raise TypeError(f"indices must be a torch.Tensor, not {type(indices).__name__}")
    index_policy, negative_indices, duplicate_policy = policies
    context = strew.Context(
        index_policy=index_policy,
        negative_indices=negative_indices,
        duplicate_policy=duplicate_policy,
    )
    CALLS.lend_threads(context)
    try:
        if kind == "nd":
            handle = strew.plan_scatter_nd(indices, extents, context=context)
        else:
            make = strew.plan_scatter_elements if kind == "elements" else strew.plan_scatter_update
            handle = make(indices, extents[0], axis, context=context)
    except Error as error:
        reraise(error)
    return Plan(Planned(handle, kind, tuple(indices.shape), axis, extents))


# Compiled functions call it uncompiled, because its result is not a tensor.
_plan: Callable[..., Plan] = torch.compiler.disable(_new_plan)
