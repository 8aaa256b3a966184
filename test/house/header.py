# SPDX-License-Identifier: Apache-2.0
"""The public header compiles alone, without a warning, in one standard of C or C++.

usage: header.py <header> <standard> <compiler>...
"""

import subprocess
import sys

import house

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def main(header: str, standard: str, *compiler: str) -> None:
    house.require(compiler[0])
    language = "c++" if standard.startswith("c++") else "c"
    flags = [f"-std={standard}", *WARNINGS, "-fsyntax-only", "-x", language]
    sys.exit(subprocess.run([*compiler, *flags, header]).returncode)


main(*sys.argv[1:])
