# SPDX-License-Identifier: Apache-2.0
"""The promises of a header to programs that are compiled already, as libabigail reads them.

abidw reads debug information, which a release has not. So the header is compiled alone, in C, with
a body that does nothing for every function. The library's own sources include the same header, and
no C++ compiler lets them define a function of C otherwise than it is declared; that all of them
are exported, under their version, is for test/house/symbols.py.
"""

import subprocess
from pathlib import Path
from xml.etree import ElementTree

import declarations
import house

OPTIONS = ["-std=c99", "-g", "-O0", "-fPIC", "-shared", "-nostdlib", "-w", "-DSTREW_BUILDING"]
# Or the constants, which no function's type names, would not be told of.
EVERY_TYPE = "-fno-eliminate-unused-debug-types"
ABIDW = ["--load-all-types", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs"]


def shared_library(source: str, made: Path, soname: str, *options: str) -> None:
    code = made.with_suffix(".c")
    code.write_text(source)
    script = made.with_suffix(".map")
    script.write_text(f"STREW_{soname.rsplit('.', 1)[1]} {{ global: strew_*; local: *; }};\n")
    linked = [f"-Wl,--version-script={script}", f"-Wl,-soname,{soname}", "-o", str(made)]
    subprocess.run([*options, str(code), *linked], check=True)


def describe(header: Path, folder: Path, soname: str, compiler: list[str]) -> str:
    """The description that abidw gives of a library with the functions of the header."""
    bodies = [f"{text} {{ __builtin_trap(); }}\n" for text in functions(header)]
    library = folder / "described.so"
    source = f'#include "{header.resolve()}"\n' + "".join(bodies)
    shared_library(source, library, soname, *compiler, *OPTIONS, EVERY_TYPE)
    return house.output_of([house.require("abidw"), *ABIDW, str(library)])


def functions(header: Path) -> list[str]:
    return list(declarations.functions(header.read_text()).values())


def symbols(description: str) -> list[str]:
    root = ElementTree.fromstring(description)
    return [symbol.attrib["name"] for symbol in root.iter("elf-symbol")]


def constants(description: str) -> dict[str, str]:
    root = ElementTree.fromstring(description)
    return {each.attrib["name"]: each.attrib["value"] for each in root.iter("enumerator")}
