# SPDX-License-Identifier: Apache-2.0
"""The #include lines below src/ follow the arrows between the rooms that doc/inside.md draws.

usage: includes.py <source root>
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import house

PUBLIC_HEADER = "strew/strew.h"
# A program measures what the benchmarks do.
BESIDE_SRC = {"cli": ("bench/",)}
HIGHWAY_ROOMS = {"kernel"}
# Headers that the library does without; a program may print, and an extension throw.
FORBIDDEN = {"iostream", "thread", "exception", "stdexcept"}
PROGRAMS = {"cli", "python"}
# Rooms over the public header alone, which the drawing leaves out. OpenVINO and XLA are of C++ with
# exceptions.
ADAPTERS = {"jax", "onnxruntime", "openvino"}

# "| `room` | what is in it | the rooms and single files that it includes |"
ROW = re.compile(r"^\| `(\w+)` \| .+ \| ?(.*?) ?\|$", re.MULTILINE)
ARROW = re.compile(r"(\w+) ─+► (?=(\w+))")
INCLUDE = re.compile(r"^\s*#\s*include\s+(.*?)\s*$")
TARGET_INCLUDE = re.compile(r'^\s*#\s*define\s+HWY_TARGET_INCLUDE\s+("[^"]*")')


def arrows_of(page: str) -> dict[str, set[str]]:
    """The files that each room may include besides its own files and the public header."""
    law = page.split("## Follow a call")[0]
    return {room: set(filter(None, others.split(", "))) for room, others in ROW.findall(law)}


def drawing_faults(page: str, arrows: dict[str, set[str]]) -> Iterator[str]:
    drawing = page.split("```")[1]
    for room, other in ARROW.findall(drawing):
        if other not in arrows.get(room, set()):
            yield f"doc/inside.md: an arrow from {room} to {other} is drawn, but not in the table"
    for room in arrows:
        if room not in PROGRAMS | ADAPTERS | {"reference"} and room not in drawing:
            yield f"doc/inside.md: {room} is not drawn"


def missing_files(root: Path, page: str) -> Iterator[str]:
    for name in re.findall(r"`([\w.-]+/[\w./-]*)`", page):
        if not any((folder / name).exists() for folder in (root, root / "src")):
            yield f"doc/inside.md: there is no {name}"


def fault_of_own(src: Path, room: str, name: str, arrows: set[str]) -> str | None:
    if name.startswith(BESIDE_SRC.get(room, ())) and (src.parent / name).is_file():
        return None
    if not (src / name).is_file():
        return "no such file below src/"
    other = name.split("/")[0]
    if other == room or other in arrows or name in arrows:
        return None
    return f"{room} may not include {other}"


def fault_of_system(room: str, name: str) -> str | None:
    if name.startswith("hwy/") and room not in HIGHWAY_ROOMS:
        return "only the kernels include Highway"
    if name in FORBIDDEN and room not in PROGRAMS:
        return "the library does without it"
    return None


def fault(src: Path, room: str, operand: str, arrows: set[str]) -> str | None:
    if operand[1:-1] == PUBLIC_HEADER:
        return None
    if operand[0] + operand[-1] == '""':
        return fault_of_own(src, room, operand[1:-1], arrows)
    if operand[0] + operand[-1] == "<>":
        return fault_of_system(room, operand[1:-1])
    return "neither quoted nor in angle brackets"


def problems(src: Path) -> Iterator[str]:
    page = (src.parent / "doc" / "inside.md").read_text()
    arrows = arrows_of(page)
    yield from drawing_faults(page, arrows)
    yield from missing_files(src.parent, page)
    for room in arrows:
        if not (src / room).is_dir():
            yield f"doc/inside.md: there is no src/{room}"
    for file in house.code_files(src.parent, ["src"], {".h", ".cc", ".c"}):
        place = file.relative_to(src)
        room = place.parts[0]
        if room not in arrows:
            yield f"src/{place}: no arrow is drawn for {room}"
            continue
        lines = house.without_comments(file.read_text()).splitlines()
        for number, line in enumerate(lines, start=1):
            found = INCLUDE.match(line) or TARGET_INCLUDE.match(line)
            reason = found and fault(src, room, found[1], arrows[room])
            if reason:
                yield f"src/{place}:{number}: {found[1]}: {reason}"


house.finish(problems(Path(sys.argv[1]) / "src"))
