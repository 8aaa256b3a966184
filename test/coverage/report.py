# SPDX-License-Identifier: Apache-2.0
"""Which lines and branches of some rooms of src/ the tests reach: all of them, or this fails.

Asserts are compiled out. gcovr leaves out branches that only exceptions make, of which the code has
none (--exclude-throw-branches), and those that only the compiler makes, on lines without code
(--exclude-unreachable-branches). The default that it gives a switch over all of an enumeration is left
out here. A line of a template counts once, whatever it is made for: gcovr lists the branches of all
its instances one after the other, so gcov is asked for those of each.

usage: report.py <meson> <source root> <build folder> <compiler>...
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
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
TOKEN = re.compile(r"""//.*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+'|[][(){}]""")
COMPILER = Path(__file__).with_name("compiler.py")

Branches = tuple[bool, ...]
Place = tuple[int, int]  # line and column, from 1


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
    """The reach of all instances of a line together.

    Branches are those of a function, or of a lambda on the same line, and by how many an instance
    has: instances may differ if a condition depends on their arguments alone.
    """

    def __init__(self) -> None:
        self.reached = False
        self.branches: dict[tuple[Place | None, int], Branches] = {}

    def add(self, function: Place | None, branches: Branches) -> None:
        key = (function, len(branches))
        before = self.branches.get(key, branches)
        self.branches[key] = tuple(map(max, before, branches))

    def forget_default(self) -> None:
        """Leaves out a branch that is never taken: that of a switch without a default."""
        for key, branches in self.branches.items():
            if branches.count(False) == 1:
                self.branches[key] = tuple(filter(None, branches))

    def all_branches(self) -> list[bool]:
        return [taken for branches in self.branches.values() for taken in branches]


def end_of_lambda(texts: list[str], first: int, column: int) -> int:
    """The last line of a lambda that begins at a line and a column, both counted from 1."""
    depth = 0
    for number, text in enumerate(texts[first - 1 :], first):
        for token in TOKEN.findall(text, column - 1 if number == first else 0):
            depth += (token in "([{") - (token in ")]}")
            if token == "}" and depth == 0:
                return number
    return first


def place_of(function: dict) -> Place:
    return function["start_line"], function["start_column"]


class Functions:
    """The functions of an object file, of which several have one place if they are instances.

    gcov takes the first line of a lambda for all of it. The branches of its other lines, of all its
    instances one after the other, count for the function around it.
    """

    def __init__(self, functions: list[dict], texts: list[str]) -> None:
        self.places = {function["name"]: place_of(function) for function in functions}
        self.instances = Counter(self.places.values())
        self.lambdas = [
            (place, end_of_lambda(texts, *place))
            for place in sorted(self.instances)
            if texts[place[0] - 1][place[1] - 1 :].startswith("[")
        ]

    def of(self, line: dict) -> tuple[Place | None, int]:
        """The place of a line's function, and how many instances of it the line has."""
        place = self.places.get(line.get("function_name"))
        if self.instances[place] > 1:
            return place, 1
        for begin, end in reversed(self.lambdas):
            if begin[0] < line["line_number"] <= end:
                return begin, self.instances[begin]
        return place, 1


def add_instances(file: dict, texts: list[str], lines: dict[int, Line]) -> None:
    """Adds what one object file has of the lines of a file."""
    functions = Functions(file["functions"], texts)
    for line in file["lines"]:
        if line["line_number"] not in lines:
            continue
        taken = tuple(branch["count"] > 0 for branch in line["branches"] if not branch["throw"])
        place, count = functions.of(line)
        size = len(taken) // count if len(taken) % count == 0 else len(taken)
        for first in range(0, len(taken), size or 1):
            lines[line["line_number"]].add(place, taken[first : first + size])


def add_branches(folder: Path, root: Path, files: dict[str, dict[int, Line]]) -> None:
    for counts in sorted((folder / "src").rglob("*.gcda")):
        command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", str(counts)]
        for file in json.loads(house.output_of(command))["files"]:
            path = os.path.relpath(folder / file["file"], root)
            if path in files:
                add_instances(file, (root / path).read_text().splitlines(), files[path])


def lines_of(file: dict) -> tuple[dict[int, Line], dict[int, Line]]:
    """The lines of a file that count, and among them those whose branches count."""
    lines: dict[int, Line] = defaultdict(Line)
    with_branches = {}
    for line in file["lines"]:
        if line.get("gcovr/excluded") or line.get("gcovr/noncode"):
            continue
        number = line["line_number"]
        lines[number].reached |= line["count"] > 0
        if any(not branch.get("gcovr/excluded") for branch in line["branches"]):
            with_branches[number] = lines[number]
    return lines, with_branches


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


def report(root: Path, folder: Path, counts: dict) -> None:
    lines_of_files = {file["file"]: lines_of(file) for file in counts["files"]}
    with_branches = {path: of_file[1] for path, of_file in lines_of_files.items()}
    add_branches(folder, root, with_branches)
    lines: list[Line] = []
    problems = []
    for path, (lines_of_file, _) in lines_of_files.items():
        texts = (root / path).read_text().splitlines()
        for number, line in sorted(lines_of_file.items()):
            lines.append(line)
            if is_complete_switch(texts, number):
                line.forget_default()
            problems += problems_of(path, number, line, texts[number - 1].strip())
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
    counts = counts_by_gcovr(gcovr, Path(root), Path(folder))
    report(Path(root), Path(folder), counts)


if __name__ == "__main__":
    main(*sys.argv[1:])
