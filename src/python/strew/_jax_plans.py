# SPDX-License-Identifier: Apache-2.0
"""Plans for JAX programs; public in strew.jax."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from strew._jax_indices import fitted
from strew._jax_native import (
    DUPLICATE_POLICIES,
    INDEX_POLICIES,
    Array,
    How,
    call,
    choice,
    drop_plan,
    numbers,
)
from strew._jax_operators import ScatterElements, ScatterNd, ScatterUpdate

if TYPE_CHECKING:
    from strew._strew import DuplicatePolicy, IndexPolicy, Reduction

ELEMENTS, ND, UPDATE = range(3)  # as in src/jax/plan_handlers.cc
ALIGNMENT = 64  # of memory that JAX takes as it is

Shape = tuple[int, ...]


@jax.tree_util.register_pytree_node_class
class Plan:
    """Indices that are checked and put in order by destination once.

    plan_scatter_elements(), plan_scatter_nd() and plan_scatter_update() make plans, outside of
    jax.jit(). Functions may take them as arguments or close over them. To JAX a plan is its number,
    in an array whose memory belongs to the plan: both live until JAX needs neither.
    """

    __module__ = "strew.jax"  # where it is public

    def __init__(self, number: Array, kind: int, axis: int, indices: Shape) -> None:
        self._number, self._about = number, (kind, axis, indices)

    def tree_flatten(self) -> tuple[tuple[Array], tuple[int, int, Shape]]:
        """The array of a plan, and what is fixed about it, for jax.tree_util."""
        return (self._number,), self._about

    @classmethod
    def tree_unflatten(cls, about: tuple[int, int, Shape], leaves: tuple[Array]) -> Plan:
        """The plan of what tree_flatten() gave, for jax.tree_util."""
        return cls(leaves[0], *about)

    def __copy__(self) -> Plan:
        return self

    def __deepcopy__(self, memo: Any) -> Plan:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Plan cannot be pickled: make it from its indices where it is needed")

    def gather(self, source: Any) -> Array:
        """output[i] = source[the place of update i]; 0 for dropped entries. It has no gradient."""
        gathered: Array = _gather(self, jnp.asarray(source))
        return gathered

    def _updates(self, data: Shape) -> Shape:
        """The shape of updates for data of a shape."""
        kind, axis, indices = self._about
        if kind == ELEMENTS:
            return ScatterElements(axis).updates_shape(data, indices)
        if kind == ND:
            return ScatterNd().updates_shape(data, indices)
        return ScatterUpdate(axis).updates_shape(data, indices)


@jax.custom_vjp
def _gather(plan: Plan, source: Array) -> Array:
    output = jnp.zeros(plan._updates(source.shape), source.dtype)
    return call("plan_gather", output, source, plan._number)


def _gather_forward(plan: Plan, source: Array) -> tuple[Array, None]:
    return _gather(plan, source), None


def _gather_backward(residuals: None, g: Array) -> NoReturn:
    raise NotImplementedError(
        "Plan.gather() has no gradient, nor have the gradients of gather_scatter() with weights"
    )


_gather.defvjp(_gather_forward, _gather_backward)


def plan_scatter_elements(
    indices: Any,
    extent: int,
    axis: int = 0,
    *,
    index_policy: IndexPolicy = "error",
    negative_indices: bool = True,
    duplicate_policy: DuplicatePolicy = "last",
) -> Plan:
    """A plan for indices of scatter_elements(), and data of that extent on the axis."""
    how = How("none", False, False, index_policy, negative_indices, duplicate_policy)
    return _make(indices, ELEMENTS, int(axis), [_extent(extent)], how)


def plan_scatter_nd(
    indices: Any,
    extents: Sequence[int],
    *,
    index_policy: IndexPolicy = "error",
    negative_indices: bool = True,
    duplicate_policy: DuplicatePolicy = "last",
) -> Plan:
    """A plan for indices of scatter_nd(), and data of these extents on the first axes."""
    how = How("none", False, False, index_policy, negative_indices, duplicate_policy)
    return _make(indices, ND, 0, extents, how)


def plan_scatter_update(
    indices: Any,
    extent: int,
    axis: int = 0,
    *,
    index_policy: IndexPolicy = "error",
    negative_indices: bool = True,
    duplicate_policy: DuplicatePolicy = "last",
) -> Plan:
    """A plan for indices of scatter_update(), and data of that extent on the axis."""
    how = How("none", False, False, index_policy, negative_indices, duplicate_policy)
    return _make(indices, UPDATE, int(axis), [_extent(extent)], how)


def gather_scatter(
    from_plan: Plan,
    source: Any,
    to_plan: Plan,
    data: Any,
    weights: Any = None,
    *,
    reduction: Reduction = "add",
    exclude_self: bool = False,
    wide: bool = False,
) -> Array:
    """Gathers rows of one array and scatters them into another: see strew.gather_scatter().

    Gradients exist for "add" and "sub" without exclude_self.
    """
    source, data = jnp.asarray(source), jnp.asarray(data)
    factors = None if weights is None else jnp.asarray(weights)
    program = _differentiable(How(reduction, exclude_self, wide))
    output: Array = program(from_plan, source, to_plan, data, factors)
    return output


def _extent(extent: Any) -> int:
    try:
        return operator.index(extent)
    except TypeError:
        raise TypeError(f"extent is one number, not {extent!r}") from None


def _make(indices: Any, kind: int, axis: int, extents: Sequence[int], how: How) -> Plan:
    """A plan; fitted() says what happens to NumPy indices that do not fit JAX's."""
    array = np.asarray(indices)
    if array.size == 0 and isinstance(indices, (list, tuple)):
        array = array.astype(np.int32)
    longest = int(numbers(extents).max(initial=0))
    array = fitted("indices", array, how.index_policy, longest)
    result = jax.ShapeDtypeStruct((2,), np.uint32)
    made = jax.ffi.ffi_call("strew_plan", result)(
        jnp.asarray(array),
        kind=np.int64(kind),
        axis=np.int64(axis),
        extents=numbers(extents),
        index_policy=np.int64(choice("index_policy", INDEX_POLICIES, how.index_policy)),
        negative_indices=np.int64(how.negative_indices),
        duplicate_policy=np.int64(
            choice("duplicate_policy", DUPLICATE_POLICIES, how.duplicate_policy)
        ),
    )
    return Plan(_owned(np.asarray(made)), kind, axis, array.shape)


