# SPDX-License-Identifier: Apache-2.0
"""Hand-written loops as yardsticks: a C++ file, compiled for this machine and loaded."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .contestants import Contestant, on_output
from .native import compile_and_load, pointer
from .scatter import Scatter
from .workloads import Limit


class LimitLoops:
    """The functions of one file."""

    def __init__(self, source: Path) -> None:
        self._loaded = compile_and_load(source)

    def prepare(self, limit: Limit, scatter: Scatter) -> Contestant:
        """The loop that the workload of this scatter names."""
        function = getattr(self._loaded, limit.function)
        function.restype = None
        arguments = [
            ctypes.c_size_t(word) if isinstance(word, int) else _argument(word, limit, scatter)
            for word in limit.arguments
        ]
        return on_output("limit", limit.function, lambda: function(*arguments), scatter)

    def streaming_copy(self, source: np.ndarray, target: np.ndarray) -> Callable[[], None]:
        """A copy of float32 by stores that pass the caches by."""
        function = self._loaded.lim_copy
        count = source.nbytes // np.dtype(np.float32).itemsize
        arguments = (pointer(target), pointer(source), ctypes.c_size_t(count))
        return lambda: function(*arguments)


def _argument(word: str, limit: Limit, scatter: Scatter) -> object:
    match word:
        case "add":
            return ctypes.c_int(limit.reduction == "add")
        case "new":
            return ctypes.c_int(not scatter.in_place)
        case "flat indices":
            return pointer(scatter.flat_indices)
        case "output" | "data" | "indices" | "updates":
            return pointer(getattr(scatter, word))
    raise ValueError(f"{limit.function}: no argument is called {word!r}")
