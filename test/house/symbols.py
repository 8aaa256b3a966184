# SPDX-License-Identifier: Apache-2.0
"""The shared library exports the functions of the header, under the version node, and no other.

usage: symbols.py <shared library> <header> <nm> <readelf>
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import declarations
import house


def unmarked_functions(header: str) -> Iterator[str]:
    for text in declarations.of(header):
        if re.search(r"\bstrew_\w+ ?\(", text) and not text.startswith(("STREW_API ", "typedef ")):
            yield f"not marked STREW_API: {text}"


def exported_symbols(library: Path, nm: str) -> dict[str, str]:
    """Name and version of every symbol but the version nodes themselves, which are absolute."""
    lines = house.output_of([nm, "-D", "--defined-only", str(library)]).splitlines()
    symbols = [line.split()[-1] for line in lines if line.split()[-2] != "A"]
    return {name: version for name, _, version in (symbol.partition("@") for symbol in symbols)}


def soname(library: Path, readelf: str) -> str:
    found = re.search(r"\(SONAME\).*\[(.*)\]", house.output_of([readelf, "-dW", str(library)]))
    return found[1] if found else "none"


def problems(library: Path, header: str, nm: str, readelf: str) -> Iterator[str]:
    major = re.search(r"#define STREW_VERSION_MAJOR (\d+)", header)[1]
    declared = set(declarations.functions(header))
    exported = exported_symbols(library, nm)
    if not declared:
        yield "no function found in the header"
    yield from unmarked_functions(header)
    yield from (f"declared but not exported: {name}" for name in sorted(declared - set(exported)))
    yield from (f"exported but not declared: {name}" for name in sorted(set(exported) - declared))
    for name, version in exported.items():
        if version != f"@STREW_{major}":
            yield f"{name} has the version '{version}', not '@STREW_{major}'"
    if soname(library, readelf) != f"libstrew.so.{major}":
        yield f"the soname is {soname(library, readelf)}, not libstrew.so.{major}"


def main(library: str, header: str, nm: str, readelf: str) -> None:
    house.require_elf(Path(library))
    house.finish(problems(Path(library), Path(header).read_text(), nm, readelf))


main(*sys.argv[1:])
