# SPDX-License-Identifier: Apache-2.0
"""The C code of paths.py: loops of memcpy and memset, repeated calls, and an allocator."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from .library import Library, Tensor
from .native import compile_and_load, pointer

SOURCE = Path(__file__).with_name("copies.cc")

Call = Callable[[], object]


class Copies:
    """The functions of copies.cc. Calls own what they need."""

    def __init__(self) -> None:
        self._loaded = compile_and_load(SOURCE)

    def to_cache(self, cache: np.ndarray, update: np.ndarray, positions: np.ndarray) -> Call:
        """Writes positions on axis 2 of a cache of rank 4, one step for each row of `positions`."""
        batch, heads, length, row = cache.shape
        sizes = (batch, heads, length, update.shape[2])
        return self._loop("copy_to_cache", (cache, update, positions), sizes, row, len(positions))

    def rows(
        self, output: np.ndarray, updates: np.ndarray, indices: np.ndarray, axis: int
    ) -> Call:
        """output[..., indices, ...] = updates along an axis, a step for each row of `indices`."""
        outer, row = math.prod(output.shape[:axis]), math.prod(output.shape[axis + 1 :])
        sizes = (outer, output.shape[axis], indices.shape[1])
        return self._loop("copy_rows", (output, updates, indices), sizes, row, len(indices))

    def fill(self, output: np.ndarray, columns: int, value: int) -> Call:
        """Sets all bytes of the first columns of a matrix."""
        row = output.shape[1] * output.itemsize
        sizes = (ctypes.c_int64(len(output)), ctypes.c_size_t(row))
        width = ctypes.c_size_t(columns * output.itemsize)
        function = self._function("fill_rows", None)
        return partial(function, pointer(output), *sizes, width, ctypes.c_int32(value))

    def keep_scratch(self, library: Library) -> None:
        """Gives every later call the memory that earlier calls of any library have freed."""
        addresses = (
            ctypes.cast(getattr(self._loaded, name), ctypes.c_void_p)
            for name in ("take_block", "give_block_back")
        )
        library.set_allocator(*addresses)

    def _loop(
        self,
        name: str,
        arrays: tuple[np.ndarray, ...],
        sizes: tuple[int, ...],
        row: int,
        steps: int,
    ) -> Call:
        bytes_of_row = ctypes.c_size_t(row * arrays[0].itemsize)
        numbers = map(ctypes.c_int64, sizes)
        function = self._function(name, None)
        return partial(
            function, *map(pointer, arrays), *numbers, bytes_of_row, ctypes.c_int64(steps)
        )

    def tensor_scatter(
        self,
        library: Library,
        cache: np.ndarray,
        update: np.ndarray,
        positions: np.ndarray,
        mode: int,
    ) -> Call:
        """strew_tensor_scatter in place on axis 2, once for each row of `positions`."""
        tensors = [library.tensor(array) for array in (cache, update, positions[0])]
        return self._repeat(library, "tensor_scatter", tensors, 2, mode, tensors[2], positions)

    def scatter_update(
        self,
        library: Library,
        data: np.ndarray,
        indices: np.ndarray,
        updates: np.ndarray,
        axis: int,
    ) -> Call:
        """strew_scatter_update in place, once for each row of `indices`."""
        tensors = [library.tensor(array) for array in (data, indices[0], updates)]
        return self._repeat(library, "scatter_update", tensors, axis, 0, tensors[1], indices)

    def _repeat(
        self,
        library: Library,
        name: str,
        tensors: Sequence[Tensor],
        axis: int,
        how: int,
        moving: Tensor,
        numbers: np.ndarray,
    ) -> Call:
        repeat = self._function("call_repeatedly", ctypes.c_int32)
        arguments = (
            library.address(name),
            library.context,
            *(tensor.handle for tensor in tensors),
            ctypes.c_int64(axis),
            ctypes.c_int32(how),
            tensors[0].handle,
            library.address("tensor_set_data"),
            moving.handle,
            pointer(numbers),
            ctypes.c_int64(numbers.shape[1]),
            ctypes.c_int64(len(numbers)),
        )

        def run() -> None:
            library.check(repeat(*arguments))

        run.keeps_alive = tensors
        return run

    def _function(self, name: str, result: type | None) -> Callable:
        function = getattr(self._loaded, name)
        function.restype = result
        return function
