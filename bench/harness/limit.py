# SPDX-License-Identifier: Apache-2.0
"""Hand-written loops as yardsticks: C++ files, compiled for this machine and loaded."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from .contestants import LIMIT, Contestant, on_output
from .gather import Gather, GatherScatter
from .native import compile_and_load, pointer
from .scatter import Scatter
from .workloads import Limit

NOTHING_FUSED = "-ffp-contract=off"  # the results are those of strew to the byte


class LimitLoops:
    """The functions of some files."""

    def __init__(self, sources: Sequence[Path]) -> None:
        self._loaded = [compile_and_load(source, NOTHING_FUSED) for source in sources]

    def prepare(self, limit: Limit, work: Scatter | Gather | GatherScatter) -> Contestant | None:
        """The loop that the workload names; None if no file has it."""
        function = self._function(limit.function)
        if function is None:
            return None
        arguments = [
            ctypes.c_size_t(word) if isinstance(word, int) else _argument(word, limit, work)
            for word in limit.arguments
        ]
        return on_output(LIMIT, limit.function, lambda: function(*arguments), work)

    def streaming_copy(
        self, source: np.ndarray, target: np.ndarray
    ) -> Callable[[], None] | None:
        """A copy of float32 by streaming stores, which bypass the caches, if a file has it."""
        function = self._function("lim_copy")
        if function is None:
            return None
        count = source.nbytes // np.dtype(np.float32).itemsize
        arguments = (pointer(target), pointer(source), ctypes.c_size_t(count))
        return lambda: function(*arguments)

    def _function(self, name: str) -> Callable | None:
        found = next((file for file in self._loaded if hasattr(file, name)), None)
        if found is None:
            return None
        function = getattr(found, name)
        function.restype = None
        return function


def _argument(word: str, limit: Limit, work: Scatter | Gather | GatherScatter) -> object:
    """A number, or an attribute of the operands, of which None is a NULL pointer."""
    match word:
        case "add":
            return ctypes.c_int(limit.reduction == "add")
        case "new":
            return ctypes.c_int(not work.in_place)
    array = getattr(work, word.replace(" ", "_"))
    return None if array is None else pointer(array)
