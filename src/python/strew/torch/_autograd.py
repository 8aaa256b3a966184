# SPDX-License-Identifier: Apache-2.0
"""Registers the gradients of the operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from strew.torch._gradients import NEEDS_VALUES, Scattered, to_shape
from strew.torch._batching import RULES
from strew.torch._library import EAGER, LIBRARY, TRANSFORMED, call, kernel_or_operator
from strew.torch._places import Elements, Kept, Places, Planned, Rows, Slice, Tuples
from strew.torch._registry import plan_of


class Call(NamedTuple):
    """The arguments of an operator that writes updates."""

    data: Tensor
    updates: Tensor
    reduction: str
    exclude_self: bool
    indices: Tensor | None
    # The places of the indices that were kept.
    places: Callable[[Tensor | None], Places]


def _elements(data: Tensor, indices: Tensor, updates: Tensor, axis: int, *how: Any) -> Call:
    return Call(data, updates, how[0], how[1], indices, lambda kept: Elements(_given(kept), axis))


def _update(data: Tensor, indices: Tensor, updates: Tensor, axis: int, *how: Any) -> Call:
    return Call(data, updates, how[0], how[1], indices, lambda kept: Rows(_given(kept), axis))


def _nd(data: Tensor, indices: Tensor, updates: Tensor, *how: Any) -> Call:
    return Call(data, updates, how[0], how[1], indices, lambda kept: Tuples(_given(kept)))


def _slice(data: Tensor, updates: Tensor, *rest: Any) -> Call:
    bounds, how = rest[:4], rest[4:]
    return Call(data, updates, how[0], how[1], None, lambda kept: Slice(*bounds))


def _plan(plan: str, data: Tensor, updates: Tensor, *how: Any) -> Call:
    keep = plan_of(plan)
    return Call(data, updates, how[0], how[1], None, lambda kept: Planned(keep.key))


def _given(kept: Tensor | None) -> Tensor:
    assert kept is not None
    return kept


def _offer(name: str, keep: Callable[..., None], backward: Callable[..., Any]) -> None:
    """As the operator's gradient, and as functions that calls use outside of compilers."""
    torch.library.register_autograd(f"strew::{name}", backward, setup_context=keep, lib=LIBRARY)

    def forward(*arguments: Any) -> Tensor:
        return kernel_or_operator(name, *arguments)

    def forward_and_keep(ctx: Any, *arguments: Any) -> Tensor:
        output = kernel_or_operator(name, *arguments)
        keep(ctx, arguments, output)
        return output

    EAGER[name] = _function(name, forward=forward_and_keep, backward=backward)
    TRANSFORMED[name] = _function(
        name, forward=forward, setup_context=keep, backward=backward, vmap=RULES[name]
    )


def _function(name: str, **parts: Callable[..., Any]) -> type[torch.autograd.Function]:
    methods = {part: staticmethod(function) for part, function in parts.items()}
    return type(name, (torch.autograd.Function,), methods)


def _register(name: str, read: Callable[..., Call], data_at: int, updates_at: int) -> None:
    """For an operator whose data and updates are arguments of these numbers."""

    def keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        given = read(*inputs)
        ctx.places, ctx.count = given.places, len(inputs)
        ctx.how, ctx.updates_shape = (given.reduction, given.exclude_self), given.updates.shape
        values = given.reduction in NEEDS_VALUES
        ctx.save_for_backward(
            given.indices,
            given.data if values else None,
            given.updates if values else None,
            output if values and given.reduction != "mul" else None,
        )

    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        indices, data, updates, result = ctx.saved_tensors
        places = ctx.places(indices)
        needs_data, needs_updates = ctx.needs_input_grad[data_at], ctx.needs_input_grad[updates_at]
        if updates is not None:
            updates = _as_gathered(places, updates, grad)
        reduction, exclude_self = ctx.how
        shape = ctx.updates_shape
        forward = Scattered(places, shape, reduction, exclude_self, data, updates, result)
        of_data, of_updates = forward.gradients(grad, needs_data, needs_updates)
        gradients: list[Tensor | None] = [None] * ctx.count
        gradients[data_at] = of_data
        gradients[updates_at] = to_shape(of_updates, ctx.updates_shape)
        return tuple(gradients)

    _offer(name, keep, backward)


