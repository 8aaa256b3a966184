# SPDX-License-Identifier: Apache-2.0
"""strew's C API through ctypes, and its operators on NumPy arrays.

The library is the one that the environment variable STREW_LIBRARY names, or that of the system.
Constants and functions are read from strew.h.
"""

from __future__ import annotations

import ctypes
import enum
import os
import weakref
from collections.abc import Sequence
from ctypes import c_int64, c_void_p
from typing import Any

import numpy as np

from strew_header import (  # noqa: F401  for those who import from here
    FUNCTIONS,
    HEADER,
    Alloc,
    Free,
    ParallelFor,
    constants,
    function,
    opaque,
)


def _enum(type_name: str) -> enum.EnumMeta:
    return enum.IntEnum(type_name, list(constants(type_name).items()))


Status = _enum("strew_status")
Dtype = _enum("strew_dtype")
Reduction = _enum("strew_reduction")
IndexPolicy = _enum("strew_index_policy")
DuplicatePolicy = _enum("strew_duplicate_policy")
CacheMode = _enum("strew_cache_mode")

library = ctypes.CDLL(os.environ.get("STREW_LIBRARY", "libstrew.so"))
for _name in FUNCTIONS:
    function(library, _name)


class StrewError(Exception):
    """A status other than STREW_OK; the text is its name and a sentence."""

    def __init__(self, status: int, sentence: str):
        self.status = Status(status)
        self.sentence = sentence
        super().__init__(f"{library.strew_status_name(status).decode()}: {sentence}")


class Context:
    def __init__(self) -> None:
        out = c_void_p()
        _check(library.strew_context_create(ctypes.byref(out)))
        self.handle = out
        self._kept: list[Any] = []
        weakref.finalize(self, library.strew_context_destroy, out)

    def set(self, setting: str, *values: Any) -> None:
        """set("index_policy", policy) calls strew_context_set_index_policy()."""
        self._kept.append(values)  # callbacks must live as long as the context
        _check(getattr(library, f"strew_context_set_{setting}")(self.handle, *values))

    @property
    def error(self) -> str:
        return library.strew_context_error(self.handle).decode()

    @property
    def error_position(self) -> int:
        return library.strew_context_error_position(self.handle)

    @property
    def applied(self) -> int:
        return library.strew_context_applied(self.handle)


class Tensor:
    """A descriptor of the memory of a NumPy array, which it keeps alive.

    `dtype` overrides the dtype of the array, so that pointers or handles of their size can stand
    for strings: Tensor(pointers, Dtype.STRING).
    """

    def __init__(self, array: np.ndarray, dtype: int | None = None):
        self.array = array
        self.dtype = _dtype_of(array.dtype) if dtype is None else dtype
        shape = _array_of_int64(array.shape)
        strides = _array_of_int64(_element_strides(array))
        out = c_void_p()
        address = array.__array_interface__["data"][0]
        _check(
            library.strew_tensor_create(
                self.dtype, array.ndim, shape, strides, address, ctypes.byref(out)
            )
        )
        self.handle = out
        weakref.finalize(self, library.strew_tensor_destroy, out)


Operand = np.ndarray | Tensor


class Plan:
    """The plan of strew_plan_`operator`() for indices and attributes: axis and extent, or extents."""

    def __init__(
        self,
        operator: str,
        indices: Operand,
        *attributes: int | Sequence[int],
        context: Context | None = None,
    ):
        out = c_void_p()
        create = getattr(library, f"strew_plan_{operator}")
        numbers = [n if isinstance(n, int) else _array_of_int64(n) for n in attributes]
        operand = _tensor(indices)  # alive during the call
        handle = context and context.handle
        _check(create(handle, operand.handle, *numbers, ctypes.byref(out)), context)
        self.handle = out
        weakref.finalize(self, library.strew_plan_destroy, out)

    @property
    def entries(self) -> int:
        return library.strew_plan_entries(self.handle)

    @property
    def dropped(self) -> int:
        return library.strew_plan_dropped(self.handle)

    @property
    def memory(self) -> int:
        return library.strew_plan_memory(self.handle)

    def scatter(
        self,
        data: Operand,
        updates: Operand,
        reduction: int,
        out: Operand,
        context: Context | None = None,
    ) -> np.ndarray:
        inputs = [self, _tensor(data), _tensor(updates)]
        return _call("strew_plan_scatter", inputs, [reduction], out, context)

    def gather(self, source: Operand, out: Operand, context: Context | None = None) -> np.ndarray:
        return _call("strew_plan_gather", [self, _tensor(source)], [], out, context)


def gather_scatter(
    from_plan: Plan,
    source: Operand,
    weights: Operand | None,
    to_plan: Plan,
    data: Operand,
    reduction: int,
    out: Operand,
    context: Context | None = None,
) -> np.ndarray:
    factors = None if weights is None else _tensor(weights)
    inputs = [from_plan, _tensor(source), factors, to_plan, _tensor(data)]
    return _call("strew_plan_gather_scatter", inputs, [reduction], out, context)


