# SPDX-License-Identifier: Apache-2.0
"""libstrew, called through its C interface on the memory of NumPy arrays."""

from __future__ import annotations

import ctypes
import itertools
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import ml_dtypes  # noqa: F401  NumPy knows bfloat16 and float8 by name once this is imported
import numpy as np

REDUCTIONS = {"none": 0, "add": 1, "mul": 2, "min": 3, "max": 4, "sub": 5, "mean": 6}
REDUCTION_MODES = {"": 0, "exclude_self": 0x100}
POLICIES = {"error": 0, "drop": 1, "clamp": 2}
CACHE_MODES = {"linear": 0, "circular": 1}

OK = 0
OPAQUE = 0x10000
WIDEST_OPAQUE = 4096

_Handle = ctypes.c_void_p
_INT64S = ctypes.POINTER(ctypes.c_int64)
_FUNCTIONS = {
    "version": (ctypes.c_char_p, []),
    "simd_target": (ctypes.c_char_p, []),
    "status_name": (ctypes.c_char_p, [ctypes.c_int32]),
    "status_description": (ctypes.c_char_p, [ctypes.c_int32]),
    "dtype_name": (ctypes.c_char_p, [ctypes.c_int32]),
    "tensor_create": (
        ctypes.c_int32,
        [ctypes.c_int32, ctypes.c_int32, _INT64S, _INT64S, _Handle, ctypes.POINTER(_Handle)],
    ),
    "tensor_destroy": (None, [_Handle]),
    "context_create": (ctypes.c_int32, [ctypes.POINTER(_Handle)]),
    "context_destroy": (None, [_Handle]),
    "context_error": (ctypes.c_char_p, [_Handle]),
    "context_set_num_threads": (ctypes.c_int32, [_Handle, ctypes.c_int32]),
    "context_set_index_policy": (ctypes.c_int32, [_Handle, ctypes.c_int32]),
    "context_set_negative_indices": (ctypes.c_int32, [_Handle, ctypes.c_int32]),
    "context_set_allocator": (ctypes.c_int32, [_Handle] * 4),
    "scatter_elements": (
        ctypes.c_int32,
        [_Handle, _Handle, _Handle, _Handle, ctypes.c_int64, ctypes.c_int32, _Handle],
    ),
    "scatter_nd": (
        ctypes.c_int32,
        [_Handle, _Handle, _Handle, _Handle, ctypes.c_int32, _Handle],
    ),
    "slice_scatter_int64": (
        ctypes.c_int32,
        [_Handle, _Handle, _Handle, ctypes.c_int64] + [_INT64S] * 4 + [ctypes.c_int32, _Handle],
    ),
}


def locate(path: Path) -> Path:
    """The shared library itself, or that of a build directory."""
    return path / "src" / "libstrew.so" if path.is_dir() else path


class Tensor:
    """A descriptor of the memory of an array; keeps the array alive. Library.tensor() makes it."""

    def __init__(self, library: Library, array: np.ndarray, dtype: int) -> None:
        self.array = array
        self.handle = _Handle()
        self._destroy = library.function("tensor_destroy")
        status = library.function("tensor_create")(
            dtype,
            array.ndim,
            _int64s(array.shape),
            _int64s(_element_strides(array)),
            array.ctypes.data,
            ctypes.byref(self.handle),
        )
        library.check(status)

    def __del__(self) -> None:
        self._destroy(self.handle)