def _as_gathered(places: Places, updates: Tensor, grad: Tensor) -> Tensor:
    """Updates in the shape that gather() returns."""
    if isinstance(places, Slice):
        return updates.expand(places.gather(grad.detach()).shape)
    if isinstance(places, Tuples) and updates.numel() == 1:
        return updates.reshape(places.gather(grad.detach()).shape)
    return updates


_register("scatter_elements", _elements, 0, 2)
_register("scatter_update", _update, 0, 2)
_register("scatter_nd", _nd, 0, 2)
_register("slice_scatter", _slice, 0, 1)
_register("plan_scatter", _plan, 1, 2)


# ---- gather, the other direction ----


def _keep_gather(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    plan, source = inputs
    ctx.plan, ctx.shape = plan_of(plan), source.shape


def _gather_backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
    zeros = grad.new_zeros(ctx.shape)
    return None, Planned(ctx.plan.key).scatter(zeros, grad, "add", wide=True)


_offer("plan_gather", _keep_gather, _gather_backward)


# ---- gather_scatter: both directions in one pass where the reduction is a sum ----


def _keep_gather_scatter(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    from_plan, source, weights, to_plan, data, reduction, exclude_self, _ = inputs
    ctx.plans = plan_of(from_plan), plan_of(to_plan)
    ctx.how, ctx.source_shape = (reduction, exclude_self), source.shape
    values = reduction in NEEDS_VALUES
    ctx.save_for_backward(
        source if values or weights is not None else None,
        weights,
        data if values else None,
        output if values and reduction != "mul" else None,
    )


def _gather_scatter_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    needs_source, needs_weights, needs_data = (ctx.needs_input_grad[i] for i in (1, 2, 4))
    source, weights, data, result = ctx.saved_tensors
    from_plan, to_plan = ctx.plans
    from_places = Planned(from_plan.key)
    reduction, exclude_self = ctx.how
    to_places: Places = Planned(to_plan.key)
    # Entries that from_plan drops add nothing to a sum. Elsewhere they would count as updates of
    # value 0, and with exclude_self as updates that replace the old value.
    if from_plan.dropped and (exclude_self or reduction not in ("add", "sub")):
        ones = torch.ones(ctx.source_shape, dtype=torch.bool, device=grad.device)
        to_places = Kept(to_places, from_places.gather(ones))
    shape = torch.Size(to_plan.updates_shape(grad.shape))
    updates = None
    if data is not None:
        updates = from_places.gather(source)
        updates = updates if weights is None else updates * weights
    forward = Scattered(to_places, shape, reduction, exclude_self, data, updates, result)
    if reduction in ("add", "sub", "mean"):
        of_data, _ = forward.gradients(grad, needs_data, False)
        share = forward.share_of_mean(grad) if reduction == "mean" else grad
        share = -share if reduction == "sub" else share
        of_source = None
        if needs_source:
            # The opposite direction: the plans are exchanged.
            of_source = call(
                "gather_scatter",
                to_plan.key,
                share,
                None if weights is None else weights.conj().resolve_conj(),
                from_plan.key,
                grad.new_zeros(ctx.source_shape),
                "add",
                False,
                True,
            )
        of_updates = to_places.gather(share) if needs_weights else None
    else:
        of_data, of_updates = forward.gradients(grad, needs_data, needs_source or needs_weights)
        of_source = None
        if needs_source:
            assert of_updates is not None
            messages = of_updates if weights is None else of_updates * weights.conj()
            zeros = grad.new_zeros(ctx.source_shape)
            of_source = from_places.scatter(zeros, messages, "add", wide=True)
    of_weights = None
    if needs_weights:
        assert of_updates is not None
        of_weights = to_shape(of_updates * from_places.gather(source).conj(), weights.shape)
    return None, of_source, of_weights, None, of_data, None, None, None


_offer("gather_scatter", _keep_gather_scatter, _gather_scatter_backward)
