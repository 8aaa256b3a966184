#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times programs of other systems with their own kernels and with strew's.

Both ways of a program take turns in one process, each on its own memory. The best of many runs
counts, and only the ratio of a row is meaningful. Each system and number of threads has its own
process, which is limited to as many CPUs. The results of both ways are compared first.

Prints a table; --csv writes the figures and --picture draws them. Exits with 1 if results differ.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tabulate import tabulate

from harness import inside, machine
from harness.inside import Row
from harness.threads import on
from harness.timing import alternate


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=Path, help="the build directory of strew, with the package")
    parser.add_argument(
        "--system",
        nargs="+",
        choices=list(inside.SYSTEMS),
        default=list(inside.SYSTEMS),
        help="(default: all)",
    )
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[1, 2], metavar="N", help="(default: 1 2)"
    )
    parser.add_argument(
        "--filter", default="", metavar="WORDS", help="only cases whose name has these words"
    )
    parser.add_argument(
        "--seconds", type=float, default=2, help="to measure a case for (default: 2)"
    )
    parser.add_argument(
        "--turns", type=int, default=9, metavar="N", help="of each way at least (default: 9)"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="for the figures")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="an SVG of the ratios")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def use_cpus(count: int) -> None:
    """Limits this process, and all threads that it makes later, to this number of CPUs."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def measure(arguments: argparse.Namespace) -> Iterator[Row | str]:
    """The rows of one system with one number of threads, or what is wrong with a case."""
    (system,), (threads,) = arguments.system, arguments.threads
    use_cpus(threads)
    sys.path.insert(0, str(arguments.build / "src" / "python"))
    version, cases = inside.load(system, threads)
    for case in cases:
        if arguments.filter not in case.name:
            continue
        if not case.same():
            yield f"{case.name}: the results differ"
            continue
        gc.collect()
        ways = {"before": case.before, "after": case.after}
        timings = alternate(ways, arguments.seconds, arguments.turns)
        yield Row.of(inside.SYSTEMS[system], version, threads, case, timings)


def in_a_process(arguments: argparse.Namespace, system: str, threads: int) -> Iterator[Row | str]:
    command = [sys.executable, __file__, str(arguments.build), "--measure"]
    command += ["--system", system, "--threads", str(threads), "--filter", arguments.filter]
    command += ["--seconds", str(arguments.seconds), "--turns", str(arguments.turns)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            told = json.loads(line)
            yield told if isinstance(told, str) else Row(**told)
    if process.returncode != 0:
        yield f"{inside.SYSTEMS[system]} on {on(threads)}: exit {process.returncode}"


def describe(rows: Sequence[Row]) -> str:
    versions = {f"{row.system} {row.version}": None for row in rows}
    return ", ".join([machine.describe(), *versions])


def markdown(rows: Sequence[Row]) -> str:
    """One line for a case, with the figures of each number of threads."""
    counts = sorted({row.threads for row in rows})
    lines: dict[tuple[str, str], dict[int, Row]] = {}
    for row in rows:
        lines.setdefault((row.system, row.name), {})[row.threads] = row
    table = []
    for (system, name), found in lines.items():
        cells = [_cell(found.get(count)) for count in counts]
        table.append((system, name, *(text for cell in cells for text in cell)))
    columns = ["system", "program"]
    for count in counts:
        columns += [f"before, {on(count)}", "with strew", "ratio"]
    return tabulate(table, columns, tablefmt="pipe", disable_numparse=True)


def _cell(row: Row | None) -> tuple[str, str, str]:
    if row is None:
        return "", "", ""
    return seconds(row.before), seconds(row.after), f"{row.ratio:.2f}"


def seconds(value: float) -> str:
    for unit, name in ((1, "s"), (1e-3, "ms")):
        if value >= unit:
            return f"{value / unit:.3g} {name}"
    return f"{value * 1e6:.3g} us"


def write_csv(rows: Sequence[Row], path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in dataclasses.fields(Row)])
        for row in rows:
            figures = (f"{row.before:.6g}", f"{row.after:.6g}")
            writer.writerow((row.system, row.version, row.threads, row.name, *figures))


def main() -> int:
    arguments = parse_arguments()
    if arguments.measure:
        for told in measure(arguments):
            words = told if isinstance(told, str) else dataclasses.asdict(told)
            print(json.dumps(words), flush=True)
        return 0
    rows, problems = [], []
    for system in arguments.system:
        for threads in arguments.threads:
            for told in in_a_process(arguments, system, threads):
                (problems if isinstance(told, str) else rows).append(told)
    print(describe(rows), markdown(rows), sep="\n\n")
    if arguments.csv:
        write_csv(rows, arguments.csv)
    if arguments.picture:
        from harness.inside import picture

        picture.draw(rows, describe(rows), arguments.picture)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