def string_pointers(strings: Sequence[bytes]) -> tuple[Tensor, list[Any]]:
    """A 1-D tensor of `const char *`, and the buffers that must outlive it."""
    buffers = [ctypes.create_string_buffer(string) for string in strings]
    addresses = [ctypes.addressof(buffer) for buffer in buffers]
    return Tensor(np.array(addresses, dtype=np.uintp), Dtype.STRING), buffers


def scatter_elements(
    data: Operand,
    indices: Operand,
    updates: Operand,
    axis: int,
    reduction: int = Reduction.NONE,
    out: Operand | None = None,
    context: Context | None = None,
) -> np.ndarray:
    inputs = [_tensor(data), _tensor(indices), _tensor(updates)]
    return _call("strew_scatter_elements", inputs, [axis, reduction], out, context)


def scatter_nd(
    data: Operand,
    indices: Operand,
    updates: Operand,
    reduction: int = Reduction.NONE,
    out: Operand | None = None,
    context: Context | None = None,
) -> np.ndarray:
    inputs = [_tensor(data), _tensor(indices), _tensor(updates)]
    return _call("strew_scatter_nd", inputs, [reduction], out, context)


def slice_scatter(
    data: Operand,
    updates: Operand,
    start: Operand,
    stop: Operand,
    step: Operand,
    axes: Operand | None = None,
    reduction: int = Reduction.NONE,
    out: Operand | None = None,
    context: Context | None = None,
) -> np.ndarray:
    inputs = [_tensor(operand) for operand in (data, updates, start, stop, step)]
    inputs.append(None if axes is None else _tensor(axes))
    return _call("strew_slice_scatter", inputs, [reduction], out, context)


def slice_scatter_int64(
    data: Operand,
    updates: Operand,
    start: Sequence[int],
    stop: Sequence[int],
    step: Sequence[int],
    axes: Sequence[int] | None = None,
    reduction: int = Reduction.NONE,
    out: Operand | None = None,
    context: Context | None = None,
) -> np.ndarray:
    numbers = [_array_of_int64(values) for values in (start, stop, step)]
    numbers.append(None if axes is None else _array_of_int64(axes))
    return _call(
        "strew_slice_scatter_int64",
        [_tensor(data), _tensor(updates)],
        [len(start), *numbers, reduction],
        out,
        context,
    )


def scatter_update(
    data: Operand,
    indices: Operand,
    updates: Operand,
    axis: int,
    reduction: int = Reduction.NONE,
    out: Operand | None = None,
    context: Context | None = None,
) -> np.ndarray:
    inputs = [_tensor(data), _tensor(indices), _tensor(updates)]
    return _call("strew_scatter_update", inputs, [axis, reduction], out, context)


def tensor_scatter(
    past_cache: Operand,
    update: Operand,
    write_indices: Operand | None,
    axis: int,
    mode: int = CacheMode.CACHE_LINEAR,
    out: Operand | None = None,
    context: Context | None = None,
) -> np.ndarray:
    inputs = [_tensor(past_cache), _tensor(update)]
    inputs.append(None if write_indices is None else _tensor(write_indices))
    return _call("strew_tensor_scatter", inputs, [axis, mode], out, context)


def _call(
    function: str,
    inputs: list[Tensor | Plan | None],
    attributes: list[Any],
    out: Operand | None,
    context: Context | None,
) -> np.ndarray:
    data = inputs[0]
    if out is None:
        out = Tensor(np.empty(data.array.shape, data.array.dtype), data.dtype)
    output = _tensor(out)
    status = getattr(library, function)(
        context and context.handle,
        *[operand and operand.handle for operand in inputs],
        *attributes,
        output.handle,
    )
    _check(status, context)
    return output.array


def _check(status: int, context: Context | None = None) -> None:
    if status == Status.OK:
        return
    sentence = context.error if context else library.strew_status_description(status).decode()
    raise StrewError(status, sentence)


def _tensor(operand: Operand) -> Tensor:
    return operand if isinstance(operand, Tensor) else Tensor(operand)


def _dtype_of(dtype: np.dtype) -> int:
    name = dtype.name.upper()
    if name in Dtype.__members__ and dtype.isnative:
        return Dtype[name]
    if dtype.kind in "SUV" and not dtype.hasobject:
        return opaque(dtype.itemsize)
    raise TypeError(f"strew has no counterpart of {dtype!r}")


def _element_strides(array: np.ndarray) -> list[int]:
    size = array.itemsize
    if any(dim > 1 and stride % size for dim, stride in zip(array.shape, array.strides)):
        raise ValueError(f"strides {array.strides} are not multiples of {size} bytes")
    return [stride // size for stride in array.strides]


def _array_of_int64(values: Sequence[int]) -> Any:
    return (c_int64 * len(values))(*values)
