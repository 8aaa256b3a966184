# SPDX-License-Identifier: Apache-2.0
"""Lets clang read the public header as it would for systems whose own headers are not here, as C and
as C++, for its users and for the build of the library.

usage: syntax.py <strew.h>
"""

import shutil
import subprocess
import sys

SKIPPED = 77  # Meson's exit code of a test that did not run
COMPILERS = ("clang-16", "clang", "clang-14")
TARGETS = ("x86_64-pc-windows-msvc", "aarch64-pc-windows-msvc", "arm64-apple-macos")
LANGUAGES = (("c", "c99"), ("c++", "c++17"))
DEFINES = ((), ("-DSTREW_STATIC",), ("-DSTREW_BUILDING",))


def main(header: str) -> int:
    clang = next(filter(None, map(shutil.which, COMPILERS)), None)
    if clang is None:
        print("skipped: there is no clang (Debian package clang-16)")
        return SKIPPED
    failed = 0
    for target in TARGETS:
        for language, standard in LANGUAGES:
            for defines in DEFINES:
                # Freestanding: clang's own <stddef.h> and <stdint.h> ask for no others.
                command = [clang, f"--target={target}", "-ffreestanding", "-fsyntax-only"]
                command += ["-Wall", "-Wextra", "-Wpedantic", "-Werror", *defines]
                command += ["-x", language, f"-std={standard}", "-include", header, "/dev/null"]
                failed += subprocess.run(command).returncode != 0
    print(f"{failed} of {len(TARGETS) * len(LANGUAGES) * len(DEFINES)} failed with {clang}")
    return min(failed, 1)


sys.exit(main(*sys.argv[1:]))
