# SPDX-License-Identifier: Apache-2.0
"""Files of NumPy's .npy format, written and read without NumPy."""

import ast
import itertools
import math
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NATIVE = "<" if sys.byteorder == "little" else ">"

# NumPy's kind and size: the letter that struct knows the number by.
LETTERS = {
    "b1": "?",
    "i1": "b", "i2": "h", "i4": "i", "i8": "q",
    "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
    "f2": "e", "f4": "f", "f8": "d",
    "c8": "f", "c16": "d",
}  # fmt: skip


@dataclass(frozen=True)
class Array:
    """An array by its elements in row-major order; elements of S, U and V are their bytes.

    Those of f1, float8_e5m2, are the upper halves of float16.
    """

    descr: str
    shape: tuple[int, ...]
    values: Sequence
    fortran_order: bool = False


def swapped(descr: str) -> str:
    return (">" if NATIVE == "<" else "<") + descr[1:]


def element_size(descr: str) -> int:
    return int(descr[2:]) * (4 if descr[1] == "U" else 1)


def pack(descr: str, value) -> bytes:
    if descr[1] in "SUV":
        return value.ljust(element_size(descr), b"\0")
    if descr[1:] == "f1":
        return struct.pack("<e", value)[1:]
    order = NATIVE if descr[0] in "|=" else descr[0]
    letter = LETTERS[descr[1:]]
    if descr[1] == "c":
        return struct.pack(order + 2 * letter, value.real, value.imag)
    return struct.pack(order + letter, value)


def unpack(descr: str, element: bytes):
    if descr[1] in "SUV":
        return element
    if descr[1:] == "f1":
        return struct.unpack("<e", b"\0" + element)[0]
    order = NATIVE if descr[0] in "|=" else descr[0]
    letter = LETTERS[descr[1:]]
    if descr[1] == "c":
        return complex(*struct.unpack(order + 2 * letter, element))
    return struct.unpack(order + letter, element)[0]


def file_order(shape: tuple[int, ...], fortran_order: bool) -> list[int]:
    """The row-major positions of the elements, in the order in which a file has them."""
    if not fortran_order or 0 in shape:
        return list(range(math.prod(shape)))
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    indices = itertools.product(*map(range, reversed(shape)))
    return [sum(map(int.__mul__, reversed(index), strides)) for index in indices]


def header(descr: str, shape: tuple[int, ...], fortran_order: bool = False) -> str:
    return repr({"descr": descr, "fortran_order": fortran_order, "shape": shape})


def file_with_header(text: str, elements: bytes, major: int = 1) -> bytes:
    length = struct.pack("<H" if major == 1 else "<I", len(text) + 1)
    return b"\x93NUMPY" + bytes([major, 0]) + length + text.encode() + b"\n" + elements


def encode(array: Array, major: int = 1) -> bytes:
    elements = b"".join(
        pack(array.descr, array.values[i]) for i in file_order(array.shape, array.fortran_order)
    )
    text = header(array.descr, array.shape, array.fortran_order)
    text += " " * (-(8 + (2 if major == 1 else 4) + len(text) + 1) % 64)
    return file_with_header(text, elements, major)


def decode(content: bytes) -> Array:
    """Reads what the command writes: version 1.0."""
    assert content[:8] == b"\x93NUMPY\x01\x00", content[:8]
    start = 10 + struct.unpack("<H", content[8:10])[0]
    assert start % 64 == 0, "elements are not aligned"
    assert content[start - 1 : start] == b"\n", "the header does not end in a new line"
    fields = ast.literal_eval(content[10:start].decode())
    descr, shape, fortran_order = fields["descr"], fields["shape"], fields["fortran_order"]
    size = element_size(descr)
    order = file_order(shape, fortran_order)
    assert len(content) == start + size * len(order), "the file has another length"
    values = [None] * len(order)
    for place, position in enumerate(order):
        at = start + size * place
        values[position] = unpack(descr, content[at : at + size])
    return Array(descr, shape, values, fortran_order)


def read(path: Path) -> Array:
    return decode(path.read_bytes())
