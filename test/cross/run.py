# SPDX-License-Identifier: Apache-2.0
"""Builds the library for other CPUs, runs tests of it under qemu's emulators of them, Wine or
Node.js, and compares the results of random calls with those of this machine, byte for byte.

The files beside this script describe the machines to Meson; --packages prints what each needs on
Debian 12. Where no Highway is installed for a machine, that of subprojects/highway.wrap is built,
and with --highway the one in a folder, on this machine too under the name "native".

usage: run.py --identity <program> [--quick] [--build <folder>] [--highway <folder>] [<machine>...]
       run.py --packages [<machine>...]
"""

import argparse
import ast
import configparser
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import windows
from building import NO_HIGHWAY, ROOT, SKIPPED, has_highway_sources, highway_wrap, quietly

HERE = Path(__file__).parent

OPTIONS = [
    "-Dcli=disabled",
    "-Dbenchmarks=disabled",
    "-Dtests=enabled",
]
IDENTITY = "test/cross/identity"
# With so many random cases of each dtype and operator, or random calls, where a test has a choice.
QUICK = {"test_target": 0, "test_oracle": 0, "test_random": 10}
FULL = {
    **QUICK,
    "test_random": 60,
    "test_examples": 0,
    "test_policies": 0,
    "test_exclude_self": 0,
    "test_mean": 0,
    "test_wide": 0,
    "test_mean_terms": 0,
    "test_large": 0,
    "test_runs": 0,
    "hostile/test_guard_pages": 5000,
    "hostile/test_hostile_calls": 20000,
}


@dataclass
class Machine:
    triplet: str  # of Debian's cross compiler
    architecture: str  # as dpkg calls it; "" where Debian 12 has no packages for it
    cpus: dict[str, str] = field(default_factory=lambda: {"": "max"})  # of qemu
    runs_on: str = "qemu-user"  # the package of what runs its programs
    compiler: str = ""  # the package of its compiler, if that is not g++-<triplet>
    suffix: str = ""  # of its programs
    without: tuple[str, ...] = ()  # tests of what it does not have
    once: str = ""  # targets that do not depend on the CPU: tests run them on the first one only


# Vectors of SVE have the length that the process begins with.
SVE = {
    f"SVE of {8 * size} bits": f"max,sve-default-vector-length={size}" for size in (16, 32, 64, 256)
}
MACHINES = {
    "aarch64": Machine(
        "aarch64-linux-gnu", "arm64", {"NEON": "max,sve=off", **SVE}, once="NEON SCALAR"
    ),
    "armhf": Machine("arm-linux-gnueabihf", "armhf"),
    "ppc64le": Machine("powerpc64le-linux-gnu", "ppc64el", {"": "power10"}),
    "s390x": Machine("s390x-linux-gnu", "s390x", {"": "qemu"}),
    "i386": Machine("i686-linux-gnu", "i386", {"": ""}),
    "riscv64": Machine("riscv64-linux-gnu", "", {"": "rv64"}),
    "x86_64-windows": Machine(
        "x86_64-w64-mingw32", "", {"": ""}, "wine", "g++-mingw-w64-x86-64-posix", ".exe"
    ),
    "wasm32": Machine(
        *("wasm32-unknown-emscripten", "", {"": ""}, "nodejs", "emscripten", ".js"),
        without=("hostile/test_guard_pages",),
    ),
}
NATIVE = "native"


def packages(names: list[str]) -> list[str]:
    needed = ["libgtest-dev"]
    if any(name != NATIVE and is_windows(MACHINES[name]) for name in names):
        needed.append("libcli11-dev")
    for machine in (MACHINES[name] for name in names if name != NATIVE):
        needed += [machine.runs_on, machine.compiler or f"g++-{machine.triplet}"]
        if machine.architecture:
            needed += [f"{each}:{machine.architecture}" for each in ("libhwy-dev", "libgtest-dev")]
    return list(dict.fromkeys(needed))


def is_windows(machine: Machine) -> bool:
    return machine.runs_on == "wine"


def binary(name: str, key: str) -> str | list[str]:
    file = configparser.ConfigParser()
    file.read(HERE / f"{name}.ini")
    return ast.literal_eval(file["binaries"][key])


def emulator(name: str) -> list[str]:
    return [] if name == NATIVE else binary(name, "exe_wrapper")


def missing(name: str) -> str:
    """The first program that is needed and not installed."""
    if name == NATIVE:
        return ""
    needed = [binary(name, "cpp"), emulator(name)[0]]
    return next((program for program in needed if shutil.which(program) is None), "")


def has_highway(names: list[str]) -> bool:
    """True if Debian has Highway for all, or its sources are where Meson looks for them."""
    packaged = all(name == NATIVE or MACHINES[name].architecture for name in names)
    return packaged or has_highway_sources()


def tests_of(name: str, tests: dict[str, int]) -> dict[str, int]:
    if name == NATIVE:
        return tests
    machine = MACHINES[name]
    more = windows.TESTS if is_windows(machine) and tests is FULL else {}
    return {test: n for test, n in {**tests, **more}.items() if test not in machine.without}


