# SPDX-License-Identifier: Apache-2.0
"""`meson install` puts down exactly these files, and a .pc file that asks for nothing but strew.

usage: installed.py <meson> <build> <prefix> <libdir> <version> <command: yes, no or bare>
                    [<folder of the Python packages>]
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import house
import staging
from package_files import package_files


def expected(folder: str, version: str, command: str) -> set[str]:
    """Paths below the prefix; a link shows where it leads."""
    major = version.split(".")[0]
    files = {
        "include/strew/strew.h",
        f"{folder}/libstrew.so -> libstrew.so.{major}",
        f"{folder}/libstrew.so.{major} -> libstrew.so.{version}",
        f"{folder}/libstrew.so.{version}",
        f"{folder}/libstrew.a",
        f"{folder}/pkgconfig/strew.pc",
        f"{folder}/cmake/strew/strewConfig.cmake",
        f"{folder}/cmake/strew/strewConfigVersion.cmake",
    }
    described = {
        "bin/strew",
        "share/man/man1/strew.1",
        "share/bash-completion/completions/strew",
        "share/fish/vendor_completions.d/strew.fish",
    }
    return files | {"no": set(), "bare": {"bin/strew"}, "yes": described}[command]


def expected_package(prefix: str, packages: str) -> set[str]:
    """Nothing where the folder is not below the prefix, as that of a Python of the system."""
    folder = os.path.relpath(Path(prefix, packages), prefix)
    is_below = not folder.startswith("..")
    return {f"{folder}/{name}" for name in package_files()} if is_below else set()


def found(staged: staging.Staged) -> Iterator[str]:
    for file in staged.prefix.rglob("*"):
        name = os.path.relpath(file, staged.prefix)
        if file.is_symlink():
            yield f"{name} -> {os.readlink(file)}"
        elif not file.is_dir():
            yield name


def module_problems(staged: staging.Staged, version: str) -> Iterator[str]:
    """A consumer must not need the .pc file of Highway, which changes everybody's flags."""
    for line in (staged.libraries / "pkgconfig/strew.pc").read_text().splitlines():
        if line.startswith("Requires"):
            yield f"strew.pc: {line}"
    if staged.pkg_config("--modversion") != [version]:
        yield f"strew.pc: the version is not {version}"
    if staged.pkg_config("--cflags") != [f"-I{staged.prefix}/include"]:
        yield f"strew.pc: --cflags gives {staged.pkg_config('--cflags')}"
    if staged.pkg_config("--libs") != [f"-L{staged.libraries}", "-lstrew"]:
        yield f"strew.pc: --libs gives {staged.pkg_config('--libs')}"


def main(
    meson: str,
    build: str,
    prefix: str,
    folder: str,
    version: str,
    command: str,
    packages: str = "",
) -> None:
    with tempfile.TemporaryDirectory() as root:
        staged = staging.install(meson, build, Path(root), prefix, folder)
        names = set(found(staged))
        wanted = expected(folder, version, command)
        wanted |= expected_package(prefix, packages) if packages else set()
        problems = [f"not installed: {name}" for name in sorted(wanted - names)]
        problems += [f"installed but not expected: {name}" for name in sorted(names - wanted)]
        if not problems:
            problems += module_problems(staged, version)
        house.finish(problems)


main(*sys.argv[1:])
