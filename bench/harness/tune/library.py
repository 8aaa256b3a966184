# SPDX-License-Identifier: Apache-2.0
"""libtunable.so: strew with a tuning table that can be changed between calls."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..library import OK, Library, Plan, Tensor

TELL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
Settings = Mapping[str, float]  # constants by name


def locate(path: Path) -> Path:
    """The library itself, or that of a build directory."""
    return path / "bench" / "libtunable.so" if path.is_dir() else path


class Tunable(Library):
    """One context, whose calls use the constants that were set last.

    Calls of operators and with plans have a function `times`, which repeats them in C.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._loaded.tunable_constant.restype = ctypes.c_char_p
        self._set = self._loaded.tunable_set
        self._set.argtypes = (ctypes.c_int32, ctypes.c_double)
        self._numbers: dict[str, int] = {}
        self.in_use: dict[str, float] = {}
        for number in itertools.count():
            value = ctypes.c_double()
            name = self._loaded.tunable_constant(number, ctypes.byref(value))
            if name is None:
                break
            self._numbers[name.decode()] = number
            self.in_use[name.decode()] = value.value
        self._changed: set[str] = set()
        self._loaded.tunable_adopt(self._context)

    def tune(self, settings: Settings) -> None:
        """Sets some constants; the others get the values in use."""
        for name in self._changed - settings.keys():
            self._set(self._numbers[name], self.in_use[name])
        for name, value in settings.items():
            self._set(self._numbers[name], value)
        self._changed = set(settings)

    def explain(self, call: Callable[[], None]) -> list[str]:
        """How a call runs with the current constants."""
        told: list[str] = []
        tell = TELL(lambda _, sentence: told.append(sentence.decode()))
        self.tell(tell)
        try:
            call()
        finally:
            self.tell(None)
        return told

    def tell(self, function: Callable | None) -> None:
        """Has every later call tell a TELL function how each of its parts runs, or no longer."""
        self._loaded.tunable_explain(self._context, function)

    def _call(self, name: str, arguments: Sequence) -> Callable[[], None]:
        once = super()._call(name, arguments)
        if not hasattr(self._loaded, f"repeat_{name}"):
            return once
        repeat = getattr(self._loaded, f"repeat_{name}")
        native = [item.handle if isinstance(item, (Plan, Tensor)) else item for item in arguments]

        def times(count: int) -> None:
            if repeat(ctypes.c_int64(count), self._context, *native) != OK:
                once()  # raises the error

        once.times = times
        return once
