#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares strew with the plain scalar loop and with memcpy, workload by workload.

Each workload runs in its own process, in which the contestants take turns in random order on the
same buffers; the best time of each counts. Ratios are those of one run. Prints the table of all
workloads, or writes it to a file, and a summary. Exits with 1 if a result is wrong and, with
--strict, if strew is slower than the scalar loop by more than the tolerance, which allows for the
noise of the machine.

The clock measures CPU time: for a call on one thread this is the elapsed time, and other processes
disturb it less. Workloads named "tiny" show the cost of one checked call. They are listed but not
judged, because a loop over six elements has no such cost.

With --baseline, the ratios are compared with those of an earlier run. A workload counts as slower
if strew has lost against both the loop and memcpy, also when it is measured again. A workload that
the earlier run does not have is an error too.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.baseline import Baseline, Ratios
from harness.machine import cpu_model

CONTESTANTS = ("strew", "scalar", "memcpy")
TURNS_OF_SLOWER = 3  # times that a workload is measured before it counts as slower
MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
HEAD = (
    "| row | strew ms | scalar loop ms | memcpy ms | strew/scalar | GB/s |\n"
    "|---|---:|---:|---:|---:|---:|"
)


@dataclasses.dataclass
class Row:
    """The best of many for one workload: milliseconds by contestant, and what strew moves."""

    name: str
    best: dict[str, float]
    bytes_moved: float

    @property
    def ratios(self) -> Ratios:
        return {of: self.best["strew"] / self.best[of] for of in CONTESTANTS[1:]}

    @property
    def ratio(self) -> float:
        return self.ratios["scalar"]

    @property
    def judged(self) -> bool:
        return ".tiny." not in self.name

    def markdown(self) -> str:
        times = " | ".join(f"{self.best[contestant]:.4g}" for contestant in CONTESTANTS)
        gigabytes = self.bytes_moved / self.best["strew"] / 1e6
        return f"| {self.name} | {times} | {self.ratio:.2f} | {gigabytes:.1f} |"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", help="the program `rows` of the build directory")
    parser.add_argument(
        "--filter", default="", metavar="REGEX", help="only workloads in whose name this is found"
    )
    parser.add_argument(
        "--repetitions", type=int, default=15, metavar="N", help="turns of each (default: 15)"
    )
    parser.add_argument(
        "--min-time",
        type=float,
        default=0.02,
        metavar="SECONDS",
        help="the least that a turn takes, one call at least (default: 0.02)",
    )
    parser.add_argument(
        "--time", choices=("cpu", "real"), default="cpu", help="the clock (default: cpu)"
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=1.05,
        metavar="RATIO",
        help="highest strew/scalar that is taken for equal, because of noise (default: 1.05)",
    )
    parser.add_argument(
        "--strict", action="store_true", help="end with 1 where a workload is above that"
    )
    parser.add_argument(
        "--baseline", type=Path, metavar="FILE", help="ratios to compare with; end with 1 if slower"
    )
    parser.add_argument(
        "--loss",
        type=float,
        default=1.25,
        metavar="FACTOR",
        help="how much larger both ratios may be than in the baseline (default: 1.25)",
    )
    parser.add_argument(
        "--write-baseline", type=Path, metavar="FILE", help="write the ratios of this run"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="for the table, which is printed otherwise"
    )
    return parser.parse_args()


def list_workloads(program: str, pattern: str) -> list[str]:
    listing = subprocess.run(
        [program, "--benchmark_list_tests=true"], check=True, capture_output=True, text=True
    )
    names = (line.rpartition("/")[0] for line in listing.stdout.splitlines())
    return [name for name in dict.fromkeys(names) if name and re.search(pattern, name)]


def measure(arguments: argparse.Namespace, workload: str) -> Row:
    """Runs one workload; RuntimeError if the program could not."""
    finished = subprocess.run(
        [
            arguments.program,
            f"--benchmark_filter=^{re.escape(workload)}/",
            f"--benchmark_repetitions={arguments.repetitions}",
            f"--benchmark_min_time={arguments.min_time}",
            "--benchmark_enable_random_interleaving=true",
            "--benchmark_format=json",
        ],
        capture_output=True,
        text=True,
    )
    try:
        turns = json.loads(finished.stdout)["benchmarks"]
    except ValueError:
        raise RuntimeError(finished.stderr.strip() or f"exit {finished.returncode}") from None
    for turn in turns:
        if turn.get("error_occurred"):
            raise RuntimeError(turn["error_message"])
    turns = [turn for turn in turns if turn["run_type"] == "iteration"]
    best = {}
    for contestant in CONTESTANTS:
        best[contestant] = min(
            turn[f"{arguments.time}_time"] * MILLISECONDS[turn["time_unit"]]
            for turn in turns
            if turn["run_name"] == f"{workload}/{contestant}"
        )
    strew = next(turn for turn in turns if turn["run_name"] == f"{workload}/strew")
    # The program divides the bytes by CPU time, the table by the time that it shows.
    seconds = strew["cpu_time"] * MILLISECONDS[strew["time_unit"]] / 1e3
    return Row(workload, best, strew["bytes_per_second"] * seconds)


