# SPDX-License-Identifier: Apache-2.0
"""Lets clang read the public header as it would for systems whose own headers are not here, as C and
as C++, for its users and for the build of the library; and with the headers of MinGW, if they are
here, what the library and the command ask of compilers and of Windows.

usage: syntax.py <source root>
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SKIPPED = 77  # Meson's exit code of a test that did not run
COMPILERS = ("clang-16", "clang", "clang-14")
TARGETS = ("x86_64-pc-windows-msvc", "aarch64-pc-windows-msvc", "arm64-apple-macos")
LANGUAGES = (("c", "c99"), ("c++", "c++17"))
DEFINES = ((), ("-DSTREW_STATIC",), ("-DSTREW_BUILDING",))


WARNINGS = ("-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
MINGW = "x86_64-w64-mingw32-g++-posix"


def header_readings(header: Path) -> Iterator[list[str]]:
    for target in TARGETS:
        for language, standard in LANGUAGES:
            for defines in DEFINES:
                # Freestanding: clang's own <stddef.h> and <stdint.h> ask for no others. clang 14
                # warns for macOS that it finds no C++ library.
                options = [f"--target={target}", "-ffreestanding", *defines]
                options += ["-Wno-stdlibcxx-not-found"]
                options += ["-x", language, f"-std={standard}", "-include", str(header)]
                yield [*options, "/dev/null"]


def windows_readings(root: Path) -> Iterator[list[str]]:
    if shutil.which(MINGW) is None:
        return
    command = [MINGW, "-print-file-name=include/c++"]
    said = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
    headers = Path(said.stdout.strip())
    options = ["--target=x86_64-w64-windows-gnu", "-x", "c++", "-std=c++17", "-Wconversion"]
    options += [f"-stdlib++-isystem{headers}", "-isystem", str(headers / "x86_64-w64-mingw32")]
    options += ["-DSTREW_STATIC", f"-I{root / 'src'}", f"-I{root / 'include'}"]
    sources = [each for each in (root / "src/base").glob("*.cc") if each.name != "posix.cc"]
    for source in (*sources, root / "src/cli/windows.cc"):
        yield [*options, str(source)]


def main(root: str) -> int:
    clang = next(filter(None, map(shutil.which, COMPILERS)), None)
    if clang is None:
        print("skipped: there is no clang (Debian package clang-16)")
        return SKIPPED
    readings = [*header_readings(Path(root, "include/strew/strew.h"))]
    readings += windows_readings(Path(root))
    failed = sum(subprocess.run([clang, *WARNINGS, *each]).returncode != 0 for each in readings)
    print(f"{failed} of {len(readings)} failed with {clang}")
    return min(failed, 1)


sys.exit(main(*sys.argv[1:]))
