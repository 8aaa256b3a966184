# SPDX-License-Identifier: Apache-2.0
"""The example of a language runs by the command that doc/languages.md gives, prints expected.txt, and
calls every function of the header. Where a call fails, it says why.

usage: run.py <skip> <language> <packages> <probe> <command> <library> <strew.h> <compiler>...

`skip` is a reason not to, or nothing. `packages` bring what it takes; the shell command `probe`
succeeds where they are installed. `command` runs in a copy of the language's folder.
"""

from __future__ import annotations

import ctypes
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import house
import recorder

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = "doc/languages.md"


def targets_of(library: Path) -> list[str]:
    target_at = ctypes.CDLL(str(library)).strew_simd_target_at
    target_at.restype = ctypes.c_char_p
    found = []
    while (name := target_at(len(found))) is not None:
        found.append(name.decode())
    return found


def expected(library: Path, header: Path) -> list[str]:
    """The output of every example; the version is that of the header."""
    version = re.findall(r"#define STREW_VERSION_\w+ (\d+)", header.read_text())
    major, minor, patch = map(int, version)
    targets = targets_of(library)
    text = (HERE / "expected.txt").read_text()
    return text.format(
        version=".".join(version),
        number=major * 10000 + minor * 100 + patch,
        targets=" ".join(targets),
        best=targets[0],
    ).splitlines()


def environment(folder: Path, libraries: Path, header: Path) -> dict[str, str]:
    """As if strew were installed. What compilers keep goes into the folder."""
    own = {
        "CPATH": header.parents[1],
        "LIBRARY_PATH": libraries,
        "LD_LIBRARY_PATH": libraries,
        "NODE_PATH": ROOT / ".venv" / "node_modules",
        "GOCACHE": folder / "go",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    return {**os.environ, **{name: str(value) for name, value in own.items()}}


def row(language: str, packages: str, command: str) -> str:
    """The row that the page must have; commands that run there leave files beside the example."""
    (example,) = (HERE / language).glob("[eE]xample.*")
    return f"| [{language}](../test/ffi/{language}/{example.name}) | {packages} | `{command}` |"


class Example:
    """An example in a folder of its own, with a library that records the calls."""

    def __init__(self, folder: Path, language: str, library: Path, header: Path, cc: list[str]):
        self._place = folder / "test" / "ffi" / language
        shutil.copytree(HERE / language, self._place)
        (folder / "test" / "python").symlink_to(ROOT / "test" / "python")
        self._recorder = recorder.Recorder(folder / "libraries", library, header, cc)
        self._environment = environment(folder, self._recorder.folder, header)

    def shell(self, command: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            shell=True,
            cwd=self._place,
            text=True,
            stdout=subprocess.PIPE,
            **{"env": self._environment, **options},
        )

    def problems(self, command: str, wanted: list[str]) -> list[str]:
        done = self.shell(command)
        if done.returncode != 0:
            return [done.stdout, f"`{command}` ended with {done.returncode}"]
        missing = [f"{name} was not called" for name in self._recorder.missing()]
        printed = done.stdout.splitlines()
        differences = difflib.unified_diff(wanted, printed, "expected", "printed", lineterm="")
        return [*missing, *differences, *self._problems_of_a_failure(command)]

    def _problems_of_a_failure(self, command: str) -> list[str]:
        """A call fails while descriptors and a plan exist."""
        environment = {**self._environment, recorder.FAILING: "strew_plan_gather"}
        done = self.shell(command, env=environment, stderr=subprocess.PIPE)
        if done.returncode != 0 and "Memory could not be allocated" in done.stderr:
            return []
        return [done.stderr, f"`{command}` ended with {done.returncode} where a call fails"]


def main(skip: str, language: str, packages: str, probe: str, command: str, *built: str) -> None:
    if skip:
        house.skip(skip)
    library, header = (Path(path).resolve() for path in built[:2])
    with tempfile.TemporaryDirectory() as temporary:
        example = Example(Path(temporary), language, library, header, list(built[2:]))
        if example.shell(probe).returncode != 0:
            house.skip(f"`{probe}` fails; it takes {packages}")
        problems = example.problems(command, expected(library, header))
    line = row(language, packages, command)
    if line not in (ROOT / PAGE).read_text().splitlines():
        problems.append(f"{PAGE} lacks this line:\n{line}")
    house.finish(problems)


main(*sys.argv[1:])
