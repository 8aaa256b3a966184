# SPDX-License-Identifier: Apache-2.0
"""Calls on many threads have no data race, says ThreadSanitizer of a build that it instruments.

It runs the plainest instruction set, where every access is one that the compiler sees, and the best.

usage: thread_sanitizer.py <meson> <source root> <compiler>...
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import house

PLAINEST = "SCALAR"
# The cases of each test that run: all would take an hour.
FILTERS = {
    "parallel": "EveryDtype/*/complex64:EveryDtype/*/opaque_12:ParallelCopy*",
    "parallel_index": "*AmongRows/*",
    "pool": "*",
    "own_threads": "*",
    "runner": "Runner*:ChoiceOfRunner*:NumThreads*",
    "threads": "*",
    "first_use": "*",
    "plans": "Threads*",
}
RACE_FOUND = 66


def run(program: Path, *arguments: str, quietly: bool = False) -> int:
    environment = {
        **os.environ,
        "TSAN_OPTIONS": f"halt_on_error=1:exitcode={RACE_FOUND}",
        "STREW_TARGETS": f"best,{PLAINEST}",
    }
    reports = subprocess.DEVNULL if quietly else None
    command = [str(program), *arguments]
    return subprocess.run(command, env=environment, stderr=reports).returncode


def require_sanitizer(compiler: list[str], folder: Path) -> None:
    """Skips where the compiler has no ThreadSanitizer, or the kernel does not let it run."""
    source = folder / "empty.cc"
    source.write_text("int main() {}\n")
    program = folder / "empty"
    command = [*compiler, "-fsanitize=thread", str(source), "-o", str(program)]
    if subprocess.run(command).returncode != 0 or run(program) != 0:
        house.skip("ThreadSanitizer does not work here")


def build(meson: str, root: str, folder: Path) -> Path:
    made = folder / "build"
    subprocess.run([meson, "setup", str(made), root, *house.instrumented("thread")], check=True)
    targets = ["race", *(f"test_{name}" for name in FILTERS)]
    subprocess.run([meson, "compile", "-C", str(made), *targets], check=True)
    return made / "test"


def problems(programs: Path) -> list[str]:
    found = []
    if run(programs / "threads" / "race", PLAINEST, quietly=True) != RACE_FOUND:
        found.append("a race that is there was not found: the check would check nothing")
    for name, cases in FILTERS.items():
        answer = run(programs / f"test_{name}", f"--gtest_filter={cases}")
        if answer != 0:
            found.append(f"{name}: {'a data race' if answer == RACE_FOUND else f'exit {answer}'}")
    return found


def main(meson: str, root: str, *compiler: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        require_sanitizer(list(compiler), Path(folder))
        found = problems(build(meson, root, Path(folder)))
    house.finish(found)


main(*sys.argv[1:])
