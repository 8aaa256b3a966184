# SPDX-License-Identifier: Apache-2.0
"""The #include lines below src/ follow the arrows between the rooms.

usage: includes.py <source root>
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import house

# A room includes its own files, the public header, and the rooms and single files named here.
ARROWS = {
    "base": set(),
    "kernel": {"base"},
    "plan": {"kernel/kernel.h", "base"},
    "walk": {"plan", "kernel/kernel.h", "base"},
    "share": {"walk", "plan", "kernel/kernel.h", "base"},
    "accumulate": {"share", "walk", "plan", "kernel/kernel.h", "base"},
    "api": {"kernel/kernel.h", "base"},
    "op": {"api", "accumulate", "share", "walk", "plan", "base"},
    "reference": {"base/operator.h"},
    "cli": {"api/context.h", "reference", "base/dtype.h", "base/operator.h", "base/policy.h", "base/reduction.h"},
    "python": {"base/operator.h", "base/policy.h", "base/reduction.h", "base/tensor_view.h"},
}
PUBLIC_HEADER = "strew/strew.h"
# A program measures what the benchmarks do.
BESIDE_SRC = {"cli": ("bench/",)}
HIGHWAY_ROOMS = {"kernel"}
# Headers that the library does without; a program may print, and an extension throw.
FORBIDDEN = {"iostream", "thread", "exception", "stdexcept"}
PROGRAMS = {"cli", "python"}

INCLUDE = re.compile(r"^\s*#\s*include\s+(.*?)\s*$")
TARGET_INCLUDE = re.compile(r'^\s*#\s*define\s+HWY_TARGET_INCLUDE\s+("[^"]*")')


def fault_of_own(src: Path, room: str, name: str) -> str | None:
    if name.startswith(BESIDE_SRC.get(room, ())) and (src.parent / name).is_file():
        return None
    if not (src / name).is_file():
        return "no such file below src/"
    other = name.split("/")[0]
    if other == room or other in ARROWS[room] or name in ARROWS[room]:
        return None
    return f"{room} may not include {other}"


def fault_of_system(room: str, name: str) -> str | None:
    if name.startswith("hwy/") and room not in HIGHWAY_ROOMS:
        return "only the kernels include Highway"
    if name in FORBIDDEN and room not in PROGRAMS:
        return "the library does without it"
    return None


def fault(src: Path, room: str, operand: str) -> str | None:
    if operand[1:-1] == PUBLIC_HEADER:
        return None
    if operand[0] + operand[-1] == '""':
        return fault_of_own(src, room, operand[1:-1])
    if operand[0] + operand[-1] == "<>":
        return fault_of_system(room, operand[1:-1])
    return "neither quoted nor in angle brackets"


def problems(src: Path) -> Iterator[str]:
    for file in house.code_files(src.parent, ["src"], {".h", ".cc", ".c"}):
        place = file.relative_to(src)
        room = place.parts[0]
        if room not in ARROWS:
            yield f"src/{place}: no arrow is drawn for {room}"
            continue
        lines = house.without_comments(file.read_text()).splitlines()
        for number, line in enumerate(lines, start=1):
            found = INCLUDE.match(line) or TARGET_INCLUDE.match(line)
            reason = found and fault(src, room, found[1])
            if reason:
                yield f"src/{place}:{number}: {found[1]}: {reason}"


house.finish(problems(Path(sys.argv[1]) / "src"))
