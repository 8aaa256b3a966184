# SPDX-License-Identifier: Apache-2.0
"""Builds the library for other CPUs, runs tests of it under qemu's emulators of them, and compares
the results of random calls with those of this machine, byte for byte.

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
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SKIPPED = 77  # Meson's exit code of a test that did not run

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
    compiler: str = "g++"


# Vectors of SVE have the length that the process begins with.
SVE = {
    f"SVE of {8 * size} bits": f"max,sve-default-vector-length={size}" for size in (16, 32, 64, 256)
}
MACHINES = {
    "aarch64": Machine("aarch64-linux-gnu", "arm64", {"NEON": "max,sve=off", **SVE}),
    "armhf": Machine("arm-linux-gnueabihf", "armhf"),
    "ppc64le": Machine("powerpc64le-linux-gnu", "ppc64el"),
    "s390x": Machine("s390x-linux-gnu", "s390x", {"": "qemu"}),
    "i386": Machine("i686-linux-gnu", "i386", {"": ""}),
    "riscv64": Machine("riscv64-linux-gnu", "", {"": "rv64"}),
    "x86_64-windows": Machine("x86_64-w64-mingw32", "", {"": ""}, "wine", "g++-posix"),
}
NATIVE = "native"


def packages(names: list[str]) -> list[str]:
    needed = ["libgtest-dev"]
    for machine in (MACHINES[name] for name in names if name != NATIVE):
        needed += [machine.runs_on, debian_compiler(machine)]
        if machine.architecture:
            needed += [f"{each}:{machine.architecture}" for each in ("libhwy-dev", "libgtest-dev")]
    return list(dict.fromkeys(needed))


def debian_compiler(machine: Machine) -> str:
    return "g++-mingw-w64-x86-64-posix" if is_windows(machine) else f"g++-{machine.triplet}"


def is_windows(machine: Machine) -> bool:
    return machine.runs_on == "wine"


def emulator(name: str) -> list[str]:
    if name == NATIVE:
        return []
    file = configparser.ConfigParser()
    file.read(HERE / f"{name}.ini")
    return ast.literal_eval(file["binaries"]["exe_wrapper"])


def missing(name: str) -> str:
    """The first program that is needed and not installed."""
    if name == NATIVE:
        return ""
    machine = MACHINES[name]
    needed = [f"{machine.triplet}-{machine.compiler}", emulator(name)[0]]
    return next((program for program in needed if shutil.which(program) is None), "")


def has_highway(names: list[str]) -> bool:
    """True if Debian has Highway for all, or its sources are where Meson looks for them."""
    wrap = configparser.ConfigParser()
    wrap.read(ROOT / "subprojects" / "highway.wrap")
    settings = wrap["wrap-file"]
    places = (settings["directory"], f"packagecache/{settings['source_filename']}")
    if any((ROOT / "subprojects" / place).exists() for place in places):
        return True
    return all(name == NATIVE or MACHINES[name].architecture for name in names)


def quietly(command: list[str]) -> None:
    """Runs it, and shows what it says only where it fails."""
    said = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if said.returncode != 0:
        sys.exit(f"{said.stdout}\n{' '.join(command)}: exit {said.returncode}")


def source_with(highway: Path, folder: Path) -> Path:
    """The sources, with another Highway in place of the wrap's."""
    source = folder / "source"
    if source.exists():
        return source
    (source / "subprojects").mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name not in ("subprojects", ".git") and not entry.name.startswith("build"):
            (source / entry.name).symlink_to(entry)
    wrap = configparser.ConfigParser()
    wrap.read(ROOT / "subprojects" / "highway.wrap")
    shutil.copy(ROOT / "subprojects" / "highway.wrap", source / "subprojects")
    patched = source / "subprojects" / wrap["wrap-file"]["directory"]
    shutil.copytree(highway, patched)
    patch = ROOT / "subprojects" / "packagefiles" / wrap["wrap-file"]["patch_directory"]
    shutil.copytree(patch, patched, dirs_exist_ok=True)
    return source


