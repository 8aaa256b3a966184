# SPDX-License-Identifier: Apache-2.0
"""An installation in a folder of its own, and the consumer built against it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import house

WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


@dataclass
class Staged:
    root: Path  # a folder that is the test's own
    prefix: Path
    libraries: Path

    def pkg_config(self, *options: str) -> list[str]:
        command = [house.require("pkg-config"), f"--define-variable=prefix={self.prefix}"]
        module = str(self.libraries / "pkgconfig" / "strew.pc")
        return house.output_of([*command, *options, module]).split()


def install(
    meson: str, build: str, root: Path, prefix: str, library_folder: str, moves: bool = True
) -> Staged:
    """Everything is moved once it is installed: nothing may know where it was put."""
    first = root / "first"
    command = [meson, "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", str(first)]
    subprocess.run(command, check=True)
    staged = first / prefix.lstrip("/")
    if moves:
        staged = staged.rename(root / "moved")
    return Staged(root, staged, staged / library_folder)


def build_and_run(source: Path, staged: Staged, compiler: list[str], *pkg_options: str) -> None:
    """The consumer is built with nothing but the flags that pkg-config gives."""
    program = staged.root / "consumer"
    flags = staged.pkg_config("--cflags", "--libs", *pkg_options)
    rpath = f"-Wl,-rpath,{staged.libraries}"
    command = [*compiler, *WARNINGS, str(source), *flags, rpath, "-o", str(program)]
    subprocess.run(command, check=True)
    subprocess.run(house.target_command(program), check=True)
