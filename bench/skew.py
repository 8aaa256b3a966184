#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of skewed indices: every indexed workload with indices of seven distributions.

Figures are nanoseconds per update, an element of `updates`. Beside each is its ratio to uniform
indices on as many threads. A ratio above 2.5 is flagged, and so is a time on more threads above
1.15 times that on one. All take turns within one run on the same buffers: before every turn the
indices are written to the same memory, and an untimed call is made. The results of all thread
counts are compared bit by bit before anything is timed.

Prints tables; with --output they are written, with the raw figures and a picture. Exits with 1 if
results differ and, with --strict, if something is flagged.
"""

from __future__ import annotations

import csv
import datetime
import gc
import itertools
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tabulate import tabulate
from tqdm import tqdm

from harness import dot_plot, machine, workloads
from harness.agreement import differing
from harness.buffers import Buffers
from harness.distributions import WORDS, Distribution, Skewed
from harness.library import Library, locate
from harness.report import TITLES, three_digits
from harness.scatter import strew_call
from harness.threads import Wording, on, parse_arguments
from harness.timing import Timing, alternate, wait_until_idle
from harness.workloads import Operator, Workload

MOST_OF_UNIFORM = 2.5
MOST_OF_ONE_THREAD = 1.15

Entrant = tuple[Distribution, int]  # and the threads


@dataclass
class Row:
    """The figures of one workload."""

    workload: Workload
    timings: dict[Entrant, Timing] = field(default_factory=dict)
    differing: list[Entrant] = field(default_factory=list)  # from the result on one thread

    @property
    def name(self) -> str:
        return self.workload.name

    def nanoseconds(self, distribution: Distribution, threads: int) -> float:
        """Per update."""
        best = self.timings[distribution, threads].best
        return best * 1e9 / math.prod(self.workload.updates)

    def times_uniform(self, distribution: Distribution, threads: int) -> float:
        uniform = self.nanoseconds(Distribution.UNIFORM, threads)
        return self.nanoseconds(distribution, threads) / uniform

    def times_one_thread(self, distribution: Distribution, threads: int) -> float:
        return self.nanoseconds(distribution, threads) / self.nanoseconds(distribution, 1)


@dataclass(frozen=True)
class Bench:
    """A library for each thread count, and how long to measure a row."""

    libraries: Mapping[int, Library]
    seconds: float
    turns: int

    def measure(
        self, workload: Workload, buffers: Buffers, skewed: Skewed, on_turn: Callable[[], None]
    ) -> Row:
        row = Row(workload)
        scatter = buffers.scatter(workload.reduction, workload.in_place)
        calls = {count: strew_call(library, scatter) for count, library in self.libraries.items()}
        for distribution in Distribution:
            skewed.lay(distribution)
            others = differing(calls, buffers, workload.in_place)
            row.differing += [(distribution, threads) for threads in others]

        def settle(name: Entrant) -> None:
            distribution, threads = name
            skewed.lay(distribution)
            wait_until_idle()
            calls[threads]()

        row.timings = alternate(
            {(skew, threads): call for skew in Distribution for threads, call in calls.items()},
            self.seconds,
            self.turns,
            on_turn,
            before_turn=settle,
        )
        skewed.lay(Distribution.UNIFORM)
        return row


def measure_all(chosen: Sequence[Workload], bench: Bench) -> Iterator[Row]:
    with tqdm(total=len(chosen), unit="row", miniters=0, disable=None) as progress:
        for operands, group in itertools.groupby(chosen, Workload.operands):
            buffers = Buffers(operands)
            skewed = Skewed(buffers)
            for workload in group:
                progress.set_description(workload.name)
                yield bench.measure(workload, buffers, skewed, lambda: progress.update(0))
                progress.update()
            del buffers, skewed
            gc.collect()  # before those of the next are made


@dataclass(frozen=True)
class Report:
    """Thread counts start with 1."""

    rows: Sequence[Row]
    threads: Sequence[int]
    heading: str

    def markdown(self) -> str:
        parts = ["# strew under skewed indices", f"- {self.heading}"]
        for count in self.threads:
            parts.append(f"## {on(count)}: nanoseconds per update · times uniform")
            parts.append(self._table(lambda row, skew: self._time(row, skew, count)))
        for count in self.threads[1:]:
            parts.append(f"## Time on {on(count)} / on 1 thread")
            parts.append(self._table(lambda row, skew: self._ratio(row, skew, count)))
        parts.append("\n".join(f"- {line}" for line in (*self.flags(), *WORDS)))
        return "\n\n".join(parts) + "\n"

    def flags(self) -> Iterator[str]:
        """A line for each kind of flag: the rows that have it, or none."""
        for count in self.threads:
            slow = self._above(Row.times_uniform, count, MOST_OF_UNIFORM)
            yield f"Above {MOST_OF_UNIFORM} times uniform on {on(count)}: {slow or 'none'}"
        for count in self.threads[1:]:
            slow = self._above(Row.times_one_thread, count, MOST_OF_ONE_THREAD)
            bound = f"{MOST_OF_ONE_THREAD} times one thread"
            yield f"Above {bound} on {on(count)}: {slow or 'none'}"
        for row in self.rows:
            for distribution, count in row.differing:
                yield f"{row.name}, {distribution.value}: **another result on {on(count)}**"

    def anything_flagged(self) -> bool:
        slow = [self._above(Row.times_uniform, n, MOST_OF_UNIFORM) for n in self.threads]
        slow += [self._above(Row.times_one_thread, n, MOST_OF_ONE_THREAD) for n in self.threads]
        return any(slow)

    def _above(self, figure: Callable[..., float], threads: int, bound: float) -> str:
        """The worst first."""
        found = [
            (figure(row, distribution, threads), f"{row.name} {distribution.value}")
            for row in self.rows
            for distribution in Distribution
        ]
        worst = sorted((entry for entry in found if entry[0] > bound), reverse=True)
        return ", ".join(f"{name} ({ratio:.2f})" for ratio, name in worst)

    def _table(self, cell: Callable[[Row, Distribution], str]) -> str:
        columns = ["row", *(distribution.value for distribution in Distribution)]
        cells = [[row.name, *(cell(row, skew) for skew in Distribution)] for row in self.rows]
        alignment = ["left"] + ["right"] * len(Distribution)
        return tabulate(cells, columns, tablefmt="pipe", colalign=alignment, disable_numparse=True)

    def _time(self, row: Row, distribution: Distribution, threads: int) -> str:
        text = three_digits(row.nanoseconds(distribution, threads))
        if distribution is Distribution.UNIFORM:
            return text
        return f"{text} · {flagged(row.times_uniform(distribution, threads), MOST_OF_UNIFORM)}"

    def _ratio(self, row: Row, distribution: Distribution, threads: int) -> str:
        return flagged(row.times_one_thread(distribution, threads), MOST_OF_ONE_THREAD)

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "table.md").write_text(self.markdown())
        with (folder / "raw.csv").open("w", newline="") as file:
            self._write_csv(csv.writer(file, lineterminator="\n"))
        self._draw(folder / "picture.svg")

    def _write_csv(self, writer) -> None:
        columns = ("row", "distribution", "threads", "updates", "best_seconds", "median_seconds")
        writer.writerow((*columns, "turns"))
        for row in self.rows:
            updates = math.prod(row.workload.updates)
            for (distribution, threads), timing in row.timings.items():
                figures = (f"{timing.best:.6g}", f"{timing.median:.6g}", len(timing.samples))
                writer.writerow((row.name, distribution.value, threads, updates, *figures))

    def _draw(self, path: Path) -> None:
        groups = {
            title: [row.name for row in self.rows if row.workload.output is output]
            for output, title in TITLES.items()
        }
        columns = [
            dot_plot.Column(
                "time in multiples of uniform, 1 thread",
                self._dots(Row.times_uniform, 1),
                line=1,
                bound=MOST_OF_UNIFORM,
                logarithmic=True,
            )
        ]
        for count in self.threads[1:]:
            columns.append(
                dot_plot.Column(
                    f"time on {on(count)} / on 1",
                    self._dots(Row.times_one_thread, count),
                    line=1,
                    bound=MOST_OF_ONE_THREAD,
                )
            )
        dot_plot.draw(path, self.heading, groups, columns)

    def _dots(self, figure: Callable[..., float], threads: int) -> dict[str, dict[str, float]]:
        return {
            distribution.value: {row.name: figure(row, distribution, threads) for row in self.rows}
            for distribution in Distribution
        }


def flagged(ratio: float, bound: float) -> str:
    return f"**{ratio:.2f}**" if ratio > bound else f"{ratio:.2f}"


WORDING = Wording(
    documentation=__doc__,
    threads="that are compared with one thread",
    filter="workloads in whose name",
    measured="a workload",
    strict="one is flagged",
    output="table.md, raw.csv and picture.svg",
)


def is_indexed(workload: Workload) -> bool:
    return workload.operator is not Operator.SLICE_SCATTER and not workload.tiny


def main() -> int:
    arguments = parse_arguments(WORDING, [2], 5, 7)
    indexed = filter(is_indexed, workloads.load_calls())
    chosen = [workload for workload in indexed if re.search(arguments.filter, workload.name)]
    if not chosen:
        print(f"no workload matches {arguments.filter!r}", file=sys.stderr)
        return 2
    threads = sorted({1, *arguments.threads})
    if threads[0] < 1:
        print("threads: at least 1", file=sys.stderr)
        return 2
    try:
        libraries = {count: Library(locate(arguments.library), count) for count in threads}
    except RuntimeError as error:
        print(f"threads: {error}", file=sys.stderr)
        return 2
    bench = Bench(libraries, arguments.seconds, arguments.turns)
    heading = f"{machine.describe(libraries[1])}, {datetime.date.today()}"
    report = Report(list(measure_all(chosen, bench)), threads, heading)
    print(report.markdown())
    if arguments.output:
        report.write(arguments.output)
    wrong = any(row.differing for row in report.rows)
    return 1 if wrong or (arguments.strict and report.anything_flagged()) else 0


if __name__ == "__main__":
    sys.exit(main())
