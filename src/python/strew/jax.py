# SPDX-License-Identifier: Apache-2.0
"""strew's operators as functions of JAX on the CPU:

    data = strew.jax.scatter_update(data, indices, updates, reduction="add")

They have the names and arguments of those of strew, take JAX arrays, and work below jax.jit(),
jax.grad() and jax.vmap(). XLA runs them on its own threads, in place if data is donated or no
longer needed. Keywords replace strew.Context, and are fixed when a function is traced:

    index_policy      "error", "drop" or "clamp", for indices out of range
    negative_indices  whether -1 is the last
    duplicate_policy  "last" or "error"

Index values are checked when a program runs. A call that strew refuses ends the program with
strew's sentence, as a JaxRuntimeError or a ValueError, and returns no array.

Without jax_enable_x64, JAX has 32-bit indices. Values of NumPy arrays and lists that do not fit
raise strew.IndexRangeError at the call, or are dropped or clamped by the policy. This does not
cover arguments of jax.jit() and other transformations: JAX has already cut these to 32 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from strew._jax_native import Array, How  # first, because its error says what is missing

# isort: split
import jax
import jax.numpy as jnp
import numpy as np

from strew._jax_gradients import scatter
from strew._jax_indices import fitted
from strew._jax_operators import (
    DynamicSliceScatter,
    ScatterElements,
    ScatterNd,
    ScatterUpdate,
    SliceScatter,
    TensorScatter,
)

from strew._jax_plans import (
    Plan,
    gather_scatter,
    plan_scatter_elements,
    plan_scatter_nd,
    plan_scatter_update,
)
from strew._support import numbers_like

if TYPE_CHECKING:
    from strew._strew import CacheMode, DuplicatePolicy, IndexPolicy, Reduction

__all__ = [
    "Plan",
    "gather_scatter",
    "plan_scatter_elements",
    "plan_scatter_nd",
    "plan_scatter_update",
    "scatter_elements",
    "scatter_nd",
    "scatter_update",
    "slice_scatter",
    "tensor_scatter",
]


def scatter_elements(
    data: Any,
    indices: Any,
    updates: Any,
    axis: int = 0,
    *,
    reduction: Reduction = "none",
    exclude_self: bool = False,
    wide: bool = False,
    index_policy: IndexPolicy = "error",
    negative_indices: bool = True,
    duplicate_policy: DuplicatePolicy = "last",
) -> Array:
    """Every update has an index of its own along one axis: see strew.scatter_elements()."""
    how = How(reduction, exclude_self, wide, index_policy, negative_indices, duplicate_policy)
    return _scatter(ScatterElements(int(axis)), how, data, indices, updates)


def scatter_nd(
    data: Any,
    indices: Any,
    updates: Any,
    *,
    reduction: Reduction = "none",
    exclude_self: bool = False,
    wide: bool = False,
    index_policy: IndexPolicy = "error",
    negative_indices: bool = True,
    duplicate_policy: DuplicatePolicy = "last",
) -> Array:
    """Every tuple of indices names an element or a slice of data: see strew.scatter_nd()."""
    how = How(reduction, exclude_self, wide, index_policy, negative_indices, duplicate_policy)
    return _scatter(ScatterNd(), how, data, indices, updates)


def scatter_update(
    data: Any,
    indices: Any,
    updates: Any,
    axis: int = 0,
    *,
    reduction: Reduction = "none",
    exclude_self: bool = False,
    wide: bool = False,
    index_policy: IndexPolicy = "error",
    negative_indices: bool = True,
    duplicate_policy: DuplicatePolicy = "last",
) -> Array:
    """Every index names a slice of one axis: see strew.scatter_update()."""
    how = How(reduction, exclude_self, wide, index_policy, negative_indices, duplicate_policy)
    return _scatter(ScatterUpdate(int(axis)), how, data, indices, updates)


def slice_scatter(
    data: Any,
    updates: Any,
    start: Any,
    stop: Any,
    step: Any = None,
    axes: int | Sequence[int] | None = None,
    *,
    reduction: Reduction = "none",
    exclude_self: bool = False,
    wide: bool = False,
) -> Array:
    """Updates data[start:stop:step, ...], by Python's rules: see strew.slice_scatter().

    start, stop and step are numbers, or scalars or arrays of JAX, which may be traced; updates must
    then have the shape of the slice. The axes are numbers.
    """
    how = How(reduction, exclude_self, wide)
    data = jnp.asarray(data)
    updates = _array_like(data, updates)
    start, stop, step = _stacked(start), _stacked(stop), _stacked(step)
    if any(isinstance(ends, jax.Array) for ends in (start, stop, step)):
        first, last = _ends(data, start, "start"), _ends(data, stop, "stop")
        strides = jnp.ones_like(first) if step is None else _ends(data, step, "step")
        dynamic = DynamicSliceScatter(_axes(axes, len(first)))
        return scatter(dynamic, how, data, (first, last, strides), updates)
    starts, stops = _numbers(start), _numbers(stop)
    steps = (1,) * len(starts) if step is None else _numbers(step)
    sliced = _axes(axes, len(starts))
    if not len(starts) == len(stops) == len(steps) == len(sliced):
        raise ValueError("start, stop, step and axes must have the same length")
    operator = SliceScatter(starts, stops, steps, sliced)
    return scatter(operator, how, data, (), _broadcast(updates, _slice_shape(operator, data)))


def tensor_scatter(
    past_cache: Any,
    update: Any,
    write_indices: Any = None,
    axis: int = -2,
    *,
    mode: CacheMode = "linear",
    index_policy: IndexPolicy = "error",
) -> Array:
    """Writes each batch entry of a cache from its own position on: see strew.tensor_scatter()."""
    how = How(index_policy=index_policy)
    past_cache, axis = jnp.asarray(past_cache), int(axis)
    if write_indices is None:
        write_indices = np.zeros(past_cache.shape[:1], np.int32)
    is_circular = mode == "circular" and -past_cache.ndim <= axis < past_cache.ndim
    period = max(past_cache.shape[axis], 1) if is_circular else 0
    places = _places(how, past_cache, write_indices, "write_indices", period)
    updates = _array_like(past_cache, update)
    return scatter(TensorScatter(axis, mode), how, past_cache, (places,), updates)


def _scatter(operator: Any, how: How, data: Any, indices: Any, updates: Any) -> Array:
    data = jnp.asarray(data)
    places = _places(how, data, indices)
    shape = operator.updates_shape(data.shape, places.shape)
    updates = _broadcast(_array_like(data, updates), shape)
    return scatter(operator, how, data, (places,), updates)


def _array_like(data: Array, updates: Any) -> Array:
    """Updates as an array of JAX. Numbers and lists take the dtype of data."""
    if isinstance(updates, (bool, int, float, complex, list, tuple)):
        updates = _stacked(updates)
        if not isinstance(updates, jax.Array):
            updates = numbers_like(updates, data, data.dtype.name)
    array = jnp.asarray(updates)
    if array.dtype != data.dtype:
        raise ValueError(f"updates has dtype {array.dtype}, but data has dtype {data.dtype}")
    return array


def _broadcast(updates: Array, shape: tuple[int, ...]) -> Array:
    """Updates in the shape, if NumPy broadcasts them to it; strew refuses others."""
    if updates.shape == shape:
        return updates
    if shape == () and updates.size == 1:
        return updates.reshape(())
    try:
        return jnp.broadcast_to(updates, shape)
    except ValueError:
        return updates


def _stacked(values: Any) -> Any:
    """A list with arrays or tracers among its numbers as one array."""
    if not isinstance(values, (list, tuple)):
        return values
    leaves = jax.tree_util.tree_leaves(values)
    return jnp.asarray(values) if any(isinstance(leaf, jax.Array) for leaf in leaves) else values


def _places(how: How, data: Array, indices: Any, name: str = "indices", period: int = 0) -> Array:
    """Indices as an array of JAX: fitted() says what happens to those that do not fit one."""
    longest = max(data.shape, default=0)
    return jnp.asarray(fitted(name, _indices(indices), how.index_policy, longest, period))


def _ends(data: Array, ends: Any, name: str) -> Array:
    """Starts, stops or steps of slices, clamped by Python's rules."""
    return jnp.atleast_1d(_places(How(index_policy="clamp"), data, ends, name))


def _indices(indices: Any) -> Any:
    """The indices as an array; an empty list counts as integers."""
    is_list = isinstance(indices, (list, tuple))
    if is_list and np.size(indices) == 0:
        return np.empty(np.shape(indices), np.int32)
    return indices


def _numbers(values: Any) -> tuple[int, ...]:
    array = np.atleast_1d(np.asarray(_indices(values)))
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"start, stop, step and axes are integers or lists of them: {values!r}")
    return tuple(map(int, array))


def _axes(axes: Any, count: int) -> tuple[int, ...]:
    return tuple(range(count)) if axes is None else _numbers(axes)


def _slice_shape(operator: SliceScatter, data: Array) -> tuple[int, ...]:
    """The shape of the slice; that of data where strew refuses the call."""
    if 0 in operator.step or any(not -data.ndim <= axis < data.ndim for axis in operator.axes):
        return tuple(data.shape)
    ends = zip(data.shape, operator.slices(data.ndim))
    return tuple(len(range(*one.indices(extent))) for extent, one in ends)
