# SPDX-License-Identifier: Apache-2.0
"""The shared library needs few others, and is loaded the way that leaves an attacker least.

usage: linkage.py <shared library> <readelf> <reason to skip, or nothing>
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import house

# libhwy is not needed where Highway is the wrap's, nor the C++ runtime where nothing of it is used.
MAY_BE_NEEDED = re.compile(r"lib(?:c|m|gcc_s|stdc\+\+|hwy)\.so\.\d+|ld-linux.*\.so\.\d+")
NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")
SEGMENT = re.compile(r"^\s+(\w+)\s+(?:0x[0-9a-f]+\s+){5}([RWE ]{3})", re.MULTILINE)


def dynamic_problems(dynamic: str) -> Iterator[str]:
    needed = NEEDED.findall(dynamic)
    if not needed:
        yield "it needs no library: not even that of C"
    yield from (f"it needs {name}" for name in needed if not MAY_BE_NEEDED.fullmatch(name))
    if not re.search(r"\(FLAGS(?:_1)?\).*\b(?:BIND_)?NOW\b", dynamic):
        yield "its functions are not bound at once, so that the table of them stays writable"
    for tag in ("TEXTREL", "RPATH", "RUNPATH"):
        if f"({tag})" in dynamic:
            yield f"it has a {tag}"


def segment_problems(headers: str) -> Iterator[str]:
    segments = {}
    for name, flags in SEGMENT.findall(headers):
        segments[name] = flags
        if "W" in flags and "E" in flags:
            yield f"the segment {name} can be written and executed"
    if "LOAD" not in segments:
        yield "no segment found"
    for name in ("GNU_RELRO", "GNU_STACK"):
        if name not in segments:
            yield f"the segment {name} is missing"


def main(library: str, readelf: str, reason: str = "") -> None:
    house.require_elf(Path(library))
    if reason:
        house.skip(reason)
    dynamic = house.output_of([readelf, "-dW", library])
    headers = house.output_of([readelf, "-lW", library])
    house.finish([*dynamic_problems(dynamic), *segment_problems(headers)])


main(*sys.argv[1:])