def headers_of_gtest(folder: Path) -> Path:
    """A folder with them alone: those of the C library beside them are not for Windows."""
    headers = folder / "include"
    headers.mkdir(parents=True, exist_ok=True)
    if not (headers / "gtest").exists():
        (headers / "gtest").symlink_to("/usr/include/gtest")
    return headers


# Moves that need aligned memory, of more bytes than the stacks of Windows are aligned to.
ALIGNED_MOVE = re.compile(r"\bvmov(?:ap[sd]|dqa(?:32|64)?)\b[^\n]*%[yz]mm")


def aligned_moves(library: Path, objdump: str) -> list[str]:
    """Wide aligned moves to or from memory. Tests may pass where these would fault: by
    chance a stack can be aligned."""
    command = [objdump, "-d", "--no-show-raw-insn", str(library)]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as program:
        return [
            line.strip() for line in program.stdout if ALIGNED_MOVE.search(line) and "(" in line
        ]


@dataclass
class Build:
    name: str
    folder: Path
    tests: dict[str, int]

    def is_windows(self) -> bool:
        return self.name != NATIVE and is_windows(MACHINES[self.name])

    def make(self, source: Path, options: list[str]) -> None:
        if self.name != NATIVE:
            options = [*options, "--cross-file", str(HERE / f"{self.name}.ini")]
        if self.is_windows():
            options = [*options, f"-Dcpp_args=-I{headers_of_gtest(self.folder.parent)}"]
        if not (self.folder / "build.ninja").exists():
            command = ["meson", "setup", str(self.folder), str(source), *OPTIONS, *options]
            quietly(command)
        programs = [IDENTITY, *(f"test/{test}" for test in self.tests)]
        command = ["meson", "compile", "-C", str(self.folder), *programs]
        quietly(command)

    def run(self, program: str, cpu: str, cases: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "QEMU_CPU": cpu, "GTEST_BRIEF": "1"}
        if cases:
            environment |= {"STREW_CASES": str(cases), "STREW_CALLS": str(cases)}
        suffix = ""
        if self.is_windows():
            suffix = ".exe"
            library = "Z:" + str((self.folder / "src").resolve()).replace("/", "\\")
            environment |= {
                "WINEPATH": library,
                "WINEPREFIX": str((self.folder / "wine").resolve()),
                "WINEDEBUG": "-all",
            }
        command = [*emulator(self.name), str(self.folder / program) + suffix]
        return subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE)

    def problems(self, expected: str) -> list[str]:
        cpus = MACHINES[self.name].cpus if self.name != NATIVE else {"": ""}

        def problems_of(cpu: str) -> list[str]:
            where = f"{self.name} {cpu}".strip()
            begin = time.monotonic()
            targets, found = self.problems_on(cpus[cpu], expected)
            print(f"{where}: {' '.join(targets)}, {time.monotonic() - begin:.0f} s", flush=True)
            return [f"{where}: {problem}" for problem in found]

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(chain.from_iterable(pool.map(problems_of, cpus)))

    def problems_on(self, cpu: str, expected: str) -> tuple[list[str], list[str]]:
        """The targets that the CPU has, and what is wrong on it."""
        answer = self.run(IDENTITY, cpu)
        results = dict(line.split() for line in answer.stdout.splitlines())
        found = []
        if self.is_windows():
            moves = aligned_moves(
                self.folder / "src/libstrew-0.dll", f"{MACHINES[self.name].triplet}-objdump"
            )
            found += [f"the stack may not be aligned for: {move}" for move in moves[:10]]
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
        print("skipped: no sources of Highway; python3 packaging/highway.py gets them from Debian")
        return SKIPPED
    for name in names:
        if missing(name):
            print(f"skipped: {missing(name)} is not installed; run.py --packages names all")
            return SKIPPED
    expected = results_here(arguments.identity)
    problems = []
    with tempfile.TemporaryDirectory() as temporary:
        builds = arguments.build or Path(temporary)
        source, options = ROOT, []
        if arguments.highway:
            source = source_with(arguments.highway, builds)
            options = ["--force-fallback-for=libhwy"]
        for name in names:
            build = Build(name, builds / name, QUICK if arguments.quick else FULL)
            build.make(source, options)
            problems += build.problems(expected)
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
