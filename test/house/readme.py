# SPDX-License-Identifier: Apache-2.0
"""The first C program of a page compiles, and prints the text that the page shows under it.

usage: readme.py <page> <include directory> <shared library> <compiler>...
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import house

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def program_and_text(page: Path) -> tuple[str, str | None]:
    """The first block of C, and the block that follows it if that is one of text."""
    blocks = FENCED.findall(page.read_text())
    languages = [language for language, _ in blocks]
    if "c" not in languages:
        house.finish([f"{page.name} has no block of C"])
    at = languages.index("c")
    shown = blocks[at + 1][1] if languages[at + 1 : at + 2] == ["text"] else None
    return blocks[at][1], shown


def printed_by(program: str, include: str, library: Path, compiler: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "page.c")
        source.write_text(program)
        built = source.with_suffix("")
        link = [str(library), f"-Wl,-rpath,{library.parent}", "-o", str(built)]
        command = [*compiler, *FLAGS, f"-I{include}", str(source), *link]
        if subprocess.run(command).returncode != 0:
            house.finish(["the program of the page does not compile"])
        return house.output_of(house.target_command(built))


def main(page: str, include: str, library: str, *compiler: str) -> None:
    program, shown = program_and_text(Path(page))
    printed = printed_by(program, include, Path(library).resolve(), list(compiler))
    if shown is not None and printed != shown:
        house.finish([f"{Path(page).name} shows:\n{shown}", f"but its program prints:\n{printed}"])
    house.finish([])


main(*sys.argv[1:])
