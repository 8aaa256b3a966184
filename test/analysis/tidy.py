# SPDX-License-Identifier: Apache-2.0
"""clang-tidy finds nothing in the sources below src/.

Kernels are read as they are for one instruction set, SSE4. Files that need headers which are not
here are named, with the reason. A file that is neither read nor named is an error.

usage: tidy.py <meson> <source root> <build folder> [<option of Meson>...]
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import house

CHECKS = Path(__file__).parent / "clang-tidy.yaml"
OPTIONS = ["-Dtests=disabled", "-Dbenchmarks=disabled", "-Dpython=auto"]
ONE_TARGET = [
    "-UHWY_COMPILE_ALL_ATTAINABLE",
    "-DHWY_COMPILE_ONLY_STATIC",
    "-msse4.2",
    "-maes",
    "-mpclmul",
]
# Files and folders below src/ that the build may lack, and what they need. windows.cc cannot be
# read on Linux, which does not have the headers of Windows.
NEEDS = {
    "base/windows.cc": "the headers of Windows",
    "cli/windows.cc": "the headers of Windows",
    "cli/zip_file.cc": "libzip",
    "cli": "CLI11",
    "reference": "CLI11",
    "python": "nanobind and the headers of CPython",
    "jax": "nanobind, and the headers of jaxlib",
    "openvino": "nanobind, and the headers of OpenVINO",
    "onnxruntime": "the headers of ONNX Runtime",
}
# These replace other files in builds without threads or libzip. clang-tidy reads a file that the
# build does not have with the options of a file beside it.
REPLACEMENTS = ["base/no_threads.cc", "cli/no_zip_file.cc"]
# An index of int8 is a number, not a character. In a template of the kernels a variable may change
# where `if constexpr` discards the code for most types. They choose between pointers by masks,
# because compilers make branches of other choices. A case of the reference has the operands that
# its operator needs, and the oracle may copy what it returns. Python knows the address of a C
# function as an integer.
LEFT_OUT = {
    "kernel": "-bugprone-signed-char-misuse,-misc-const-correctness,-performance-no-int-to-ptr",
    "reference": "-bugprone-signed-char-misuse,-bugprone-unchecked-optional-access,"
    "-performance-no-automatic-move",
    "python": "-performance-no-int-to-ptr",
}


def newest(program: str) -> str:
    return shutil.which(f"{program}-16") or house.require(program)


def configure(meson: str, root: str, folder: Path, options: list[str]) -> None:
    """Nothing is built: only the compiler's options are asked for. An older folder is configured
    again, because sources or packages may have been added."""
    # Meson looks for python3 in PATH; the one that runs this script has the packages.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "CXX": newest("clang++"), "CC": newest("clang"), "PATH": path}
    again = ["--reconfigure"] if (folder / "build.ninja").exists() else []
    command = [meson, "setup", *again, str(folder), root, *OPTIONS, *options]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


def built(folder: Path, src: Path) -> set[Path]:
    commands = json.loads((folder / "compile_commands.json").read_text())
    files = {(Path(each["directory"]) / each["file"]).resolve() for each in commands}
    return {file for file in files if src in file.parents}


def left_out(src: Path, found: set[Path]) -> Iterator[tuple[str, set[Path]]]:
    """Names from NEEDS of which the build has nothing, each with its files."""
    for name in NEEDS:
        place = src / name
        files = set(place.rglob("*.cc")) if place.is_dir() else {place}
        if not files & found:
            yield name, files


def complaints(tidy: str, folder: Path, file: Path) -> str:
    options = ["--quiet", f"--config-file={CHECKS}", "-p", str(folder)]
    room = file.parent.name
    if room == "kernel":
        options += [f"--extra-arg={argument}" for argument in ONE_TARGET]
    if room in LEFT_OUT:
        options.append(f"--checks={LEFT_OUT[room]}")
    done = subprocess.run([tidy, *options, str(file)], text=True, capture_output=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def main(meson: str, root: str, place: str, *options: str) -> None:
    tidy = newest("clang-tidy")
    folder = Path(place)
    src = Path(root).resolve() / "src"
    present = set(house.code_files(src.parent, [src.name], {".cc"}))
    configure(meson, root, folder, list(options))
    found = built(folder, src)
    missing = dict(left_out(src, found))
    unread = set().union(*missing.values())
    files = found | {src / name for name in REPLACEMENTS} - unread
    unknown = sorted(present - files - unread)
    if unknown:
        house.finish(f"{file} is neither compiled nor named in {__file__}" for file in unknown)
    absent = sorted((files | unread) - present)
    if absent:
        house.finish(f"{file} is not there" for file in absent)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        texts = list(pool.map(lambda file: complaints(tidy, folder, file), sorted(files)))
    print(f"{len(files)} files read")
    for name in missing:
        print(f"not read: src/{name}, which needs {NEEDS[name]}")
    house.finish(text for text in texts if text)


main(*sys.argv[1:])
