# SPDX-License-Identifier: Apache-2.0
"""No object of the library runs code when it is loaded.

usage: initialisers.py <static library> <readelf> <reason to skip, or nothing>
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import house

SECTION = re.compile(r"^\s*\[\s*\d+\]\s+(\.(?:preinit_array|init_array|ctors)\S*)")


def problems(sections: str) -> Iterator[str]:
    """Readelf heads the sections of each member with `File: archive(member)`."""
    member = ""
    members = 0
    for line in sections.splitlines():
        if line.startswith("File: "):
            member = line.removeprefix("File: ")
            members += 1
        elif found := SECTION.match(line):
            yield f"{member} has the section {found[1]}"
    if members == 0:
        yield "the archive has no members"


def main(archive: str, readelf: str, reason: str = "") -> None:
    if reason:
        house.skip(reason)
    sections = house.output_of([readelf, "-SW", str(Path(archive))])
    if "Section Headers:" not in sections:
        house.skip(f"{Path(archive).name} does not hold ELF objects")
    house.finish(problems(sections))


main(*sys.argv[1:])