def summary(rows: Sequence[Row], tolerance: float) -> Iterator[str]:
    """strew compared with the scalar loop, and the workloads that are slower, the worst first."""
    judged = sorted((row for row in rows if row.judged), key=lambda row: row.ratio, reverse=True)
    if not judged:
        return
    mean = statistics.geometric_mean(row.ratio for row in judged)
    yield f"strew / scalar loop, geometric mean of {len(judged)} workloads: {mean:.2f}"
    behind = [f"{row.name} ({row.ratio:.2f})" for row in judged if row.ratio > tolerance]
    yield f"Above {tolerance:g}: {', '.join(behind) or 'none'}"


def measure_all(
    arguments: argparse.Namespace, workloads: Sequence[str], complaints: list[str]
) -> Iterator[Row]:
    """The rows, with progress on a terminal, and complaints about rows that could not be measured."""
    shown = arguments.output and sys.stderr.isatty()
    for number, workload in enumerate(workloads, start=1):
        if shown:
            print(f"\r\x1b[K{number}/{len(workloads)} {workload}", end="", file=sys.stderr)
        try:
            yield measure(arguments, workload)
        except RuntimeError as error:
            complaints.append(f"{workload}: {error}")
    if shown:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def lowest_loss(arguments: argparse.Namespace, before: Baseline, row: Row) -> float:
    """The loss of several runs, or of one run if that shows no loss."""
    lowest = row.ratios
    for _ in range(TURNS_OF_SLOWER - 1):
        if before.loss(row.name, lowest) <= arguments.loss:
            break
        again = measure(arguments, row.name).ratios
        lowest = {of: min(ratio, again[of]) for of, ratio in lowest.items()}
    return before.loss(row.name, lowest)


def compare(arguments: argparse.Namespace, rows: Sequence[Row]) -> tuple[list[str], list[str]]:
    """The workloads that are slower than in the baseline or not in it, and lines that report them."""
    before = Baseline.read(arguments.baseline)
    known = [row for row in rows if row.name in before.ratios]
    losses = {row.name: lowest_loss(arguments, before, row) for row in known}
    lost = [f"{name} ({x:.2f} x the baseline)" for name, x in losses.items() if x > arguments.loss]
    lines = [f"Slower than before: {', '.join(lost) or 'none'}", *before.warnings()]
    # Otherwise nobody would notice that they are not compared.
    new = [row.name for row in rows if row.name not in before.ratios]
    if new:
        lines.append(f"Not in the baseline: {', '.join(new)}")
    return [*lost, *new], lines


def main() -> int:
    arguments = parse_arguments()
    workloads = list_workloads(arguments.program, arguments.filter)
    if not workloads:
        print(f"no workload matches {arguments.filter!r}", file=sys.stderr)
        return 2
    wrong: list[str] = []
    rows = []
    table = arguments.output.open("w") if arguments.output else sys.stdout
    print(HEAD, file=table, flush=True)
    for row in measure_all(arguments, workloads, wrong):
        rows.append(row)
        print(row.markdown(), file=table, flush=True)
    lines = [*summary(rows, arguments.tolerance), *(f"Not measured: {line}" for line in wrong)]
    lost, comparison = compare(arguments, rows) if arguments.baseline else ([], [])
    lines += comparison
    if arguments.write_baseline:
        Baseline(cpu_model(), {row.name: row.ratios for row in rows}).write(arguments.write_baseline)
    print("", *lines, sep="\n", file=table, flush=True)
    if arguments.output:
        print(*lines, f"Table: {arguments.output}", sep="\n")
    behind = any(row.judged and row.ratio > arguments.tolerance for row in rows)
    return 1 if wrong or lost or (arguments.strict and behind) else 0


if __name__ == "__main__":
    sys.exit(main())
