# SPDX-License-Identifier: Apache-2.0
"""cppcheck finds nothing in the sources outside of the kernels, whose macros it cannot read.

usage: cppcheck.py <source root>
"""

import subprocess
import sys
from pathlib import Path

import house

ROOMS = ["api", "base", "op", "plan", "run", "cli", "reference"]
OPTIONS = [
    "--quiet",
    "--std=c++17",
    "--language=c++",
    "--enable=warning,performance,portability",
    "--error-exitcode=1",
    "--template={file}:{line}: {id}: {message}",
    # Nests and lists are initialised as far as they are in use, of which cppcheck knows nothing:
    # valgrind and the sanitizers look for numbers that nobody wrote.
    *(
        f"--suppress={name}"
        for name in ("uninitMemberVar", "uninitMemberVarPrivate", "uninitvar", "ctuuninitvar")
    ),
]


def main(source: str) -> None:
    root = Path(source)
    house.code_files(root / "src", ROOMS, {".cc"})
    folders = [str(root / "src" / room) for room in ROOMS]
    includes = [f"-I{root / 'include'}", f"-I{root / 'src'}"]
    command = [house.require("cppcheck"), *OPTIONS, *includes, *folders]
    sys.exit(subprocess.run(command).returncode)


main(*sys.argv[1:])
