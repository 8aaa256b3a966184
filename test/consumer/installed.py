# SPDX-License-Identifier: Apache-2.0
"""`meson install` puts down exactly these files, and a .pc file that asks for nothing but strew.

usage: installed.py <meson> <build> <prefix> <libdir> <version> <command: yes, no or bare>
                    <names of adapters, with commas> <includedir> <bindir> <mandir> <datadir>
                    [<folder of the Python packages>]
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import house
import staging
from package_files import ADAPTERS, package_files


def library(folder: str, include: str, version: str) -> set[str]:
    """Paths below the prefix; a link shows where it leads."""
    major = version.split(".")[0]
    return {
        f"{include}/strew/strew.h",
        f"{folder}/libstrew.so -> libstrew.so.{major}",
        f"{folder}/libstrew.so.{major} -> libstrew.so.{version}",
        f"{folder}/libstrew.so.{version}",
        f"{folder}/libstrew.a",
        f"{folder}/pkgconfig/strew.pc",
        f"{folder}/cmake/strew/strewConfig.cmake",
        f"{folder}/cmake/strew/strewConfigVersion.cmake",
    }


def command(kind: str, binaries: str, manual: str, data: str) -> set[str]:
    described = {
        f"{manual}/man1/strew.1",
        f"{data}/bash-completion/completions/strew",
        f"{data}/fish/vendor_completions.d/strew.fish",
    }
    program = {f"{binaries}/strew"}
    return {"no": set(), "bare": program, "yes": program | described}[kind]


def package(prefix: str, packages: str, adapters: list[str]) -> set[str]:
    """Nothing where the folder is not below the prefix, as that of a Python of the system."""
    folder = os.path.relpath(Path(prefix, packages), prefix)
    is_below = not folder.startswith("..")
    return {f"{folder}/{name}" for name in package_files(adapters)} if is_below else set()


def found(staged: staging.Staged) -> Iterator[str]:
    for file in staged.prefix.rglob("*"):
        name = os.path.relpath(file, staged.prefix)
        if file.is_symlink():
            yield f"{name} -> {os.readlink(file)}"
        elif not file.is_dir():
            yield name


def module_problems(staged: staging.Staged, include: str, version: str) -> Iterator[str]:
    """A consumer must not need the .pc file of Highway, which changes everybody's flags."""
    for line in (staged.libraries / "pkgconfig/strew.pc").read_text().splitlines():
        if line.startswith("Requires"):
            yield f"strew.pc: {line}"
    if staged.pkg_config("--modversion") != [version]:
        yield f"strew.pc: the version is not {version}"
    if staged.pkg_config("--cflags") != [f"-I{staged.prefix}/{include}"]:
        yield f"strew.pc: --cflags gives {staged.pkg_config('--cflags')}"
    if staged.pkg_config("--libs") != [f"-L{staged.libraries}", "-lstrew"]:
        yield f"strew.pc: --libs gives {staged.pkg_config('--libs')}"


def adapter_problems(staged: staging.Staged, adapters: list[str]) -> Iterator[str]:
    """strew.pc tells where they are."""
    told = staged.pkg_config("--variable=onnxruntime_library")
    path = f"{staged.libraries}/libstrew_onnxruntime.so"
    if told != ([path] if "libstrew_onnxruntime.so" in adapters else []):
        yield f"strew.pc: onnxruntime_library is {told}"


def main(meson: str, build: str, prefix: str, folder: str, version: str, *more: str) -> None:
    kind, listed, include, binaries, manual, data, *packages = more
    adapters = list(filter(None, listed.split(",")))
    with tempfile.TemporaryDirectory() as root:
        staged = staging.install(meson, build, Path(root), prefix, folder)
        names = set(found(staged))
        wanted = library(folder, include, version) | command(kind, binaries, manual, data)
        wanted |= {f"{folder}/{name}" for name in adapters}
        wanted = wanted.union(*(package(prefix, below, adapters) for below in packages))
        # The package has these where their systems are; nothing else has them.
        own = tuple(f"strew/{name}" for name in ADAPTERS)
        known = wanted | {name for name in names if name.endswith(own)}
        problems = [f"not installed: {name}" for name in sorted(wanted - names)]
        problems += [f"installed but not expected: {name}" for name in sorted(names - known)]
        if not problems:
            problems += module_problems(staged, include, version)
            problems += adapter_problems(staged, adapters)
        house.finish(problems)


main(*sys.argv[1:])