def source_with(highway: Path, folder: Path) -> Path:
    """The sources, with another Highway in place of the wrap's."""
    source = folder / "source"
    if source.exists():
        return source
    (source / "subprojects").mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name not in ("subprojects", ".git") and not entry.name.startswith("build"):
            (source / entry.name).symlink_to(entry)
    wrap = highway_wrap()
    shutil.copy(ROOT / "subprojects" / "highway.wrap", source / "subprojects")
    patched = source / "subprojects" / wrap["directory"]
    shutil.copytree(highway, patched)
    patch = ROOT / "subprojects" / "packagefiles" / wrap["patch_directory"]
    shutil.copytree(patch, patched, dirs_exist_ok=True)
    return source


@dataclass
class Build:
    name: str
    folder: Path
    tests: dict[str, int]

    def machine(self) -> Machine:
        return MACHINES.get(self.name, Machine("", "", {"": ""}))

    def is_windows(self) -> bool:
        return is_windows(self.machine())

    def make(self, source: Path, options: list[str]) -> None:
        if self.name != NATIVE:
            options = [*options, "--cross-file", str(HERE / f"{self.name}.ini")]
        if self.is_windows():
            options = [*options, *windows.options(self.folder.parent)]
        if not (self.folder / "build.ninja").exists():
            command = ["meson", "setup", str(self.folder), str(source), *OPTIONS, *options]
            quietly(command)
        programs = [IDENTITY, *(f"test/{test}" for test in self.tests)]
        if "-Dcli=enabled" in options:
            programs += [windows.COMMAND]
        if self.is_windows():
            programs += windows.LIBRARIES
        command = ["meson", "compile", "-C", str(self.folder), *programs]
        quietly(command)

    def run(self, program: str, cpu: str, cases: int = 0) -> subprocess.CompletedProcess[str]:
        cpus = self.machine().cpus
        environment = {**os.environ, "QEMU_CPU": cpus[cpu], "GTEST_BRIEF": "1"}
        if program != IDENTITY and cpu != next(iter(cpus)):
            environment["STREW_WITHOUT_TARGETS"] = self.machine().once
        if cases:
            environment |= {"STREW_CASES": str(cases), "STREW_CALLS": str(cases)}
        suffix = self.machine().suffix
        if self.is_windows():
            environment |= windows.environment(self.folder)
        command = [*emulator(self.name), str(self.folder / program) + suffix]
        return subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE)

    def problems(self, cpu: str, expected: str) -> list[str]:
        where = f"{self.name} {cpu}".strip()
        begin = time.monotonic()
        wine = windows.wine_running(self.folder) if self.is_windows() else nullcontext()
        with wine:
            targets, found = self.problems_on(cpu, expected)
        print(f"{where}: {' '.join(targets)}, {time.monotonic() - begin:.0f} s", flush=True)
        return [f"{where}: {problem}" for problem in found]

    def problems_on(self, cpu: str, expected: str) -> tuple[list[str], list[str]]:
        """The targets that the CPU has, and what is wrong on it."""
        answer = self.run(IDENTITY, cpu)
        results = dict(line.split() for line in answer.stdout.splitlines())
        found = []
        if self.is_windows():
            found += windows.problems(self.folder, self.machine().triplet, self.tests == QUICK)
        if answer.returncode != 0 or not results:
            found.append(f"{IDENTITY}: exit {answer.returncode}")
        for target, result in results.items():
            if result != expected:
                found.append(f"{target} has other results than this machine's SCALAR")
        for test, cases in self.tests.items():
            answer = self.run(f"test/{test}", cpu, cases)
            if answer.returncode != 0:
                found.append(f"{test}: exit {answer.returncode}\n{answer.stdout[-4000:]}")
        return list(results), found


def results_here(identity: Path) -> str:
    lines = subprocess.run([str(identity)], check=True, text=True, stdout=subprocess.PIPE).stdout
    return dict(line.split() for line in lines.splitlines())["SCALAR"]


def main(arguments: argparse.Namespace) -> int:
    names = arguments.machine or list(MACHINES)
    if arguments.packages:
        print(" ".join(packages(names)))
        return 0
    if not arguments.highway and not has_highway(names):
        print(f"skipped: {NO_HIGHWAY}")
        return SKIPPED
    for name in names:
        if missing(name):
            print(f"skipped: {missing(name)} is not installed; run.py --packages names all")
            return SKIPPED
    expected = results_here(arguments.identity)
    with tempfile.TemporaryDirectory() as temporary:
        builds = arguments.build or Path(temporary)
        source, options = ROOT, []
        if arguments.highway:
            source = source_with(arguments.highway, builds)
            options = ["--force-fallback-for=libhwy"]
        tests = QUICK if arguments.quick else FULL
        made = [Build(name, builds / name, tests_of(name, tests)) for name in names]
        for build in made:
            build.make(source, options)
        # Each CPU of a machine takes minutes, on one CPU of this machine.
        runs = [(build, cpu) for build in made for cpu in build.machine().cpus]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda run: run[0].problems(run[1], expected), runs)
            problems = list(chain.from_iterable(found))
    print("\n".join(problems) or f"all results are those of this machine: {' '.join(names)}")
    return 1 if problems else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer tests")
    parser.add_argument("--packages", action="store_true", help="print what is to be installed")
    parser.add_argument("--build", type=Path, help="a folder to keep the builds in")
    parser.add_argument("--highway", type=Path, help="the sources of another Highway")
    parser.add_argument("--identity", type=Path, help="that program, built for this machine")
    parser.add_argument("machine", nargs="*", choices=[[], *MACHINES, NATIVE])
    arguments = parser.parse_args()
    if arguments.identity is None and not arguments.packages:
        parser.error("--identity is needed, to know what is right")
    return arguments


sys.exit(main(parse()))
