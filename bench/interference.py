#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of several threads while other work competes for the CPUs.

Random calls of survey.py that take 20 us to 10 ms on one thread run on one thread and on several:
alone, beside spinning processes, between calls of PyTorch, whose threads spin after each call, and
with one CPU for all threads. With --one-tbb they also run on threads of oneTBB, which must be
installed with its headers.

A figure is the time on several threads over that on one. All take turns within one run on the same
operands, with a few calls in each turn. Unlike in other benchmarks, the mean counts and not the
best, because the benchmark looks for calls that wait for a CPU. A case above the bound is measured
again, and all its turns count.

Prints tables; --output writes them, and the raw figures. Exits with 1 if results differ and, with
--strict, if a case is above the bound.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import datetime
import gc
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tabulate import tabulate
from tqdm import tqdm

from harness import machine
from harness.library import Library, locate, strew_header
from harness.native import compile_and_load
from harness.neighbours import NEIGHBOURS
from harness.survey.case import Case
from harness.survey.draw import draw
from harness.survey.operands import Operands
from harness.threads import on

SHORTEST, LONGEST = 20e-6, 10e-3  # seconds on one thread
MOST_ELEMENTS = 4_000_000
TURN_SECONDS, MOST_CALLS = 0.002, 20
MOST_ROUNDS = 4
BOUND = 1.3

ONE = "one thread"
OWN = "threads of the context"
ONE_TBB = "oneTBB"

Call = Callable[[], None]


@dataclass
class Row:
    """The seconds of single calls of one case beside one neighbour."""

    case: Case
    neighbour: str
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def ratio(self, runner: str) -> float:
        return statistics.fmean(self.seconds[runner]) / statistics.fmean(self.seconds[ONE])

    def median_ratio(self, runner: str) -> float:
        return statistics.median(self.seconds[runner]) / statistics.median(self.seconds[ONE])

    def longest(self, runner: str) -> float:
        return max(self.seconds[runner])


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", type=Path, help="libstrew.so, or the build directory")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="(default: 2)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="(default: 1)")
    parser.add_argument(
        "--cases", type=int, default=20, metavar="N", help="random calls to find (default: 20)"
    )
    parser.add_argument(
        "--neighbours",
        nargs="*",
        choices=list(NEIGHBOURS),
        default=list(NEIGHBOURS),
        metavar="WORDS",
        help=f"some of: {', '.join(NEIGHBOURS)} (default: all)",
    )
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="for a case and a neighbour (default: 1)"
    )
    parser.add_argument("--one-tbb", action="store_true", help="run on oneTBB too")
    parser.add_argument("--output", type=Path, metavar="NAME", help="writes NAME.md and NAME.csv")
    parser.add_argument(
        "--strict", action="store_true", help=f"end with 1 where a case is above {BOUND}"
    )
    return parser.parse_args()


def libraries(path: Path, threads: int, one_tbb: bool) -> dict[str, Library]:
    """One for each runner."""
    made = {ONE: Library(path), OWN: Library(path)}
    made[OWN].set_num_threads(threads)
    if one_tbb:
        made[ONE_TBB] = Library(path)
        source = Path(__file__).parent / "harness" / "one_tbb.cc"
        loaded = compile_and_load(source, "-Wl,--no-as-needed", "-ltbb")
        runner = strew_header.ParallelFor(ctypes.cast(loaded.one_tbb, ctypes.c_void_p).value)
        library = made[ONE_TBB]
        set_runner = library.function("context_set_parallel_for")
        library.check(set_runner(library.context, runner, None, threads))
        library.keeps_alive = loaded, runner
    return made


def suitable(seed: int, cases: int, library: Library) -> Iterator[Case]:
    """Cases that take neither too short nor too long on one thread."""
    found = number = 0
    while found < cases:
        case = draw(seed, number)
        number += 1
        if np.prod(case.data) + np.prod(case.updates) > MOST_ELEMENTS:
            continue
        call = Operands(case).job().of_strew(library).call
        call()
        if SHORTEST <= min(_timed(call) for _ in range(3)) <= LONGEST:
            found += 1
            yield case


def differing(case: Case, made: Mapping[str, Library]) -> bool:
    """True if the runners leave other bytes than one thread."""
    operands = Operands(case)
    results = set()
    for library in made.values():
        operands.restore()
        operands.job().of_strew(library).call()
        results.add(operands.output.tobytes())
    return len(results) > 1


def measure(row: Row, calls: Mapping[str, Call], between: Call, seconds: float) -> None:
    row.seconds = {runner: [] for runner in calls}
    for _ in range(MOST_ROUNDS):
        _take_turns(row, calls, between, seconds)
        if all(row.ratio(runner) <= BOUND for runner in calls):
            return


def _take_turns(row: Row, calls: Mapping[str, Call], between: Call, seconds: float) -> None:
    order = list(calls)
    shuffle = random.Random(0).shuffle
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        shuffle(order)
        for runner in order:
            taken = 0.0
            for _ in range(MOST_CALLS):
                between()
                row.seconds[runner].append(_timed(calls[runner]))
                taken += row.seconds[runner][-1]
                if taken > TURN_SECONDS:
                    break


