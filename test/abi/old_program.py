# SPDX-License-Identifier: Apache-2.0
"""A program that was linked against the library of the baseline runs with today's.

That library is made anew, with the baseline's functions, which do nothing, and their version.

usage: old_program.py <shared library> <baseline> <soname> <compiler>...
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import house
import interface

SOURCE = Path(__file__).parent / "program.c"
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror"]


def table(names: list[str]) -> str:
    """References to all functions, which the loader has to find before the program begins."""
    declared = "".join(f"void {name}(void);\n" for name in names)
    return f"{declared}void (*const every_function[])(void) = {{{', '.join(names)}}};\n"


def link(baseline: Path, soname: str, compiler: list[str], folder: Path) -> Path:
    """In a folder of its own the library that is linked against, which is not there to run with."""
    names = interface.symbols(baseline.read_text())
    then = folder / "then"
    then.mkdir()
    bodies = "".join(f"void {name}(void) {{}}\n" for name in names)
    interface.shared_library(bodies, then / soname, soname, *compiler, "-fPIC", "-shared")
    functions = folder / "functions.c"
    functions.write_text(table(names))
    program = folder / "program"
    sources = [str(SOURCE), str(functions)]
    linked = [str(then / soname), "-Wl,-z,now", "-o", str(program)]
    subprocess.run([*compiler, *FLAGS, *sources, *linked], check=True)
    return program


def run(program: Path, libraries: Path, quietly: bool = False) -> int:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries)}
    printed = subprocess.DEVNULL if quietly else None
    return subprocess.run([str(program)], env=environment, stdout=printed).returncode


def problems(program: Path, library: Path) -> Iterator[str]:
    if run(program, program.parent / "then", quietly=True) == 0:
        yield "the program is content with functions that do nothing: it checks nothing"
    if run(program, library.parent) != 0:
        yield "it does not run with the library of today"


def main(library: str, baseline: str, soname: str, *compiler: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = link(Path(baseline), soname, list(compiler), Path(folder))
        found = list(problems(program, Path(library).resolve()))
        house.finish(found)


main(*sys.argv[1:])
