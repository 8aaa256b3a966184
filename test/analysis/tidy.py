# SPDX-License-Identifier: Apache-2.0
"""clang-tidy finds nothing in the sources of the library and the command.

Kernels are read as they are for one instruction set, SSE4.

usage: tidy.py <meson> <source root> <build folder>
"""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import house

CHECKS = Path(__file__).parent / "clang-tidy.yaml"
OPTIONS = ["-Dtests=disabled", "-Dbenchmarks=disabled"]
ONE_TARGET = [
    "-UHWY_COMPILE_ALL_ATTAINABLE",
    "-DHWY_COMPILE_ONLY_STATIC",
    "-msse4.2",
    "-maes",
    "-mpclmul",
]
# An index of int8 is a number, not a character. In a template of the kernels a variable may change
# where `if constexpr` discards the code for most types. A case of the reference has the operands
# that its operator needs, and the oracle may copy what it returns.
LEFT_OUT = {
    "kernel": "-bugprone-signed-char-misuse,-misc-const-correctness",
    "reference": "-bugprone-signed-char-misuse,-bugprone-unchecked-optional-access,"
    "-performance-no-automatic-move",
}


def newest(program: str) -> str:
    return shutil.which(f"{program}-16") or house.require(program)


def configure(meson: str, root: str, folder: Path) -> None:
    """Nothing is built: only the compiler's options are asked for."""
    if (folder / "build.ninja").exists():
        return
    environment = {**os.environ, "CXX": newest("clang++"), "CC": newest("clang")}
    command = [meson, "setup", str(folder), root, *OPTIONS]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


def sources(folder: Path, root: Path) -> list[Path]:
    commands = json.loads((folder / "compile_commands.json").read_text())
    files = {(Path(each["directory"]) / each["file"]).resolve() for each in commands}
    return sorted(file for file in files if (root / "src") in file.parents)


def complaints(tidy: str, folder: Path, file: Path) -> str:
    options = ["--quiet", f"--config-file={CHECKS}", "-p", str(folder)]
    room = file.parent.name
    if room == "kernel":
        options += [f"--extra-arg={argument}" for argument in ONE_TARGET]
    if room in LEFT_OUT:
        options.append(f"--checks={LEFT_OUT[room]}")
    done = subprocess.run([tidy, *options, str(file)], text=True, capture_output=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def main(meson: str, root: str, place: str) -> None:
    tidy = newest("clang-tidy")
    folder = Path(place)
    configure(meson, root, folder)
    files = sources(folder, Path(root).resolve())
    if not files:
        house.finish(["no source found"])
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        found = list(pool.map(lambda file: complaints(tidy, folder, file), files))
    print(f"{len(files)} files read")
    house.finish(text for text in found if text)


main(*sys.argv[1:])
