# SPDX-License-Identifier: Apache-2.0
"""Builds the static library with the headers of musl, a C library that knows nothing of GCC's C++
runtime, and links a program in C with it by musl-gcc alone.

usage: musl.py <program in C> <version>
"""

import shutil
import sys
import tempfile
from pathlib import Path

from building import NO_HIGHWAY, ROOT, SKIPPED, has_highway_sources, quietly

COMPILER = "musl-gcc"
HEADERS = "/usr/include/x86_64-linux-musl"
OPTIONS = [
    *("--force-fallback-for=libhwy", "-Dauto_features=disabled", "-Dthreads=enabled"),
    *("-Ddefault_library=static", "-Dwerror=true"),
]


def cpp_compiler() -> list[str]:
    """GCC for C++ with its own headers, and musl's in place of those of the C library."""
    said = quietly(["g++", "-E", "-v", "-x", "c++", "/dev/null"], LC_ALL="C")
    listed = said.split("search starts here:")[-1].split("End of search list")[0].split()
    folders = [folder for folder in listed if "/c++/" in folder]
    own = [folder for folder in listed if "/gcc/" in folder and folder not in folders]
    folders += [HEADERS, *own]
    # The C++ headers ask for the version of glibc.
    command = ["g++", "-nostdinc", "-D__GLIBC_PREREQ(major,minor)=0"]
    return command + [word for folder in folders for word in ("-isystem", folder)]


def main(program: str, version: str) -> int:
    if shutil.which(COMPILER) is None or not Path(HEADERS).is_dir():
        print(f"skipped: no {COMPILER} for x86-64 (Debian package musl-tools)")
        return SKIPPED
    if not has_highway_sources():
        print(f"skipped: {NO_HIGHWAY}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machine, build = folder / "musl.ini", folder / "build"
        machine.write_text(f"[binaries]\nc = '{COMPILER}'\ncpp = {cpp_compiler()}\n")
        setup = ["meson", "setup", "--native-file", str(machine), str(build), str(ROOT)]
        quietly([*setup, *OPTIONS])
        quietly(["meson", "compile", "-C", str(build), "strew:static_library"])
        libraries = [str(build / "src/libstrew.a"), "-lm"]
        linked = folder / "program"
        include = f"-I{ROOT / 'include'}"
        quietly([COMPILER, "-static", include, program, *libraries, "-o", str(linked)])
        said = quietly([str(linked)])
        print(said, end="")
        return 0 if said == f"{version}: STREW_OK: 11 2 23 4\n" else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
