# SPDX-License-Identifier: Apache-2.0
"""Constants and functions of strew.h as ctypes takes them, read from the header itself."""

from __future__ import annotations

import re
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any

HEADER = Path(__file__).resolve().parents[2] / "include" / "strew" / "strew.h"
_TEXT = HEADER.read_text()

Alloc = CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_size_t)
Free = CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)
ParallelFor = CFUNCTYPE(c_int32, c_void_p, c_int64, CFUNCTYPE(None, c_void_p, c_int64), c_void_p)

_TYPES = {
    "void": None,
    "size_t": c_size_t,
    "int64_t": c_int64,
    "strew_alloc": Alloc,
    "strew_free": Free,
    "strew_parallel_for": ParallelFor,
    "char *": c_char_p,
    "int64_t *": POINTER(c_int64),
}


def constants(type_name: str) -> dict[str, int]:
    """The values of an enumeration, by their names after STREW_."""
    text = re.search(rf"typedef int32_t {type_name};\s*enum\s*{{(.*?)}};", _TEXT, re.S)
    assert text is not None, type_name
    return {name: int(value, 0) for name, value in re.findall(r"\bSTREW_(\w+) = (\w+)", text[1])}


def opaque(size: int) -> int:
    """The macro STREW_OPAQUE."""
    return 0x10000 + size


def _type_of(declared: str) -> Any:
    """Handles and memory are plain pointers. Codes are int32_t."""
    declared = declared.replace("const ", "").replace("struct ", "").strip()
    if declared.endswith("**"):
        return POINTER(c_void_p)
    return _TYPES.get(declared, c_void_p if declared.endswith("*") else c_int32)


def _arguments_of(text: str) -> list[Any]:
    if text == "void":
        return []
    return [_type_of(re.sub(r"\w+$", "", argument.strip())) for argument in text.split(",")]


def _functions() -> dict[str, tuple[Any, list[Any]]]:
    declarations = re.findall(r"^STREW_API ([^;(]*?)(strew_\w+)\(([^)]*)\);", _TEXT, re.M)
    return {
        name: (_type_of(result), _arguments_of(arguments))
        for result, name, arguments in declarations
    }


# name: (result, arguments)
FUNCTIONS = _functions()


def function(library: Any, name: str) -> Any:
    """The function of a loaded library, with its types declared. AttributeError if it has none."""
    found = getattr(library, name)
    found.restype, found.argtypes = FUNCTIONS[name]
    return found
