# SPDX-License-Identifier: Apache-2.0
"""Which lines and branches of some rooms of src/ the tests reach: all of them, or this fails.

Asserts are compiled out. gcovr leaves out branches that only exceptions make, of which the code has
none (--exclude-throw-branches), and those that only the compiler makes, on lines without code
(--exclude-unreachable-branches). The default that it gives a switch over all of an enumeration is left
out here. A line of a template counts once, whatever it is made for.

usage: report.py <meson> <source root> <build folder> <compiler>...
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import house

ROOMS = ("accumulate", "api", "base", "op", "plan", "prepared", "share", "walk")
OPTIONS = [
    "-Dbuildtype=release",
    "-Db_ndebug=true",
    "-Dcli=disabled",
    "-Dbenchmarks=disabled",
    "-Dtests=enabled",
]
# Not all of "huge", which reaches nothing more but for means.
SUITES = (
    *("reference", "kernel", "base", "plan", "walk", "share", "accumulate", "api", "op"),
    "prepared",
    *("limits", "threads", "coverage"),
)
MOST_MARKERS = 10
MARKER = re.compile(r"GCOVR_EXCL_(?!STOP|BR_STOP)\w+")
COMPILER = Path(__file__).with_name("compiler.py")

Branches = tuple[bool, ...]


def build(meson: str, root: Path, folder: Path, compiler: list[str]) -> None:
    environment = {
        **os.environ,
        "CXX": shlex.join([sys.executable, str(COMPILER)]),
        "STREW_COMPILER": shlex.join(compiler),
        "STREW_ROOMS": " ".join(ROOMS),
    }
    setup = [meson, "setup", str(folder), str(root), *OPTIONS]
    if not (folder / "build.ninja").exists():
        subprocess.run(setup, check=True, env=environment)
    subprocess.run([meson, "compile", "-C", str(folder)], check=True, env=environment)


def run_tests(meson: str, folder: Path) -> None:
    for counts in folder.rglob("*.gcda"):
        counts.unlink()
    suites = [part for suite in SUITES for part in ("--suite", suite)]
    command = [meson, "test", "-C", str(folder), "--no-rebuild"]
    command += ["--timeout-multiplier", "10", *suites]
    if subprocess.run(command).returncode != 0:
        house.finish(["tests fail: what they reach says nothing"])


def counts_by_gcovr(gcovr: str, root: Path, folder: Path) -> dict:
    rooms = "|".join(ROOMS)
    command = [gcovr, "--root", str(root), str(folder / "src"), "--json"]
    command += ["--filter", f"{re.escape(str(root))}/src/({rooms})/"]
    command += ["--exclude-throw-branches", "--exclude-unreachable-branches"]
    return json.loads(house.output_of(command))


class Line:
    """The reach of all instances of a line together; branches by how many an instance has."""

    def __init__(self) -> None:
        self.reached = False
        self.branches: dict[int, Branches] = {}

    def add(self, count: int, branches: Branches) -> None:
        self.reached = self.reached or count > 0
        before = self.branches.get(len(branches), branches)
        self.branches[len(branches)] = tuple(map(max, before, branches))

    def forget_default(self) -> None:
        """Leaves out a branch that is never taken: that of a switch without a default."""
        for count, branches in self.branches.items():
            if branches.count(False) == 1:
                self.branches[count] = tuple(filter(None, branches))

    def all_branches(self) -> list[bool]:
        return [taken for branches in self.branches.values() for taken in branches]


def lines_of(file: dict) -> dict[int, Line]:
    lines: dict[int, Line] = defaultdict(Line)
    for line in file["lines"]:
        if line.get("gcovr/excluded") or line.get("gcovr/noncode"):
            continue
        branches = (branch for branch in line["branches"] if not branch.get("gcovr/excluded"))
        taken = tuple(branch["count"] > 0 for branch in branches)
        lines[line["line_number"]].add(line["count"], taken)
    return lines


def markers(root: Path) -> int:
    files = house.code_files(root, [f"src/{room}" for room in ROOMS], {".h", ".cc"})
    return sum(len(MARKER.findall(file.read_text())) for file in files)


def is_complete_switch(texts: list[str], number: int) -> bool:
    """True if a switch over an enumeration begins there that has no default.

    The compiler makes one all the same, which no test can reach: -Wswitch asks for every case.
    """
    first = texts[number - 1]
    indent = first[: len(first) - len(first.lstrip())]
    if not first.startswith(indent + "switch ("):
        return False
    end = texts.index(indent + "}", number)
    return not any(text.lstrip().startswith("default:") for text in texts[number:end])


def problems_of(path: str, number: int, line: Line, text: str) -> list[str]:
    place = f"{path}:{number}"
    if not line.reached:
        return [f"{place}: never reached: {text}"]
    branches = line.all_branches()
    if all(branches):
        return []
    missing = branches.count(False)
    return [f"{place}: {missing} of {len(branches)} branches never taken: {text}"]


def report(root: Path, counts: dict) -> None:
    lines: list[Line] = []
    problems = []
    for file in counts["files"]:
        texts = (root / file["file"]).read_text().splitlines()
        for number, line in sorted(lines_of(file).items()):
            lines.append(line)
            if is_complete_switch(texts, number):
                line.forget_default()
            problems += problems_of(file["file"], number, line, texts[number - 1].strip())
    reached = sum(line.reached for line in lines)
    branches = [taken for line in lines for taken in line.all_branches()]
    excluded = markers(root)
    if excluded > MOST_MARKERS:
        problems.append(f"{excluded} exclusion markers are more than {MOST_MARKERS}")
    for problem in problems:
        print(problem)
    print(
        f"coverage of {', '.join(ROOMS[:-1])} and {ROOMS[-1]}: {reached} of {len(lines)} lines,"
        f" {sum(branches)} of {len(branches)} branches, {excluded} exclusion markers"
    )
    sys.exit(1 if problems else 0)


def main(meson: str, root: str, folder: str, *compiler: str) -> None:
    gcovr = house.require("gcovr")
    build(meson, Path(root), Path(folder), list(compiler))
    run_tests(meson, Path(folder))
    report(Path(root), counts_by_gcovr(gcovr, Path(root), Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
