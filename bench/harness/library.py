# SPDX-License-Identifier: Apache-2.0
"""libstrew, called through its C interface on the memory of NumPy arrays."""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import ml_dtypes  # noqa: F401  NumPy knows bfloat16 and float8 by name once this is imported
import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "test" / "python"))

import strew_header

REDUCTIONS = {
    name.lower(): code for name, code in strew_header.constants("strew_reduction").items()
}
POLICIES = {
    name.removeprefix("INDEX_").lower(): code
    for name, code in strew_header.constants("strew_index_policy").items()
}
CACHE_MODES = {
    name.removeprefix("CACHE_").lower(): code
    for name, code in strew_header.constants("strew_cache_mode").items()
}

OK = 0
WIDEST_OPAQUE = 4096

_Handle = ctypes.c_void_p


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


class Plan:
    """Indices that were checked and put in order. Library.plan() makes it."""

    def __init__(self, library: Library, operator: str, arguments: Sequence) -> None:
        self.handle = _Handle()
        self._destroy = library.function("plan_destroy")
        library.run(f"plan_{operator}", (*arguments, ctypes.byref(self.handle)))

    def __del__(self) -> None:
        self._destroy(self.handle)


class Library:
    """One libstrew.so and one context, which all calls use.

    The operators return a function without arguments. It owns all that the call needs, runs the
    operator once, and raises RuntimeError with the library's sentence if the library refuses.
    The output is updated in place if it is `data` itself.
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
        """The function strew_<name>. Older libraries lack some, which matters only on use."""
        return strew_header.function(self._loaded, f"strew_{name}")

    def check(self, status: int) -> None:
        """RuntimeError for a status other than STREW_OK."""
        if status != OK:
            raise self._error(status, self.function("status_description")(status))

    def set_num_threads(self, threads: int) -> None:
        """Sets the number of threads for all later calls; 1 by default."""
        if threads == self._threads:
            return
        function = self.function("context_set_num_threads")
        self.check(function(self._context, threads))
        self._threads = threads

    def set_index_policy(self, name: str) -> None:
        """Sets one of POLICIES for all later calls; "error" by default."""
        self.check(self.function("context_set_index_policy")(self._context, POLICIES[name]))

    def set_negative_indices(self, wrap: bool) -> None:
        """Sets whether -1 is the last in all later calls; it is by default."""
        self.check(self.function("context_set_negative_indices")(self._context, int(wrap)))

    def set_allocator(self, alloc: ctypes.c_void_p, free: ctypes.c_void_p) -> None:
        """Sets the allocator of scratch for all later calls. Its C functions must stay loaded."""
        functions = strew_header.Alloc(alloc.value), strew_header.Free(free.value)
        self.check(self.function("context_set_allocator")(self._context, *functions, None))

    @property
    def context(self) -> ctypes.c_void_p:
        """The handle, for calls from C."""
        return self._context

    def address(self, name: str) -> ctypes.c_void_p:
        """The address of strew_<name>, for calls from C."""
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

    def scatter_update(
        self,
        data: Tensor,
        indices: Tensor,
        updates: Tensor,
        axis: int,
        reduction: str,
        output: Tensor,
    ) -> Callable[[], None]:
        return self._call(
            "scatter_update",
            (data, indices, updates, ctypes.c_int64(axis), _reduction(reduction), output),
        )

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

    def plan(self, operator: str, indices: Tensor, axis: int, extents: Sequence[int]) -> Plan:
        """For the indices of an operator, and the extents of the axes that they name."""
        if operator == "scatter_nd":
            return Plan(self, operator, (indices, _int64s(extents)))
        return Plan(self, operator, (indices, axis, extents[0]))

    def plan_scatter(
        self, plan: Plan, data: Tensor, updates: Tensor, reduction: str, output: Tensor
    ) -> Callable[[], None]:
        arguments = (plan, data, updates, _reduction(reduction), output)
        return self._call("plan_scatter", arguments)

    def plan_gather(self, plan: Plan, source: Tensor, output: Tensor) -> Callable[[], None]:
        return self._call("plan_gather", (plan, source, output))

    def plan_gather_scatter(
        self,
        taken: Plan,
        source: Tensor,
        weights: Tensor | None,
        to: Plan,
        data: Tensor,
        reduction: str,
        output: Tensor,
    ) -> Callable[[], None]:
        arguments = (taken, source, weights, to, data, _reduction(reduction), output)
        return self._call("plan_gather_scatter", arguments)

    def run(self, name: str, arguments: Sequence) -> None:
        """Calls strew_<name> with the context once."""
        self._call(name, arguments)()

    def _call(self, name: str, arguments: Sequence) -> Callable[[], None]:
        function = self.function(name)
        native = (
            self._context,
            *(item.handle if isinstance(item, (Tensor, Plan)) else item for item in arguments),
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
            return strew_header.opaque(int(width))
        raise ValueError(f"strew has no dtype {name!r}")


def _dtype_name(dtype: np.dtype) -> str:
    return f"opaque{dtype.itemsize}" if dtype.name.startswith("void") else dtype.name


def _reduction(name: str) -> ctypes.c_int32:
    """The code of "mean" or of "mean|exclude_self"."""
    return ctypes.c_int32(sum(REDUCTIONS[part] for part in name.split("|")))


def _element_strides(array: np.ndarray) -> list[int]:
    strides = [divmod(stride, array.itemsize) for stride in array.strides]
    if any(remainder for _, remainder in strides):
        raise ValueError("strides are not multiples of the width of an element")
    return [stride for stride, _ in strides]


def _int64s(numbers: Sequence[int]) -> ctypes.Array:
    return (ctypes.c_int64 * len(numbers))(*numbers)
