# SPDX-License-Identifier: Apache-2.0
"""The part of the extension in Python: errors, and arrays that DLPack cannot describe."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_ELEMENT = 4096


class Error(ValueError):
    """A call that strew refused; the text is a sentence that names operand, place and value.

    status    the name of the status in strew.h, such as "STREW_INDEX_OUT_OF_RANGE"
    position  the row-major position of the first bad value in indices; -1 if none is bad
    """

    __module__ = "strew"  # where it is public

    def __init__(self, sentence: str, status: str, position: int = -1) -> None:
        super().__init__(sentence, status, position)
        self.status = status
        self.position = position

    def __str__(self) -> str:
        return str(self.args[0])


class IndexRangeError(Error, IndexError):
    """The Error of an index that is out of range, which to Python is an IndexError too."""

    __module__ = "strew"


def error_type(status: str) -> type[Error]:
    """The class of the errors with this status."""
    return IndexRangeError if status == "STREW_INDEX_OUT_OF_RANGE" else Error


def plain_array(object: Any) -> NDArray[Any]:
    """numpy.asarray(), except that masked elements are refused: the memory does not show them."""
    if type(object) is np.ndarray:  # a third of the time of what follows
        return object
    array = np.asanyarray(object)
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("strew does not support masked arrays: pass array.filled() or array.data")
    return np.asarray(array)


Described = tuple[NDArray[Any], NDArray[Any], str, int]


def readable(object: Any) -> Described:
    """The array of an object, integers in its memory, and name and size of its dtype."""
    array = plain_array(object)
    return _described(array if _is_regular(array) else array.copy())


def readable_indices(object: Any) -> Described:
    """The same of indices."""
    return readable(index_array(object) if isinstance(object, (list, tuple)) else object)


def index_array(object: Any) -> NDArray[Any]:
    """The array of indices. An empty list is accepted; NumPy would make it float64."""
    array = plain_array(object)
    is_list = isinstance(object, (list, tuple))
    return array.astype(np.int64) if is_list and array.size == 0 else array


def writable(object: Any) -> Described:
    """The same of an array that can be written."""
    if not isinstance(object, np.ndarray):
        raise TypeError(f"out must be an array that can be written, not {type(object).__name__}")
    if not object.flags.writeable:
        raise ValueError("out is read-only")
    if not _is_regular(object):
        raise ValueError("out is not aligned, or its strides are not multiples of its elements")
    return _described(object)


def written(tensor: Any) -> None:
    """Tells PyTorch's autograd that a tensor was written."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        torch.autograd.graph.increment_version(tensor)


def _is_regular(array: NDArray[Any]) -> bool:
    flags = array.flags
    if flags.forc or not flags.aligned:
        return flags.aligned
    size = max(array.itemsize, 1)
    steps = (stride for n, stride in zip(array.shape, array.strides) if n > 1)
    return not any(stride % size for stride in steps)


def _described(array: NDArray[Any]) -> Described:
    carrier, name, size = _element(array.dtype)
    plain = array if type(array) is np.ndarray else np.asarray(array)
    elements = plain.view(carrier)
    return array, elements if carrier.names is None else elements["byte"], name, size


@lru_cache
def _element(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], str, int]:
    """The dtype that stands for elements of a dtype, and the name and size of these."""
    size = dtype.itemsize
    if dtype.hasobject:
        raise TypeError(f"strew does not take arrays of objects: {dtype!r}")
    if not dtype.isnative:
        raise TypeError(f"strew does not take arrays of the other byte order: {dtype!r}")
    if not 1 <= size <= LARGEST_ELEMENT:
        raise TypeError(f"strew takes elements of 1 to {LARGEST_ELEMENT} bytes: {dtype!r}")
    if size in (1, 2, 4, 8):
        return np.dtype(f"u{size}"), dtype.name, size
    byte = {"names": ["byte"], "formats": ["u1"], "offsets": [0], "itemsize": size}
    return np.dtype(byte), dtype.name, size  # type: ignore[call-overload]


def new_output(data: Any, shape: list[int], dtype: str) -> NDArray[Any]:
    """A NumPy array for the result of a call on data."""
    return np.empty(shape, _dtype(data, dtype))


def new_zeros(data: Any, shape: list[int], dtype: str) -> NDArray[Any]:
    """The same where the call does not write every element."""
    return np.zeros(shape, _dtype(data, dtype))


def of_kind(made: NDArray[Any], data: Any) -> Any:
    """The array, or one of the library of data: JAX, PyTorch, and what else has the array API."""
    namespace = getattr(data, "__array_namespace__", None)
    if namespace is not None:
        return namespace().asarray(made)
    library = sys.modules.get(type(data).__module__.partition(".")[0])
    from_dlpack = getattr(library, "from_dlpack", None)
    if from_dlpack is None:
        return made
    if made.dtype.kind in "biufc":
        return from_dlpack(made)
    return from_dlpack(made.view(f"i{made.itemsize}")).view(data.dtype)


def numbers_like(numbers: Any, data: Any, dtype: str) -> Any:
    """A number, or lists of numbers, in the dtype of data; in their own if that cannot be."""
    own = np.asarray(numbers)
    if isinstance(numbers, np.generic) and own.dtype.kind in "biufc":
        numbers = numbers.item()  # which NumPy does not wrap where it is out of range
    try:
        wanted = _dtype(data, dtype)
    except ImportError:
        return data.new_tensor(numbers) if hasattr(data, "new_tensor") else own
    return np.asarray(numbers, wanted) if _can_become(own, wanted) else own


def _can_become(own: NDArray[Any], wanted: np.dtype[Any]) -> bool:
    kinds = own.dtype.kind, wanted.kind
    if own.dtype.hasobject or own.size == 0:
        return not own.dtype.hasobject
    if kinds == ("i", "u") or (kinds[0] in "SU" and kinds[1] in "mM"):
        return True  # NumPy raises OverflowError for -1, and tells of texts that are no dates
    return np.can_cast(own.dtype, wanted, "same_kind")


def _dtype(data: Any, name: str) -> np.dtype[Any]:
    """That of an array of NumPy, or that of the name for other data."""
    dtype: np.dtype[Any]
    try:
        dtype = data.dtype if isinstance(data, np.ndarray) else np.dtype(name)
    except TypeError:
        import ml_dtypes  # of bfloat16 and float8

        dtype = np.dtype(getattr(ml_dtypes, name))
    return dtype
