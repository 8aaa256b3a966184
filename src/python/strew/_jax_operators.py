# SPDX-License-Identifier: Apache-2.0
"""The operators as JAX sees them: how each is called, gathered from, and called for a batch.

An operator holds all that is fixed when it is traced. It is not a tuple, because compiled programs
are cached by it, and tuples of different classes can be equal. `places` are the arrays that name
destinations. All operators have these methods, and those with indices updates_shape():

    apply()   the call
    gather()  the elements of an array of the shape of data to which the updates go; 0 for dropped
              ones
    thin()    the shapes of data and updates, with 1 for each dim that does not affect the indices
    batch()   one call that does the work of a batch, whose axis is the first one of data, updates
              and, if they are batched, places. Its result has yet to be given the batch's shape.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from strew._jax_indices import signed, widened
from strew._jax_native import CACHE_MODES, Array, How, call, choice, numbers

Shape = tuple[int, ...]
Places = tuple[Array, ...]


class Call(NamedTuple):
    operator: Any
    data: Array
    places: Places
    updates: Array


@dataclass(frozen=True)
class ScatterElements:
    axis: int

    def updates_shape(self, data: Shape, indices: Shape) -> Shape:
        return indices

    def apply(self, how: How, data: Array, places: Places, updates: Array) -> Array:
        return call("scatter_elements", data, *places, updates, **how.attributes(self.axis))

    def gather(self, how: How, source: Array, places: Places, shape: Shape) -> Array:
        (indices,) = places
        axis = axis_of(self.axis, source.ndim)
        keys = [jax.lax.broadcasted_iota(jnp.int32, shape, i) for i in range(len(shape))]
        return _take(how, source, (*keys[:axis], indices, *keys[axis + 1 :]))

    def thin(self, data: Shape, places: Places, updates: Shape) -> tuple[Shape, Shape]:
        return data, updates

    def batch(self, data: Array, places: Places, updates: Array, is_shared: bool) -> Call:
        axis = axis_of(self.axis, data.ndim - 1) + 1
        (indices,) = places
        if is_shared:
            indices = jnp.broadcast_to(indices, (len(data), *indices.shape))
        return Call(ScatterElements(axis), data, (indices,), updates)


@dataclass(frozen=True)
class ScatterNd:
    def updates_shape(self, data: Shape, indices: Shape) -> Shape:
        return indices[:-1] + data[indices[-1] :] if indices else data

    def apply(self, how: How, data: Array, places: Places, updates: Array) -> Array:
        return call("scatter_nd", data, *places, updates, **how.attributes(0))

    def gather(self, how: How, source: Array, places: Places, shape: Shape) -> Array:
        (indices,) = places
        keys = tuple(indices[..., i] for i in range(indices.shape[-1]))
        if keys:
            return _take(how, source, keys)
        return jnp.broadcast_to(source, indices.shape[:-1] + source.shape)

    def thin(self, data: Shape, places: Places, updates: Shape) -> tuple[Shape, Shape]:
        (indices,) = places
        width = indices.shape[-1]
        ones = (1,) * (len(data) - width)
        return data[:width] + ones, indices.shape[:-1] + ones

    def batch(self, data: Array, places: Places, updates: Array, is_shared: bool) -> Call:
        (indices,) = places
        if is_shared:
            indices = jnp.broadcast_to(indices, (len(data), *indices.shape))
        return Call(self, data, (_with_row_numbers(indices),), updates)


@dataclass(frozen=True)
class ScatterUpdate:
    axis: int

    def updates_shape(self, data: Shape, indices: Shape) -> Shape:
        axis = self.axis % max(len(data), 1)
        return data[:axis] + indices + data[axis + 1 :]

    def apply(self, how: How, data: Array, places: Places, updates: Array) -> Array:
        return call("scatter_update", data, *places, updates, **how.attributes(self.axis))

    def gather(self, how: How, source: Array, places: Places, shape: Shape) -> Array:
        before = (slice(None),) * axis_of(self.axis, source.ndim)
        return _take(how, source, (*before, *places))

    def thin(self, data: Shape, places: Places, updates: Shape) -> tuple[Shape, Shape]:
        (indices,) = places
        axis = axis_of(self.axis, len(data))
        before, behind = (1,) * axis, (1,) * (len(data) - axis - 1)
        return (*before, data[axis], *behind), (*before, *indices.shape, *behind)

    def batch(self, data: Array, places: Places, updates: Array, is_shared: bool) -> Call:
        axis = axis_of(self.axis, data.ndim - 1) + 1
        if is_shared:
            return Call(ScatterUpdate(axis), data, places, updates)
        # The dims before the axis are rows, each with the indices of its batch entry.
        (indices,) = places
        rows, inner = math.prod(data.shape[:axis]), data.shape[axis:]
        indices = jnp.repeat(indices.reshape(len(data), -1), rows // max(len(data), 1), axis=0)
        return Call(
            ScatterNd(),
            data.reshape(rows, *inner),
            (_with_row_numbers(indices[..., None]),),
            updates.reshape(*indices.shape, *inner[1:]),
        )


@dataclass(frozen=True)
class SliceScatter:
    """Slices that are known when they are traced."""

    start: tuple[int, ...]
    stop: tuple[int, ...]
    step: tuple[int, ...]
    axes: tuple[int, ...]

    def slices(self, rank: int) -> tuple[slice, ...]:
        found = [slice(None)] * rank
        for axis, *ends in zip(self.axes, self.start, self.stop, self.step):
            found[axis_of(axis, rank)] = slice(*ends)
        return tuple(found)

    def apply(self, how: How, data: Array, places: Places, updates: Array) -> Array:
        lists = {field.name: numbers(getattr(self, field.name)) for field in fields(self)}
        return call("slice_scatter_int64", data, updates, reduction=how.code(), **lists)

    def gather(self, how: How, source: Array, places: Places, shape: Shape) -> Array:
        return source[self.slices(source.ndim)]

    def thin(self, data: Shape, places: Places, updates: Shape) -> tuple[Shape, Shape]:
        return data, updates

    def batch(self, data: Array, places: Places, updates: Array, is_shared: bool) -> Call:
        axes = tuple(axis_of(axis, data.ndim - 1) + 1 for axis in self.axes)
        return Call(replace(self, axes=axes), data, places, updates)


@dataclass(frozen=True)
class DynamicSliceScatter:
    """Slices whose start, stop and step are arrays.

    Updates must have the shape of the slice. They are not broadcast: the gradient would have to be
    summed over dims that are known only when the program runs.
    """

    axes: tuple[int, ...]

    def apply(self, how: How, data: Array, places: Places, updates: Array) -> Array:
        self._check(data.shape, updates.shape)
        axes = numbers(self.axes)
        return call("slice_scatter", data, *places, updates, axes=axes, reduction=how.code())

    def gather(self, how: How, source: Array, places: Places, shape: Shape) -> Array:
        start, _, step = places
        for i, axis in enumerate(self.axes):
            axis = axis_of(axis, source.ndim)
            extent = source.shape[axis]
            first, stride = signed(start[i], extent), signed(step[i], extent)
            first = jnp.where(first < 0, first + extent, first)
            least = jnp.where(stride < 0, -1, 0)
            first = jnp.clip(first, least, extent + least)
            keys = first + stride * jnp.arange(shape[axis], dtype=first.dtype)
            source = jnp.take(source, keys, axis=axis)
        return source

    def thin(self, data: Shape, places: Places, updates: Shape) -> tuple[Shape, Shape]:
        return data, updates

    def batch(self, data: Array, places: Places, updates: Array, is_shared: bool) -> Call | None:
        axes = tuple(axis_of(axis, data.ndim - 1) + 1 for axis in self.axes)
        return Call(DynamicSliceScatter(axes), data, places, updates) if is_shared else None


    def _check(self, data: Shape, updates: Shape) -> None:
        """Refuses updates that no slice has the shape of; the handler compares with the slice."""
        rank = len(data)
        reason = "updates are not broadcast where start, stop or step is an array"
        if len(updates) != rank:
            raise ValueError(f"updates has rank {len(updates)}, but data has rank {rank}: {reason}")
        if any(not -rank <= axis < rank for axis in self.axes):
            return  # strew refuses the axis
        sliced = {axis_of(axis, rank) for axis in self.axes}
        for axis, (found, most) in enumerate(zip(updates, data)):
            if found > most or (found < most and axis not in sliced):
                raise ValueError(
                    f"updates has extent {found} on axis {axis}, but data has {most}: {reason}"
                )


@dataclass(frozen=True)
class TensorScatter:
    axis: int
    mode: str

    def apply(self, how: How, data: Array, places: Places, updates: Array) -> Array:
        mode = choice("mode", CACHE_MODES, self.mode)
        attributes = how.attributes(self.axis, mode)
        return call("tensor_scatter", data, *places, updates, **attributes)

    def gather(self, how: How, source: Array, places: Places, shape: Shape) -> Array:
        axis = axis_of(self.axis, source.ndim)
        extent, count = source.shape[axis], shape[axis]
        (first,) = places
        last = extent - count
        if self.mode == "circular":
            is_valid = first >= 0
            # Every position is valid: the remainder is that of the whole value.
            first = jnp.maximum(widened(first, extent), 0) % max(extent, 1)
            first = signed(first, extent)
        else:
            first = signed(first, extent)
            is_valid = (first >= 0) & (first <= last)
            first = jnp.clip(first, 0, last)
        positions = (first[:, None] + jnp.arange(count, dtype=first.dtype)) % max(extent, 1)
        if how.index_policy == "drop":
            positions = jnp.where(is_valid[:, None], positions, extent)
        # Both axes in front for the gather, and back.
        batches = jnp.arange(len(source))[:, None]
        found = _take(how, jnp.moveaxis(source, axis, 1), (batches, positions))
        return jnp.moveaxis(found, 1, axis)

    def thin(self, data: Shape, places: Places, updates: Shape) -> tuple[Shape, Shape]:
        return data, updates

    def batch(self, data: Array, places: Places, updates: Array, is_shared: bool) -> Call:
        axis_of(self.axis, data.ndim - 1)
        (first,) = places
        if is_shared:
            first = jnp.broadcast_to(first, (len(data), *first.shape))
        merged = (array.reshape(-1, *array.shape[2:]) for array in (data, updates))
        data, updates = merged
        return Call(self, data, (first.reshape(-1),), updates)


def axis_of(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"axis = {axis} is out of range [{-rank}, {rank - 1}] for data")
    return axis % rank


def _take(how: How, source: Array, keys: tuple[Any, ...]) -> Array:
    mode = "clip" if how.index_policy == "clamp" else "fill"
    wrap = how.negative_indices
    keys = tuple(
        key if isinstance(key, slice) else signed(key, extent)
        for key, extent in zip(keys, source.shape)
    )
    return source.at[keys].get(mode=mode, fill_value=0, wrap_negative_indices=wrap)


def _with_row_numbers(indices: Array) -> Array:
    """Tuples with one more index in front: the number of their row, by the first axis."""
    indices = widened(indices)
    if len(indices) > jnp.iinfo(indices.dtype).max:
        raise ValueError(f"{len(indices)} rows are too many for indices of {indices.dtype}")
    shape = (*indices.shape[:-1], 1)
    rows = jax.lax.broadcasted_iota(indices.dtype, shape, 0)
    return jnp.concatenate([rows, indices], axis=-1)
