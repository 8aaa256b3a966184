# SPDX-License-Identifier: Apache-2.0
"""add_at() and the functions like it: NumPy's index expressions as calls of the operators."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from strew import _strew
from strew._strew import Context
from strew._support import Error, numbers_like

if TYPE_CHECKING:  # CPython 3.9 has no TypeAlias
    from typing import TypeAlias

Index: TypeAlias = Any
Update: TypeAlias = Callable[..., None]
Reduction: TypeAlias = Literal["none", "add", "sub", "mul", "min", "max"]


def _function(name: str, reduction: Reduction, formula: str, numpy_name: str) -> Update:
    def at(a: Any, indices: Index, values: Any, *, context: Context | None = None) -> None:
        if _are_plain(a, indices, values) and a.dtype == values.dtype:
            try:
                _strew.scatter_update(a, indices, values, reduction=reduction, out=a, context=context)
                return
            except Error as error:
                if error.status != "STREW_OVERLAPPING_MEMORY":
                    raise
        _Target(name, a, reduction, context).update(indices, values)

    at.__name__ = at.__qualname__ = name
    at.__module__ = "strew"
    at.__doc__ = f"""{formula} in place, for each index, also where it occurs more than once.

    As {numpy_name}. `a` is an array of NumPy or a tensor of PyTorch. `indices` is what may stand in
    the brackets: integers, slices, `...`, arrays or lists of integers, masks, or a tuple of these.
    `values` has the shape of a[indices], or one that NumPy repeats to it, and is converted to the
    dtype of `a` before, where that is of no lesser kind: floats are not made integers.

    Raises strew.IndexRangeError, an IndexError; nothing is written then. The index policy of
    `context` applies to integers and arrays, not to slices.
    """
    return at


add_at = _function("add_at", "add", "a[indices] += values", "numpy.add.at()")
subtract_at = _function("subtract_at", "sub", "a[indices] -= values", "numpy.subtract.at()")
multiply_at = _function("multiply_at", "mul", "a[indices] *= values", "numpy.multiply.at()")
minimum_at = _function(
    "minimum_at", "min", "a[indices] = minimum(a[indices], values)", "numpy.minimum.at()"
)
maximum_at = _function(
    "maximum_at", "max", "a[indices] = maximum(a[indices], values)", "numpy.maximum.at()"
)
set_at = _function(
    "set_at", "none", "a[indices] = values, the last of several,", "an assignment of NumPy"
)


def _are_plain(a: Any, indices: Any, values: Any) -> bool:
    """True if an array of integers names elements or rows. This case is ten times as fast."""
    arrays = type(a) is np.ndarray and type(indices) is np.ndarray and type(values) is np.ndarray
    return arrays and indices.dtype.kind in "iu" and indices.ndim > 0 and a.ndim > 0


def _is_mask(index: Any) -> bool:
    if index is None or index is Ellipsis or isinstance(index, slice):
        return False
    array = np.asarray(index)
    return array.dtype == bool and array.ndim > 0


def _signed(index: NDArray[Any]) -> NDArray[Any]:
    """An index that NumPy stacks with others of int64 as integers: it makes float64 of uint64."""
    if index.dtype != np.uint64:
        return index
    signed: NDArray[Any] = np.minimum(index, np.uint64(2**63 - 1)).astype(np.int64)
    return signed


class _Target:
    """The array that a call updates."""

    def __init__(self, name: str, a: Any, reduction: Reduction, context: Context | None) -> None:
        self.name = name
        self.torch = _torch_of(a)
        if self.torch is None and not isinstance(a, np.ndarray):
            raise TypeError(f"{name}() updates an array of NumPy or a tensor of PyTorch in place")
        self.a = a
        self.gap = -1  # the index behind a `...` that stands for no dim: it parts indices all the same
        self.reduction = reduction
        self.context = context

    def update(self, indices: Index, values: Any) -> None:
        places = self._places(indices)
        values = self._values(values)
        arrays = [i for i, place in enumerate(places) if isinstance(place, np.ndarray)]
        is_region = all(places[i].ndim == 0 for i in arrays)
        if is_region and (self.context is None or not arrays):
            self._update_region(places, values)
            return
        view = self.a[tuple(slice(None) if i in arrays else p for i, p in enumerate(places))]
        if is_region:
            # The policies of the context apply to tuples, so the integers are passed as one tuple.
            numbers = np.array([[int(places[i]) for i in arrays]])
            self._call(_strew.scatter_nd, self._moved(view, arrays), numbers, values)
        elif len(arrays) == 1:
            axis = arrays[0]
            self._call(_strew.scatter_update, view, places[axis], values, axis)
        else:
            self._update_tuples(view, arrays, [places[i] for i in arrays], values)

    def _update_region(self, places: list[Any], values: Any) -> None:
        index = [int(p) if isinstance(p, np.ndarray) else p for p in places]
        for axis, (i, n) in enumerate(zip(index, self.a.shape)):
            if isinstance(i, int) and not -n <= i < n:
                # The operator raises the error.
                _strew.scatter_update(np.zeros(n, np.int8), i, np.zeros((), np.int8))
        region = self.a[(*index, ...)][None]  # of one dim or more
        self._call(_strew.slice_scatter, region, values, [], [])

    def _update_tuples(
        self, view: Any, axes: list[int], indices: list[NDArray[Any]], values: Any
    ) -> None:
        tuples = np.stack(np.broadcast_arrays(*map(_signed, indices)), -1)
        count, rank = len(axes), tuples.ndim - 1
        others = [n for i, n in enumerate(view.shape) if i not in axes]
        # NumPy puts the dims of adjacent indices in the place of these, and of others in front.
        beside = axes == list(range(axes[0], axes[0] + count)) and self.gap not in axes[1:]
        front = axes[0] if beside else 0
        shape = (*others[:front], *tuples.shape[:-1], *others[front:])
        values = self._moved(self._repeated(values, shape), range(front, front + rank))
        view = self._moved(view, axes)
        self._call(_strew.scatter_nd, view, tuples, values)

    def _call(self, operator: Update, view: Any, *operands: Any) -> None:
        operator(view, *operands, reduction=self.reduction, out=view, context=self.context)

    def _places(self, indices: Index) -> list[Any]:
        """For each dim of `a`, a slice or an array of integers."""
        given = indices if isinstance(indices, tuple) else (indices,)
        parts: list[Any] = []
        masks: dict[int, tuple[int, ...]] = {}  # their shapes, by the place of their first part
        for one in given:
            if _is_mask(one):
                masks[len(parts)] = np.shape(one)
            parts += self._parts(one)
        dots = [i for i, part in enumerate(parts) if part is Ellipsis]
        missing = self.a.ndim - len(parts) + len(dots)
        if len(dots) > 1 or missing < 0:
            raise IndexError(f"{self.name}() was given too many indices for {self.a.ndim} dims")
        at = dots[0] if dots else len(parts)
        if dots and missing == 0:
            self.gap = at
        for first, shape in masks.items():
            dim = first if first < at else first - len(dots) + missing
            if shape != tuple(self.a.shape[dim : dim + len(shape)]):
                raise IndexError(
                    f"{self.name}() was given a mask of shape {list(shape)} for dims "
                    f"{list(self.a.shape[dim : dim + len(shape)])}"
                )
        return parts[:at] + [slice(None)] * missing + parts[at + len(dots) :]

    def _parts(self, one: Any) -> list[Any]:
        if one is Ellipsis or isinstance(one, slice):
            return [one]
        if one is None:
            raise IndexError(f"{self.name}() takes no None (numpy.newaxis) among the indices")
        array = np.asarray(one)
        if _is_mask(array):
            return list(array.nonzero())
        if isinstance(one, (list, tuple)) and array.size == 0:
            array = array.astype(np.int64)
        if array.dtype.kind not in "iu":
            raise IndexError(
                f"{self.name}() takes integers, slices, arrays of integers and masks as indices, "
                f"not {type(one).__name__} of {array.dtype}"
            )
        return [array.copy() if self._may_share(array) else array]

    def _values(self, values: Any) -> Any:
        """An array of the dtype of `a`, in memory of its own."""
        if self.torch is None:
            is_array = isinstance(values, np.ndarray)
            given = values if is_array else numbers_like(values, self.a, self.a.dtype.name)
            array = np.asarray(given)
            if not np.can_cast(array.dtype, self.a.dtype, "same_kind"):
                raise self._refused(array.dtype)
            array = array.astype(self.a.dtype, copy=False)
            return array.copy() if self._may_share(array) else array
        tensor = self.torch.as_tensor(values)
        if not self.torch.can_cast(tensor.dtype, self.a.dtype):
            raise self._refused(tensor.dtype)
        tensor = tensor.to(self.a.dtype)
        return tensor.clone() if self._may_share(tensor) else tensor

    def _refused(self, dtype: Any) -> TypeError:
        return TypeError(f"{self.name}() cannot cast values of {dtype} to {self.a.dtype}")

    def _may_share(self, other: Any) -> bool:
        if self.torch is None:
            return np.may_share_memory(self.a, other)
        storage = self.a.untyped_storage()
        first = storage.data_ptr()
        at: int = other.ctypes.data if isinstance(other, np.ndarray) else other.data_ptr()
        return bool(first <= at < first + max(storage.nbytes(), 1))

    def _moved(self, array: Any, axes: Any) -> Any:
        """With these axes in front."""
        to = range(len(axes))
        move = np.moveaxis if self.torch is None else self.torch.movedim
        return move(array, tuple(axes), tuple(to))

    def _repeated(self, values: Any, shape: tuple[int, ...]) -> Any:
        repeat = np.broadcast_to if self.torch is None else self.torch.broadcast_to
        return repeat(values, shape)


def _torch_of(a: Any) -> Any:
    """PyTorch, if that is the library of `a`."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(a, torch.Tensor) else None
