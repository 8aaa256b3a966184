# SPDX-License-Identifier: Apache-2.0
"""The calls of aten that strew can do with the same result, byte for byte.

Each function reads the arguments of an operator of aten and returns the call of strew, or None for
a call that is left to aten. Shapes are not checked here: calls that strew refuses also go to aten,
whose exceptions its users know. doc/pytorch.md has the table of results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from strew.torch._calls import CALLS, code_of

_NONE = code_of("none", False, False)
_ADD = code_of("add", False, False)
_WIDE_ADD = code_of("add", False, True)
_WIDE_MUL = code_of("mul", False, True)

_INTEGERS = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
_HALVES = {torch.float16, torch.bfloat16}
_LARGEST = {dtype: torch.finfo(dtype).max for dtype in _HALVES}
_FLOATS = {torch.float32, torch.float64}
_COMPLEX = {torch.complex64, torch.complex128}
_ALL = _INTEGERS | _HALVES | _FLOATS | _COMPLEX
# strew accepts all integer dtypes as indices; aten accepts only these.
_INDICES = (torch.int64, torch.int32)


class Call(NamedTuple):
    """write(data, indices, updates, axis, code, out, wrap)"""

    write: Callable[..., None]
    indices: Tensor
    updates: Tensor
    axis: int
    code: int
    wrap: bool


def _is_last(data: Tensor, dim: int) -> bool:
    """True if each row of indices names elements of one row of data.

    aten handles these one by one, without checking them first. It is 1.0 to 1.2 times as fast as
    strew for sums of float32 and int64, and 1.4 to 3 times for halves (EPYC, 256 to 10^6 elements).
    """
    return dim in (-1, data.dim() - 1)


def _elements(data: Tensor, dim: int, index: Tensor, src: Tensor, code: int) -> Call | None:
    if index.dtype not in _INDICES or src.dtype != data.dtype:
        return None
    if src.shape != index.shape:
        # aten reads only the part of src that has the shape of index.
        if src.dim() != index.dim() or any(n < m for n, m in zip(src.shape, index.shape)):
            return None
        src = src.as_strided(index.shape, src.stride())
    return Call(CALLS.scatter_elements, index, src, dim, code, False)


def scatter_src(data: Tensor, dim: int, index: Tensor, src: Tensor) -> Call | None:
    if data.dtype not in _ALL or _is_last(data, dim):
        return None
    return _elements(data, dim, index, src, _NONE)


def _value(data: Tensor, index: Tensor, value: complex) -> Tensor | None:
    """The number as updates of stride 0; None if the dtype cannot hold it."""
    integer = data.dtype in _INTEGERS
    if data.dtype not in _ALL or integer and not isinstance(value, (int, bool)):
        return None
    if isinstance(value, complex) and data.dtype not in _COMPLEX:
        return None
    if data.dtype in _HALVES and _LARGEST[data.dtype] < abs(value) < math.inf:
        return None  # aten refuses numbers that full() would round or make infinite
    try:
        return torch.full((), value, dtype=data.dtype).expand(index.shape)
    except RuntimeError:  # too large: aten raises its own error
        return None


def scatter_value(data: Tensor, dim: int, index: Tensor, value: complex) -> Call | None:
    src = _value(data, index, value)
    return None if src is None else _elements(data, dim, index, src, _NONE)


_OLD_REDUCTIONS = {"add": _WIDE_ADD, "multiply": _WIDE_MUL}


def scatter_src_reduce(
    data: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: str
) -> Call | None:
    code = _OLD_REDUCTIONS.get(reduce)
    if code is None or data.dtype not in _ALL or _is_last(data, dim):
        return None
    if reduce == "multiply" and data.dtype in _COMPLEX:
        return None
    return _elements(data, dim, index, src, code)


def scatter_add(data: Tensor, dim: int, index: Tensor, src: Tensor) -> Call | None:
    if data.dtype not in _ALL or _is_last(data, dim):
        return None
    return _elements(data, dim, index, src, _WIDE_ADD)


_REDUCTIONS = {"sum": "add", "prod": "mul", "mean": "mean", "amin": "min", "amax": "max"}


def _reduction_code(reduce: str, dtype: torch.dtype, include_self: bool, wide: bool) -> int | None:
    """None where strew's result may differ from aten's in a bit."""
    if reduce in ("amin", "amax"):
        # Among zeros of both signs aten keeps the first; in strew -0 is less than +0.
        same = dtype in _INTEGERS
    elif reduce == "mean":
        # aten rounds the sum of halves before it divides; its sums of integers overflow; and
        # without the old value it adds to 0, which loses the sign of -0.
        same = dtype in _FLOATS and include_self
    elif reduce == "prod":
        # Products of complex numbers differ where parts are infinite.
        same = dtype in _ALL and dtype not in _COMPLEX
    else:
        same = reduce == "sum" and (dtype in _INTEGERS or dtype in _ALL and include_self)
    return code_of(_REDUCTIONS[reduce], not include_self, wide) if same else None


def scatter_reduce(
    data: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Call | None:
    if reduce in ("sum", "prod") and _is_last(data, dim):
        return None
    code = _reduction_code(reduce, data.dtype, include_self, True)
    return None if code is None else _elements(data, dim, index, src, code)


def _rows(data: Tensor, dim: int, index: Tensor, source: Tensor, code: int) -> Call | None:
    if index.dtype not in _INDICES or index.dim() != 1 or source.dtype != data.dtype:
        return None
    return Call(CALLS.scatter_update, index, source, dim, code, False)


def index_add(
    data: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: complex = 1
) -> Call | None:
    # aten adds complex elements of one dim with a product by alpha, and rounds halves now after
    # every update, now once.
    if alpha != 1 or data.dtype not in (_INTEGERS | _FLOATS):
        return None
    return _rows(data, dim, index, source, _ADD)


def index_copy(data: Tensor, dim: int, index: Tensor, source: Tensor) -> Call | None:
    if data.dtype not in _ALL or index.dtype != torch.int64:
        return None
    return _rows(data, dim, index, source, _NONE)


def index_reduce(
    data: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Call | None:
    # Not all of the dtypes that aten does not implement here are refused by strew.
    if data.dtype is torch.bool or data.dtype in _COMPLEX or reduce == "sum":
        return None
    # The products of halves are rounded after every update.
    code = _reduction_code(reduce, data.dtype, include_self, False)
    return None if code is None else _rows(data, dim, index, source, code)


def index_put(
    data: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
    unsafe: bool = False,
) -> Call | None:
    """One tensor of indices, of any rank, on any axis. Several, and masks, are left to aten."""
    given = [axis for axis, index in enumerate(indices) if index is not None]
    if len(given) != 1 or data.dtype not in _ALL or values.dtype != data.dtype:
        return None
    axis = given[0]
    index = indices[axis]
    if index is None or index.dtype not in _INDICES or axis >= data.dim() or not index.is_cpu:
        return None
    shape = (*data.shape[:axis], *index.shape, *data.shape[axis + 1 :])
    if values.shape != shape:
        if values.dim() > len(shape) or not _broadcasts(values.shape, shape):
            return None
        values = values.expand(shape)
    return Call(CALLS.scatter_update, index, values, axis, _ADD if accumulate else _NONE, True)


def _broadcasts(shape: Sequence[int], to: Sequence[int]) -> bool:
    return all(n in (1, m) for n, m in zip(reversed(shape), reversed(to)))
