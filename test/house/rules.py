# SPDX-License-Identifier: Apache-2.0
"""Small rules of the house: words that a room does without, the length, the head and the comments of
a file.

usage: rules.py <source root>
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import house

LONGEST_FILE = 400
# clang-format leaves comments as they are.
LONGEST_COMMENT = 100
LICENSE = "SPDX-License-Identifier: Apache-2.0"
C_SUFFIXES = {".h", ".cc", ".c"}

# Rooms with functions that C calls.
ENTRIES = ("op", "prepared", "jax", "onnxruntime", "openvino")

EXCEPTIONS = re.compile(r"\b(?:throw|try|catch)\b")
ALLOCATION = re.compile(r"\bnew\b|\b(?:malloc|calloc|realloc|aligned_alloc|posix_memalign)\b")
COMMENT = re.compile(r"\s*(?://|#|\*) ")
# A comment begins with the thing that it tells of.
RIDDLE = re.compile(r"(?://|#|\"{3}) ?(?:What|Whether|Where|Of|Those)\b")
BUILTIN = re.compile(r"\b__builtin_\w+")
LINKAGE = re.compile(r'\bextern\s+"C"')


def forbidden_words(place: Path) -> Iterator[tuple[re.Pattern[str], str]]:
    room = place.parts[0]
    if room not in ("cli", "python", "jax", "openvino"):
        yield EXCEPTIONS, "the library neither throws nor catches"
    if place != Path("base/compiler.h"):
        yield BUILTIN, "base/compiler.h has the builtins of compilers"
    if room == "kernel":
        yield ALLOCATION, "kernels do not allocate"
    if room != "api" and not (room in ENTRIES and place.suffix == ".cc"):
        yield LINKAGE, f'extern "C" stands in api/ and in .cc files of {", ".join(ENTRIES)} only'


def word_problems(src: Path) -> Iterator[str]:
    for file in house.code_files(src.parent, ["src"], C_SUFFIXES):
        place = file.relative_to(src)
        text = house.without_comments(file.read_text())
        lines = list(zip(text.splitlines(), house.without_strings(text).splitlines()))
        for pattern, reason in forbidden_words(place):
            for number, (line, code) in enumerate(lines, start=1):
                found = pattern.search(line if pattern is LINKAGE else code)
                if found:
                    yield f"src/{place}:{number}: {found[0]}: {reason}"


def file_problems(root: Path) -> Iterator[str]:
    for file in house.code_files(root, house.CODE_ROOMS, C_SUFFIXES | {".py"}):
        lines = file.read_text().splitlines()
        place = file.relative_to(root)
        if place.parts[0] == "src" and len(lines) > LONGEST_FILE:
            yield f"{place}: {len(lines)} lines, more than {LONGEST_FILE}"
        for number, line in enumerate(lines, start=1):
            goes_on = number > 1 and lines[number - 2].lstrip()[:2] in ("//", "# ")
            if RIDDLE.match(line.lstrip()) and not goes_on:
                yield f"{place}:{number}: a comment begins with {line.split()[1]}"
            if COMMENT.match(line) and len(line) > LONGEST_COMMENT:
                yield f"{place}:{number}: a comment has more than {LONGEST_COMMENT} columns"
        if not any(LICENSE in line for line in lines[:2]):
            yield f"{place}: does not start with {LICENSE}"


root = Path(sys.argv[1])
house.finish([*word_problems(root / "src"), *file_problems(root)])
