# SPDX-License-Identifier: Apache-2.0
"""vmap: the batch becomes one more dim of one call, where the operator has a place for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from strew._support import Error
from strew.torch._library import LIBRARY, call
from strew.torch._registry import plan_of

Dims = tuple[int | None, ...]
Batched = tuple[Tensor, int | None]


def _at(place: int, tensor: Tensor, dim: int | None, size: int) -> Tensor:
    """The tensor with the batch at a place, repeated where it has none."""
    if dim is not None:
        return tensor.movedim(dim, place)
    shape = [size, *tensor.shape] if place == 0 else [*tensor.shape, size]
    return tensor.unsqueeze(place).expand(shape)


def _sample_shape(tensor: Tensor, dim: int | None) -> tuple[int, ...]:
    shape = list(tensor.shape)
    if dim is not None:
        del shape[dim]
    return tuple(shape)


def _axis(axis: int, data: Tensor, name: str = "axis") -> int:
    """The axis in data [B, ...] of a sample's axis.

    An axis that the sample does not have could name the batch. It is refused here, with the
    operator's sentence for a sample.
    """
    rank = data.dim() - 1
    if rank == 0:
        sentence = "data has rank 0, but the rank must be 1 or more"
        raise Error(sentence, "STREW_INVALID_SHAPE")
    if not -rank <= axis < rank:
        sentence = f"{name} = {axis} is out of range [{-rank}, {rank - 1}] for data of rank {rank}"
        raise Error(sentence, "STREW_INVALID_AXIS")
    return axis % rank + 1


def _with_batch(indices: Tensor) -> Tensor:
    """Tuples [B, ..., k] of a batch with the number of the sample in front: [B, ..., 1 + k]."""
    size = indices.shape[0]
    numbers = torch.arange(size, device=indices.device).reshape(size, *[1] * (indices.dim() - 1))
    return torch.cat([numbers.expand(*indices.shape[:-1], 1), indices.long()], -1)


def _elements(
    info: Any, dims: Dims, data: Tensor, indices: Tensor, updates: Tensor, axis: int, *how: Any
) -> Batched:
    size = info.batch_size
    moved = [_at(0, t, dim, size) for t, dim in zip((data, indices, updates), dims)]
    return call("scatter_elements", *moved, _axis(axis, moved[0]), *how), 0


def _nd(
    info: Any, dims: Dims, data: Tensor, indices: Tensor, updates: Tensor, *how: Any
) -> Batched:
    size = info.batch_size
    tuples = _sample_shape(indices, dims[1])
    if not tuples or len(_sample_shape(data, dims[0])) < max(tuples[-1], 1):
        # The operator would refuse a sample, but could mistake the batch for one of its dims.
        arguments = [data, indices, updates, *how]
        return _one_by_one(info, dims, partial(call, "scatter_nd"), arguments)
    if dims[1] is None:
        whole = data.dim() - (dims[0] is not None)
        if whole == indices.shape[-1] and indices.dim() == 1:
            updates = _one_element(updates, dims[2], size)
            dims = (dims[0], None, 0)
        moved = [_at(-1, data, dims[0], size), indices, _at(-1, updates, dims[2], size)]
        return call("scatter_nd", *moved, *how), -1 % moved[0].dim()
    data, indices = _at(0, data, dims[0], size), _at(0, indices, dims[1], size)
    if data.dim() - 1 == indices.shape[-1] and indices.dim() == 2:
        updates = _one_element(updates, dims[2], size)
    else:
        updates = _at(0, updates, dims[2], size)
    return call("scatter_nd", data, _with_batch(indices), updates, *how), 0


def _one_element(updates: Tensor, dim: int | None, size: int) -> Tensor:
    """Updates whose samples have a single element, in any shape, as [B].

    Others stay as they are, [B, ...], and the operator refuses them.
    """
    updates = _at(0, updates, dim, size)
    return updates.reshape(size) if updates.numel() == size else updates


def _update(
    info: Any, dims: Dims, data: Tensor, indices: Tensor, updates: Tensor, axis: int, *how: Any
) -> Batched:
    size = info.batch_size
    data, updates = _at(0, data, dims[0], size), _at(0, updates, dims[2], size)
    axis = _axis(axis, data)
    if dims[1] is None:
        return call("scatter_update", data, indices, updates, axis, *how), 0
    # Each sample has its own indices: they become tuples of the sample's number and the index.
    indices = indices.movedim(dims[1], 0)
    outer = list(range(1, 1 + indices.dim() - 1))
    tuples = _with_batch(indices[..., None])
    moved = updates.movedim([axis - 1 + place for place in outer], outer)
    result = call("scatter_nd", data.movedim(axis, 1), tuples, moved, *how)
    return result.movedim(1, axis), 0


def _slice(
    info: Any, dims: Dims, data: Tensor, updates: Tensor, start: Any, stop: Any, step: Any,
    axes: Sequence[int], *how: Any
) -> Batched:  # fmt: skip
    size = info.batch_size
    data, updates = _at(0, data, dims[0], size), _at(0, updates, dims[1], size)
    missing = data.dim() - updates.dim()
    updates = updates.reshape(size, *[1] * missing, *updates.shape[1:])
    axes = [_axis(axis, data, f"axes[{i}]") for i, axis in enumerate(axes)]
    return call("slice_scatter", data, updates, start, stop, step, axes, *how), 0


def _plan_place(key: str, sample: Sequence[int]) -> int | None:
    """The position of one more dim in tensors of a plan.

    None for plans of all dims, and for samples that lack a dim of the plan: the operator would
    refuse these, but could mistake the batch for the dim.
    """
    plan = plan_of(key)
    needed = plan.axis + len(plan.extents) if plan.axis >= 0 else -plan.axis
    if plan.kind == "elements" or len(sample) < max(needed, 1):
        return None
    return -1 if plan.axis >= 0 else 0


def _one_by_one(
    info: Any, dims: Dims, operator: Callable[..., Tensor], arguments: Sequence[Any]
) -> Batched:
    size = info.batch_size
    if size == 0:
        # A call on zeros gives the shape and the dtype of a sample, and is refused like one.
        arguments = [a if dim is None else _with_zeros(a, dim) for a, dim in zip(arguments, dims)]
    samples = [
        operator(*(a if dim is None else a.select(dim, i) for a, dim in zip(arguments, dims)))
        for i in range(max(size, 1))
    ]
    stacked = torch.stack(samples)
    return stacked if size > 0 else stacked[:0], 0


def _with_zeros(empty: Tensor, dim: int) -> Tensor:
    """A batch of one sample of zeros in place of an empty batch."""
    shape = list(empty.shape)
    shape[dim] = 1
    return torch.cat([empty, empty.new_zeros(shape)], dim)


def _plan_scatter(
    info: Any, dims: Dims, plan: str, data: Tensor, updates: Tensor, *how: Any
) -> Batched:
    sample = _sample_shape(data, dims[1])
    operator, place = partial(call, "plan_scatter"), _plan_place(plan, sample)
    if place is None:
        return _one_by_one(info, dims, operator, [plan, data, updates, *how])
    size = info.batch_size
    if plan_of(plan).updates_shape(sample) == ():
        updates, dims = _one_element(updates, dims[2], size), (*dims[:2], 0)
    data, updates = _at(place, data, dims[1], size), _at(place, updates, dims[2], size)
    return operator(plan, data, updates, *how), place % data.dim()


def _plan_gather(info: Any, dims: Dims, plan: str, source: Tensor) -> Batched:
    place = _plan_place(plan, _sample_shape(source, dims[1]))
    operator = partial(call, "plan_gather")
    if place is None or dims[1] is None:
        return _one_by_one(info, dims, operator, [plan, source])
    gathered = operator(plan, source.movedim(dims[1], place))
    return gathered, place % gathered.dim()


def _gather_scatter(
    info: Any, dims: Dims, from_plan: str, source: Tensor, weights: Tensor | None, to_plan: str,
    data: Tensor, *how: Any
) -> Batched:  # fmt: skip
    operator = partial(call, "gather_scatter")
    places = [
        _plan_place(from_plan, _sample_shape(source, dims[1])),
        _plan_place(to_plan, _sample_shape(data, dims[4])),
    ]
    if places != [-1, -1]:
        arguments = [from_plan, source, weights, to_plan, data, *how]
        return _one_by_one(info, dims, operator, arguments)
    size = info.batch_size
    source, data = _at(-1, source, dims[1], size), _at(-1, data, dims[4], size)
    if weights is not None:
        weights = weights.unsqueeze(-1) if dims[2] is None else weights.movedim(dims[2], -1)
    return operator(from_plan, source, weights, to_plan, data, *how), data.dim() - 1


RULES: dict[str, Callable[..., Batched]] = {
    "scatter_elements": _elements,
    "scatter_nd": _nd,
    "scatter_update": _update,
    "slice_scatter": _slice,
    "plan_scatter": _plan_scatter,
    "plan_gather": _plan_gather,
    "gather_scatter": _gather_scatter,
}
for _name, _rule in RULES.items():
    torch.library.register_vmap(f"strew::{_name}", _rule, lib=LIBRARY)