class Library:
    """One libstrew.so and one context, which all calls use.

    The operators return a function without arguments. It owns all that the call needs, runs the
    operator once, and raises RuntimeError with the library's sentence where the library refuses.
    The output is updated in place where it is `data` itself.
    """

    def __init__(self, path: str | os.PathLike[str], threads: int = 1) -> None:
        self._loaded = ctypes.CDLL(str(Path(path).resolve()))
        self._context = _Handle()
        self._threads = 1
        self.version: str = self.function("version")().decode()
        self.target: str = self.function("simd_target")().decode()
        self._codes = self._dtype_codes()
        self.check(self.function("context_create")(ctypes.byref(self._context)))
        self.set_num_threads(threads)

    def __del__(self) -> None:
        if getattr(self, "_context", None):
            self.function("context_destroy")(self._context)

    def function(self, name: str) -> Callable:
        """strew_<name>, with the types of its arguments declared."""
        function = getattr(self._loaded, f"strew_{name}")
        function.restype, function.argtypes = _FUNCTIONS[name]
        return function

    def check(self, status: int) -> None:
        """RuntimeError for a status other than STREW_OK."""
        if status != OK:
            raise self._error(status, self.function("status_description")(status))

    def set_num_threads(self, threads: int) -> None:
        """How many threads every later call may use; 1 at first."""
        if threads == self._threads:
            return
        function = self.function("context_set_num_threads")
        self.check(function(self._context, threads))
        self._threads = threads

    def set_index_policy(self, name: str) -> None:
        """One of POLICIES for every later call; "error" at first."""
        self.check(self.function("context_set_index_policy")(self._context, POLICIES[name]))

    def set_negative_indices(self, wrap: bool) -> None:
        """Whether -1 is the last for every later call; it is at first."""
        self.check(self.function("context_set_negative_indices")(self._context, int(wrap)))

    def set_allocator(self, alloc: ctypes.c_void_p, free: ctypes.c_void_p) -> None:
        """Where every later call has its scratch from; functions in C, which are to stay loaded."""
        self.check(self.function("context_set_allocator")(self._context, alloc, free, None))

    @property
    def context(self) -> ctypes.c_void_p:
        """The handle, for calls from C."""
        return self._context

    def address(self, name: str) -> ctypes.c_void_p:
        """Of strew_<name>, for calls from C."""
        return ctypes.cast(getattr(self._loaded, f"strew_{name}"), ctypes.c_void_p)

    def tensor(self, array: np.ndarray, dtype: str | None = None) -> Tensor:
        """Describes the array's memory, whatever its strides.

        The dtype is that of the array unless named: a name of strew, or "opaqueN" for elements of
        N bytes. An array of NumPy's void dtype, "V3", is opaque without being told.
        """
        return Tensor(self, array, self._dtype_code(dtype or _dtype_name(array.dtype)))

    def scatter_elements(
        self,
        data: Tensor,
        indices: Tensor,
        updates: Tensor,
        axis: int,
        reduction: str,
        output: Tensor,
    ) -> Callable[[], None]:
        return self._call(
            "scatter_elements",
            (data, indices, updates, ctypes.c_int64(axis), _reduction(reduction), output),
        )

    def scatter_nd(
        self, data: Tensor, indices: Tensor, updates: Tensor, reduction: str, output: Tensor
    ) -> Callable[[], None]:
        return self._call("scatter_nd", (data, indices, updates, _reduction(reduction), output))

    def slice_scatter(
        self,
        data: Tensor,
        updates: Tensor,
        start: Sequence[int],
        stop: Sequence[int],
        step: Sequence[int],
        axes: Sequence[int],
        reduction: str,
        output: Tensor,
    ) -> Callable[[], None]:
        count = ctypes.c_int64(len(start))
        slices = [_int64s(numbers) for numbers in (start, stop, step, axes)]
        return self._call(
            "slice_scatter_int64", (data, updates, count, *slices, _reduction(reduction), output)
        )

    def _call(self, name: str, arguments: Sequence) -> Callable[[], None]:
        function = self.function(name)
        native = (
            self._context,
            *(item.handle if isinstance(item, Tensor) else item for item in arguments),
        )

        def run() -> None:
            status = function(*native)
            if status != OK:
                raise self._error(status, self.function("context_error")(self._context))

        run.keeps_alive = arguments
        return run

    def _error(self, status: int, sentence: bytes) -> RuntimeError:
        name = self.function("status_name")(status)
        return RuntimeError(f"{name.decode()}: {sentence.decode()}")

    def _dtype_codes(self) -> dict[str, int]:
        codes: dict[str, int] = {}
        for code in itertools.count(1):
            name = self.function("dtype_name")(code).decode()
            if name == "unknown":
                return codes
            codes[name] = code

    def _dtype_code(self, name: str) -> int:
        if name in self._codes:
            return self._codes[name]
        width = name.removeprefix("opaque")
        if name != width and width.isdecimal() and 1 <= int(width) <= WIDEST_OPAQUE:
            return OPAQUE + int(width)
        raise ValueError(f"strew has no dtype {name!r}")


def _dtype_name(dtype: np.dtype) -> str:
    return f"opaque{dtype.itemsize}" if dtype.name.startswith("void") else dtype.name


def _reduction(name: str) -> ctypes.c_int32:
    """Of "mean", or of "mean|exclude_self"."""
    plain, _, mode = name.partition("|")
    return ctypes.c_int32(REDUCTIONS[plain] | REDUCTION_MODES[mode])


def _element_strides(array: np.ndarray) -> list[int]:
    strides = [divmod(stride, array.itemsize) for stride in array.strides]
    if any(remainder for _, remainder in strides):
        raise ValueError("strides are not multiples of the width of an element")
    return [stride for stride, _ in strides]


def _int64s(numbers: Sequence[int]) -> ctypes.Array:
    return (ctypes.c_int64 * len(numbers))(*numbers)
