#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times calls other than plain scatters: caches, means, index policies, broadcast slices.

Each is compared with a yardstick. Cache writes (linear, circular and paged) and scatter_update are
compared with a loop of memcpy over the same rows; means, sub and EXCLUDE_SELF with add; drop and
clamp with error; slices that repeat one value or row with memset. A ratio above its goal is
flagged.

All take turns within one run on the same buffers, with an untimed call before each turn, and the
best turn counts. A loop in C calls scatter_update and the cache writes, the latter at other places
in each of many steps; the time includes setting the descriptor of indices to those of a step.
Before anything is timed, the results of all thread counts and of the loops are compared bit by bit.

Prints tables; with --output they are written, with the raw figures. Exits with 1 if results differ
and, with --strict, if something is flagged.
"""

from __future__ import annotations

import csv
import datetime
import itertools
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tabulate import tabulate
from tqdm import tqdm

from harness import machine
from harness.comparisons import Comparison, Entrant, Libraries, Section, all_comparisons
from harness.library import Library, locate
from harness.report import three_digits
from harness.threads import Wording, on, parse_arguments
from harness.timing import Timing, alternate, wait_until_idle


@dataclass(frozen=True)
class Row:
    """The figures of a comparison, without its buffers."""

    section: Section
    name: str
    goals: dict[str, float]
    per: int
    timings: dict[Entrant, Timing]
    differing: Sequence[Entrant]

    def figure(self, entrant: Entrant) -> float:
        return self.timings[entrant].best / self.per * self.section.scale

    def ratio(self, entrant: Entrant) -> float:
        """The ratio to the yardstick on as many threads, or on one if it has no more."""
        what, threads = self.section.yardstick, entrant[1]
        yardstick = (what, threads) if (what, threads) in self.timings else (what, 1)
        return self.figure(entrant) / self.figure(yardstick)

    def misses(self) -> Iterator[tuple[float, str]]:
        """The ratios above the goal, and their entrants."""
        for what, threads in self.timings:
            ratio, goal = self.ratio((what, threads)), self.goals.get(what, math.inf)
            if ratio > goal:
                name = f"{self.name}: {what} on {on(threads)} ({ratio:.2f}, goal {goal:g})"
                yield ratio / goal, name


def measure(comparison: Comparison, seconds: float, turns: int) -> Row:
    found = list(differing(comparison))

    def settle(entrant: Entrant) -> None:
        comparison.prepare(entrant[0])
        wait_until_idle()
        comparison.calls[entrant]()

    timings = alternate(comparison.calls, seconds, turns, before_turn=settle)
    about = (comparison.section, comparison.name, dict(comparison.goals), comparison.per)
    return Row(*about, timings, found)


def differing(comparison: Comparison) -> Iterator[Entrant]:
    """The entrants whose bytes differ from those of the first of their group."""
    start = comparison.output.copy()
    for group in comparison.alike:
        expected = None
        for entrant in group:
            comparison.prepare(entrant[0])
            np.copyto(comparison.output, start)
            comparison.calls[entrant]()
            result = comparison.output.reshape(-1).view(np.uint8)
            if expected is None:
                expected = result.copy()
            elif not np.array_equal(result, expected):
                yield entrant


@dataclass(frozen=True)
class Report:
    """Thread counts start with 1."""

    rows: Sequence[Row]
    threads: Sequence[int]
    heading: str

    def markdown(self) -> str:
        parts = ["# The other paths of strew", f"- {self.heading}"]
        for section, rows in itertools.groupby(self.rows, key=lambda row: row.section):
            parts.append(f"## {section.title}: {section.unit} · times {section.yardstick}")
            parts += self._tables(section, list(rows))
        parts.append("\n".join(f"- {line}" for line in self.flags()))
        return "\n\n".join(parts) + "\n"

    def flags(self) -> Iterator[str]:
        """A line for each flagged row, the worst first, or one that says that there is none."""
        misses = sorted((miss for row in self.rows for miss in row.misses()), reverse=True)
        yield from (f"Above its goal: {name}" for _, name in misses)
        if not misses:
            yield "Above its goal: none"
        for row in self.rows:
            for what, threads in row.differing:
                yield f"{row.name}: **{what} has another result on {on(threads)}**"

    def _tables(self, section: Section, rows: Sequence[Row]) -> Iterator[str]:
        whats = dict.fromkeys(what for row in rows for what, _ in row.timings)
        for count in self.threads:
            present = [what for what in whats if (what, count) in rows[0].timings]
            cells = [[row.name, *(cell(row, (what, count)) for what in present)] for row in rows]
            columns = [on(count), *present]
            yield tabulate(
                cells,
                columns,
                tablefmt="pipe",
                colalign=["left"] + ["right"] * len(present),
                disable_numparse=True,
            )

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "paths.md").write_text(self.markdown())
        with (folder / "paths.csv").open("w", newline="") as file:
            self._write_csv(csv.writer(file, lineterminator="\n"))

    def _write_csv(self, writer) -> None:
        columns = ("section", "row", "what", "threads", "unit", "best", "median", "turns", "ratio")
        writer.writerow((*columns, "goal"))
        for row in self.rows:
            for (what, threads), timing in row.timings.items():
                entrant = (what, threads)
                median = timing.median / row.per * row.section.scale
                figures = (f"{row.figure(entrant):.6g}", f"{median:.6g}", len(timing.samples))
                goal = row.goals.get(what, math.inf)
                judged = (f"{row.ratio(entrant):.4g}", "" if math.isinf(goal) else goal)
                about = (row.section.title, row.name, what, threads, row.section.unit)
                writer.writerow((*about, *figures, *judged))


def cell(row: Row, entrant: Entrant) -> str:
    text = three_digits(row.figure(entrant))
    if entrant == (row.section.yardstick, entrant[1]):
        return text
    ratio = row.ratio(entrant)
    bold = "**" if ratio > row.goals.get(entrant[0], math.inf) else ""
    return f"{text} · {bold}{ratio:.2f}{bold}"


WORDING = Wording(
    documentation=__doc__,
    threads="besides one thread",
    filter="rows in whose title",
    measured="a row",
    strict="one is flagged",
    output="paths.md and paths.csv",
)


def main() -> int:
    arguments = parse_arguments(WORDING, [2], 1, 7)
    threads = sorted({1, *arguments.threads})
    if threads[0] < 1:
        print("threads: at least 1", file=sys.stderr)
        return 2
    try:
        library = Library(locate(arguments.library), threads[-1])
    except RuntimeError as error:
        print(f"threads: {error}", file=sys.stderr)
        return 2
    rows = []
    libraries = Libraries(locate(arguments.library), threads)
    for comparison in tqdm(all_comparisons(libraries), disable=None):
        if re.search(arguments.filter, f"{comparison.section.title}: {comparison.name}"):
            rows.append(measure(comparison, arguments.seconds, arguments.turns))
    if not rows:
        print(f"no row matches {arguments.filter!r}", file=sys.stderr)
        return 2
    report = Report(rows, threads, f"{machine.describe(library)}, {datetime.date.today()}")
    print(report.markdown())
    if arguments.output:
        report.write(arguments.output)
    wrong = any(row.differing for row in rows)
    missed = any(True for row in rows for _ in row.misses())
    return 1 if wrong or (arguments.strict and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
