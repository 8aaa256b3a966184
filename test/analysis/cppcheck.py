# SPDX-License-Identifier: Apache-2.0
"""cppcheck finds nothing in the sources below src/.

usage: cppcheck.py <source root>
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import house

MACROS = Path(__file__).with_name("cppcheck.cfg")
OPTIONS = [
    "--quiet",
    "--std=c++17",
    "--language=c++",
    f"--library={MACROS}",
    "--enable=warning,performance,portability",
    "--error-exitcode=1",
    "--template={file}:{line}: {id}: {message}",
    # Nests and lists are initialised as far as they are in use, of which cppcheck knows nothing:
    # valgrind and the sanitizers look for numbers that nobody wrote.
    *(
        f"--suppress={name}"
        for name in (
            *("uninitMemberVar", "uninitMemberVarPrivate"),
            *("uninitvar", "legacyUninitvar", "ctuuninitvar"),
        )
    ),
    # Kernels depend on so many macros of Highway that cppcheck tries 12 combinations only.
    "--suppress=toomanyconfigs",
]
# Findings that are wrong, by the files that have them.
WRONG = {
    # The caller refuses a step of 0.
    "zerodivcond": ["jax/slice_shape.cc"],
    # The function whose result is returned takes the address of a variable, and does not keep it.
    "returnDanglingLifetime": ["onnxruntime/shape.cc"],
    # A function that is called by its pointer sets the variable, or returns an error.
    "nullPointer": ["python/exchange.cc"],
    # `"wide"_a = false` is a parameter of nanobind with its default, not a text.
    "assignBoolToPointer": ["python/context.cc", "python/module.cc", "python/plan.cc"],
}


def suppressions(src: Path) -> Iterator[str]:
    for finding, names in WRONG.items():
        for file in (src / name for name in names):
            if not file.is_file():
                house.finish([f"{finding} is suppressed in {file}, which is not there"])
            yield f"--suppress={finding}:{file}"


def main(source: str) -> None:
    root = Path(source)
    src = root / "src"
    house.code_files(root, [src.name], {".cc"})
    includes = [f"-I{root / 'include'}", f"-I{src}"]
    command = [house.require("cppcheck"), *OPTIONS, *suppressions(src), *includes, str(src)]
    sys.exit(subprocess.run(command).returncode)


main(*sys.argv[1:])