def _timed(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure_all(
    cases: Sequence[Case], made: Mapping[str, Library], neighbour: str, arguments
) -> Iterator[Row]:
    with NEIGHBOURS[neighbour](arguments.threads) as between:
        for case in cases:
            row = Row(case, neighbour)
            job = Operands(case).job()
            calls = {runner: job.of_strew(library).call for runner, library in made.items()}
            for call in calls.values():
                call()
            gc.collect()
            measure(row, calls, between, arguments.seconds)
            yield row


@dataclass(frozen=True)
class Report:
    rows: Sequence[Row]
    threads: int
    heading: str

    def markdown(self) -> str:
        parts = ["# strew beside others that want the CPUs", f"- {self.heading}"]
        parts.append(self._table())
        parts += ["## The worst", self._worst(), "\n".join(f"- {line}" for line in self._words())]
        return "\n\n".join(parts) + "\n"

    def above(self) -> list[Row]:
        return [row for row in self.rows if row.ratio(OWN) > BOUND]

    def _runners(self) -> list[str]:
        return [runner for runner in self.rows[0].seconds if runner != ONE]

    def _table(self) -> str:
        table = []
        for neighbour in dict.fromkeys(row.neighbour for row in self.rows):
            rows = [row for row in self.rows if row.neighbour == neighbour]
            for runner in self._runners():
                ratios = [row.ratio(runner) for row in rows]
                medians = [row.median_ratio(runner) for row in rows]
                table.append(
                    (
                        neighbour,
                        runner,
                        f"{statistics.geometric_mean(ratios):.2f}",
                        f"{max(ratios):.2f}",
                        f"{statistics.geometric_mean(medians):.2f}",
                        f"{max(medians):.2f}",
                        f"{1e3 * max(row.longest(runner) for row in rows):.1f}",
                        f"{1e3 * max(row.longest(ONE) for row in rows):.1f}",
                    )
                )
        columns = ("beside", "on", "mean", "worst", "medians", "worst", "longest ms", "of one")
        return tabulate(table, columns, tablefmt="pipe", disable_numparse=True)

    def _worst(self) -> str:
        rows = sorted(self.rows, key=lambda row: -row.ratio(OWN))[:10]
        table = [
            (
                f"{row.ratio(OWN):.2f}",
                f"{row.median_ratio(OWN):.2f}",
                f"{1e6 * statistics.median(row.seconds[ONE]):.0f}",
                row.neighbour,
                str(row.case).replace("|", "\\|"),
            )
            for row in rows
        ]
        columns = ("ratio", "median", "us on one thread", "beside", "call")
        return tabulate(table, columns, tablefmt="pipe", disable_numparse=True)

    def _words(self) -> Iterator[str]:
        above = ", ".join(f"{row.case.name} beside {row.neighbour}" for row in self.above())
        yield f"Above {BOUND} times one thread: {above or 'none'}"
        yield (
            f"Ratios: mean time of a call on {on(self.threads)} over that on one; geometric mean "
            "and worst of all cases, and the same of median times."
        )
        yield "Longest: the longest call of all cases, on so many threads and on one."

    def write_csv(self, file) -> None:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ("case", "call", "beside", "on", "mean_seconds", "median_seconds", "longest_seconds")
        )
        for row in self.rows:
            for runner, seconds in row.seconds.items():
                figures = statistics.fmean(seconds), statistics.median(seconds), max(seconds)
                words = row.case.name, str(row.case), row.neighbour, runner
                writer.writerow((*words, *(f"{figure:.6g}" for figure in figures)))


def main() -> int:
    arguments = parse_arguments()
    made = libraries(locate(arguments.library), arguments.threads, arguments.one_tbb)
    cases = list(suitable(arguments.seed, arguments.cases, made[ONE]))
    wrong = [case for case in cases if differing(case, made)]
    for case in wrong:
        print(f"{case.name}: {on(arguments.threads)} leave other bytes: {case}", file=sys.stderr)
    rows = []
    total = len(cases) * len(arguments.neighbours)
    with tqdm(total=total, unit="case", miniters=0, disable=None) as progress:
        for neighbour in arguments.neighbours:
            progress.set_description(neighbour)
            for row in measure_all(cases, made, neighbour, arguments):
                rows.append(row)
                progress.update()
    heading = f"{machine.describe(made[OWN])}, {datetime.date.today()}, seed {arguments.seed}"
    report = Report(rows, arguments.threads, heading)
    print(report.markdown())
    if arguments.output:
        arguments.output.with_suffix(".md").write_text(report.markdown())
        with arguments.output.with_suffix(".csv").open("w", newline="") as file:
            report.write_csv(file)
    return 1 if wrong or (arguments.strict and report.above()) else 0


if __name__ == "__main__":
    sys.exit(main())
