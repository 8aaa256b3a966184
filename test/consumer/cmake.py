# SPDX-License-Identifier: Apache-2.0
"""A CMake project finds the installed library by find_package(strew), builds and runs, and is told
where that is not what it wants.

usage: cmake.py <target> <meson> <build> <prefix> <libdir> <version> <compiler>...
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import house
import staging

HERE = Path(__file__).parent


def configured(folder: Path, prefix: Path, library: str, wanted: str, compiler: list[str]) -> bool:
    shutil.rmtree(folder / "build", ignore_errors=True)
    shutil.copy(HERE / "consumer.c", folder)
    shutil.copy(HERE / "cmake" / "CMakeLists.txt", folder)
    command = ["cmake", "-S", str(folder), "-B", str(folder / "build"), f"-DLIBRARY={library}"]
    command += [f"-DWANTED={wanted}", f"-DCMAKE_PREFIX_PATH={prefix}"]
    environment = {**os.environ, "CC": " ".join(compiler)}  # as 'ccache cc', or with a sanitizer
    return subprocess.run(command, env=environment).returncode == 0


def refusal_problems(folder: Path, prefix: Path, version: str, compiler: list[str]) -> list[str]:
    major, minor, _ = map(int, version.split("."))
    wrong = [f"{major}.{minor + 1}", f"{major + 1}", f"{major}...<{version}", "0.0...0.0.9"]
    wrong.append(f"{version};COMPONENTS;static")
    accepted = [
        wanted for wanted in wrong if configured(folder, prefix, "strew::strew", wanted, compiler)
    ]
    return [f"version {version} passes for {wanted}" for wanted in accepted]


def main(
    library: str, meson: str, build: str, prefix: str, folder: str, version: str, *compiler: str
) -> None:
    house.require("cmake")
    with tempfile.TemporaryDirectory() as root:
        staged = staging.install(meson, build, Path(root, "stage"), prefix, folder)
        project = Path(root, "project")
        project.mkdir()
        problems = refusal_problems(project, staged.prefix, version, list(compiler))
        wanted = version.rpartition(".")[0] + ";OPTIONAL_COMPONENTS;static"
        if not configured(project, staged.prefix, library, wanted, list(compiler)):
            house.finish([*problems, f"find_package(strew {wanted}) failed"])
        subprocess.run(["cmake", "--build", str(project / "build")], check=True)
        program = project / "build" / "consumer"
        subprocess.run(house.target_command(program), check=True)
        house.finish(problems)


main(*sys.argv[1:])