def _owned(number: np.ndarray[Any, Any]) -> Array:
    """An array of JAX in memory that frees the plan when it goes."""
    memory = np.zeros(ALIGNMENT + number.nbytes, np.uint8)
    begin = -memory.ctypes.data % ALIGNMENT
    owner = memory[begin : begin + number.nbytes].view(number.dtype)
    owner[:] = number
    weakref.finalize(owner, drop_plan, int(number.view(np.int64)[0]))
    return jax.dlpack.from_dlpack(owner)


@lru_cache(maxsize=256)
def _differentiable(how: How) -> Any:
    def run(from_plan: Plan, source: Array, to_plan: Plan, data: Array, weights: Array) -> Array:
        operands = [from_plan._number, source, to_plan._number]
        if weights is not None:
            operands.append(weights)
        return call("gather_scatter", data, *operands, reduction=how.code())

    def forward(*operands: Any) -> tuple[Array, Any]:
        from_plan, source, to_plan, data, weights = operands
        kept = (source, weights) if weights is not None else (jnp.empty((*source.shape, 0)), None)
        return program(*operands), (from_plan, to_plan, *kept)

    def backward(residuals: Any, g: Array) -> tuple[Any, ...]:
        if how.reduction not in ("add", "sub") or how.exclude_self:
            raise NotImplementedError(
                'gradients of gather_scatter() exist for "add" and "sub" without exclude_self'
            )
        from_plan, to_plan, source, weights = residuals
        shape = source.shape[:-1] if weights is None else source.shape
        signed = -g if how.reduction == "sub" else g
        add = _differentiable(How("add", wide=how.wide))
        of_source = add(to_plan, signed, from_plan, jnp.zeros(shape, g.dtype), weights)
        of_weights = None
        if weights is not None:
            products = from_plan.gather(source) * to_plan.gather(signed)
            of_weights = _summed(products, weights.shape)
        return None, of_source, None, g, of_weights

    program: Any = jax.custom_vjp(run)
    program.defvjp(forward, backward)
    return jax.jit(program)


def _summed(products: Array, shape: Shape) -> Array:
    """Over the dims that were broadcast."""
    products = products.sum(axis=tuple(range(products.ndim - len(shape))))
    axes = tuple(i for i, dim in enumerate(shape) if dim == 1)
    return products.sum(axis=axes, keepdims=True)
