# SPDX-License-Identifier: Apache-2.0
"""Measures how fast this machine's memory streams, with the loops of streaming.cc."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from .buffers import aligned
from .native import compile_and_load, pointer

SOURCE = Path(__file__).with_name("streaming.cc")

# Bytes that each loop moves for a byte of a buffer.
KINDS = {"streaming copy": 2, "memcpy": 2, "sum": 1}


class Streaming:
    """A copy by stores that bypass the caches, a copy by memcpy, and a sum that only reads.

    Each moves a given number of bytes in total, so that it finds as much of them in the caches,
    from one call to the next, as the call with which it is compared. It cuts them into one piece
    for each thread of OpenMP.
    """

    def __init__(self) -> None:
        self._loaded = compile_and_load(SOURCE, "-fopenmp")
        self._loaded.streaming_copy.restype = self._loaded.streaming_memcpy.restype = None
        self._loaded.streaming_sum.restype = ctypes.c_uint64
        self._buffers: list[np.ndarray] = []

    def call(self, kind: str, moved: int, threads: int) -> Callable[[], None]:
        """One of KINDS on so many threads; `moved` is rounded down to whole lines."""
        size = ctypes.c_size_t(moved // KINDS[kind])
        target, source = map(pointer, self._reserved(moved))
        count = ctypes.c_int(threads)
        if kind == "sum":
            return partial(self._loaded.streaming_sum, source, size, count)
        copy = self._loaded.streaming_copy
        if kind == "memcpy":
            copy = self._loaded.streaming_memcpy
        return partial(copy, target, source, size, count)

    def _reserved(self, size: int) -> list[np.ndarray]:
        """Two buffers, grown as needed; what was handed out before stays valid."""
        if not self._buffers or self._buffers[0].size < size:
            self._buffers = [aligned((size,), "uint8") for _ in range(2)]
            for buffer in self._buffers:
                buffer.fill(1)  # memory that was never written is not read from memory
        return self._buffers
