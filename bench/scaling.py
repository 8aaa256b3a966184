#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the gain from more threads: every workload by strew on one thread, on two, and so on.

All take turns on the same buffers within one run. For comparison, plain streaming loops on as many
threads move the least number of bytes that the row must move. The fastest of them, on as many
threads or fewer, shows what this machine's memory offers to that number of threads. The loops are
two copies and a sum: see harness/streaming.py, and harness/traffic.py for the bytes.

A row reaches its goal on two threads if it is a given number of times as fast as on one, or if it
takes no longer than the streaming loop takes for 90 % of its bytes. Rows without a given number
must meet the latter. The results of all thread counts are compared bit by bit before anything is
timed. Tiny rows are left out, because a call with six elements has no work to divide.

Prints a table; with --output it is written, with the raw figures and a picture. Exits with 1 if
results differ and, with --strict, if a row misses its goal.
"""

from __future__ import annotations

import csv
import datetime
import gc
import itertools
import re
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tabulate import tabulate
from tqdm import tqdm

from harness import dot_plot, machine, workloads
from harness.agreement import differing
from harness.buffers import Buffers
from harness.contest import SETTLED_SECONDS
from harness.contestants import STREW
from harness.library import Library, locate
from harness.report import TITLES, three_digits
from harness.scatter import strew_call
from harness.streaming import KINDS, Streaming
from harness.threads import Wording, on, parse_arguments
from harness.timing import Timing, alternate, time_once, wait_until_idle
from harness.traffic import compulsory_bytes
from harness.workloads import Workload

# The goal for two threads: times as fast as on one, by the beginning of a row's name.
GOALS = {"el.first.": 1.8, "el.last.": 1.8, "nd.scalar.": 1.6, "el.1d.": 1.6}
JUDGED = 2  # threads
MOST_OF_STREAMING = 0.9

Entrant = tuple[str, int]  # strew or a kind of streaming, and the threads


@dataclass
class Row:
    """The figures of one workload. `moved` are the bytes that it has to move."""

    workload: Workload
    moved: int
    timings: dict[Entrant, Timing] = field(default_factory=dict)
    differing: list[int] = field(default_factory=list)  # threads whose result is another

    @property
    def goal(self) -> float | None:
        name = self.workload.name
        return next((goal for start, goal in GOALS.items() if name.startswith(start)), None)

    def seconds(self, threads: int) -> float:
        return self.timings[STREW, threads].best

    def speedup(self, threads: int) -> float:
        """The speed-up over the fewest threads."""
        fewest = min(count for name, count in self.timings if name == STREW)
        return self.seconds(fewest) / self.seconds(threads)

    def gigabytes(self, threads: int) -> float:
        """The bytes that strew moves per second."""
        return self.moved * 1e-9 / self.seconds(threads)

    def streaming(self, threads: int) -> float:
        """GB/s of the loop that streams the fastest on so many threads or fewer."""
        seconds = min(
            timing.best
            for (name, count), timing in self.timings.items()
            if name != STREW and count <= threads
        )
        return self.moved * 1e-9 / seconds

    def share(self, threads: int) -> float:
        """The fraction of the bytes per second that streaming reaches."""
        return self.gigabytes(threads) / self.streaming(threads)

    def verdict(self) -> str:
        reached = []
        if self.goal is not None and self.speedup(JUDGED) >= self.goal:
            reached.append("speedup")
        if self.share(JUDGED) >= MOST_OF_STREAMING:
            reached.append("streaming")
        return " and ".join(reached) or "missed"


@dataclass(frozen=True)
class Bench:
    """A library for each thread count, and how long to measure a row."""

    libraries: Mapping[int, Library]
    streaming: Streaming
    seconds: float
    turns: int

    def measure(self, workload: Workload, buffers: Buffers, on_turn: Callable[[], None]) -> Row:
        scatter = buffers.scatter(workload.reduction, workload.in_place)
        row = Row(workload, compulsory_bytes(scatter))
        ours = {count: strew_call(library, scatter) for count, library in self.libraries.items()}
        row.differing = differing(ours, buffers, workload.in_place)
        calls = {(STREW, count): call for count, call in ours.items()}
        for kind, count in itertools.product(KINDS, self.libraries):
            calls[kind, count] = self.streaming.call(kind, row.moved, count)
        brief = {name for name, call in calls.items() if time_once(call) < SETTLED_SECONDS}

        def settle(name: Entrant) -> None:
            """Makes an untimed call, so that nobody gains from what another left in the caches."""
            wait_until_idle()
            if name in brief:
                calls[name]()

        row.timings = alternate(calls, self.seconds, self.turns, on_turn, before_turn=settle)
        return row


def measure_all(chosen: Sequence[Workload], bench: Bench) -> Iterator[Row]:
    with tqdm(total=len(chosen), unit="row", miniters=0, disable=None) as progress:
        for operands, group in itertools.groupby(chosen, Workload.operands):
            buffers = Buffers(operands)
            for workload in group:
                progress.set_description(workload.name)
                yield bench.measure(workload, buffers, on_turn=lambda: progress.update(0))
                progress.update()
            del buffers
            gc.collect()  # before those of the next are made


@dataclass(frozen=True)
class Report:
    rows: Sequence[Row]
    threads: Sequence[int]
    heading: str

    @property
    def judged(self) -> bool:
        return JUDGED in self.threads and min(self.threads) == 1

    def markdown(self) -> str:
        parts = ["# strew on more threads", f"- {self.heading}"]
        for output, title in TITLES.items():
            rows = [row for row in self.rows if row.workload.output is output]
            if rows:
                parts += [f"## {title}", self._table(rows)]
        parts.append("\n".join(f"- {line}" for line in (*self._summary(), *self._explanations())))
        return "\n\n".join(parts) + "\n"

    def missed(self) -> list[Row]:
        return [row for row in self.rows if self.judged and row.verdict() == "missed"]

    def _table(self, rows: Sequence[Row]) -> str:
        fewest, *more = self.threads
        most = self.threads[-1]
        columns = ["row", *(f"ms on {count}" for count in self.threads)]
        columns += [f"{fewest} / {count}" for count in more]
        columns += ["MB", f"GB/s on {most}"]
        columns += [*(f"streaming on {count}" for count in self.threads), "share"]
        columns += ["goal", "reached by"] if self.judged else []
        left = ("row", "reached by")
        alignment = ["left" if column in left else "right" for column in columns]
        cells = [self._cells(row) for row in rows]
        return tabulate(cells, columns, tablefmt="pipe", colalign=alignment, disable_numparse=True)

    def _cells(self, row: Row) -> list[str]:
        most = self.threads[-1]
        cells = [row.workload.name.removesuffix(row.workload.output.suffix)]
        cells += [three_digits(row.seconds(count) * 1e3) for count in self.threads]
        cells += [f"{row.speedup(count):.2f}" for count in self.threads[1:]]
        cells += [f"{row.moved * 1e-6:.0f}", f"{row.gigabytes(most):.1f}"]
        cells += [f"{row.streaming(count):.1f}" for count in self.threads]
        cells.append(f"{row.share(most):.0%}")
        if self.judged:
            verdict = row.verdict()
            cells.append("–" if row.goal is None else f"{row.goal:g}")
            cells.append("**missed**" if verdict == "missed" else verdict)
        return cells

    def _summary(self) -> Iterator[str]:
        for count in self.threads[1:]:
            mean = statistics.geometric_mean(row.speedup(count) for row in self.rows)
            rows = f"{len(self.rows)} rows"
            yield f"{self.threads[0]} / {count}, geometric mean of {rows}: {mean:.2f}"
        if self.judged:
            names = ", ".join(row.workload.name for row in self.missed())
            yield f"Goals missed on {JUDGED} threads: {names or 'none'}"
        for row in self.rows:
            for count in row.differing:
                yield f"{row.workload.name}: **another result on {count} threads**"

    def _explanations(self) -> Iterator[str]:
        yield "Times are the best of all turns; raw.csv has the medians."
        yield (
            "MB: what the row has to move at the least, in whole lines. Streaming: GB/s of the "
            "fastest loop that only streams so many bytes, on so many threads or fewer. Share: "
            f"strew's of it on {on(self.threads[-1])}; above 100 % strew finds more in the caches."
        )
        if self.judged:
            yield (
                f"Reached by: the speedup of the goal, or {MOST_OF_STREAMING:.0%} of streaming, "
                f"on {JUDGED} threads."
            )

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "table.md").write_text(self.markdown())
        with (folder / "raw.csv").open("w", newline="") as file:
            self._write_csv(csv.writer(file, lineterminator="\n"))
        self._draw(folder / "picture.svg")

    def _write_csv(self, writer) -> None:
        writer.writerow(
            ("row", "who", "threads", "bytes", "best_seconds", "median_seconds", "turns")
        )
        for row in self.rows:
            for (name, threads), timing in row.timings.items():
                figures = (f"{timing.best:.6g}", f"{timing.median:.6g}", len(timing.samples))
                writer.writerow((row.workload.name, name, threads, row.moved, *figures))

    def _draw(self, path: Path) -> None:
        groups = {
            title: [row.workload.name for row in self.rows if row.workload.output is output]
            for output, title in TITLES.items()
        }
        fewest, *more = self.threads
        goals = {row.workload.name: row.goal for row in self.rows if row.goal is not None}
        times_as_fast = dot_plot.Column(
            f"times as fast as on {fewest} thread{'s' if fewest > 1 else ''}",
            {on(count): self._figures(Row.speedup, count) for count in more},
            line=1,
            bars=("goal on 2 threads", goals) if self.judged else None,
        )
        share = dot_plot.Column(
            "share of what streaming gives",
            {on(count): self._figures(Row.share, count) for count in more or self.threads},
            bound=MOST_OF_STREAMING,
        )
        columns = [times_as_fast, share] if more else [share]
        dot_plot.draw(path, self.heading, groups, columns)

    def _figures(self, figure: Callable[[Row, int], float], threads: int) -> dict[str, float]:
        return {row.workload.name: figure(row, threads) for row in self.rows}


WORDING = Wording(
    documentation=__doc__,
    threads="that are compared",
    filter="workloads in whose name",
    measured="a workload",
    strict="a row misses its goal",
    output="table.md, raw.csv and picture.svg",
)


def main() -> int:
    arguments = parse_arguments(WORDING, [1, 2], 3, 9)
    listed = (workload for workload in workloads.load_calls() if not workload.tiny)
    chosen = [workload for workload in listed if re.search(arguments.filter, workload.name)]
    if not chosen:
        print(f"no workload matches {arguments.filter!r}", file=sys.stderr)
        return 2
    threads = sorted(set(arguments.threads))
    if threads[0] < 1:
        print("threads: at least 1", file=sys.stderr)
        return 2
    try:
        libraries = {count: Library(locate(arguments.library), count) for count in threads}
    except RuntimeError as error:
        print(f"threads: {error}", file=sys.stderr)
        return 2
    bench = Bench(libraries, Streaming(), arguments.seconds, arguments.turns)
    heading = f"{machine.describe(libraries[threads[0]])}, {datetime.date.today()}"
    report = Report(list(measure_all(chosen, bench)), threads, heading)
    print(report.markdown())
    if arguments.output:
        report.write(arguments.output)
    wrong = any(row.differing for row in report.rows)
    return 1 if wrong or (arguments.strict and report.missed()) else 0


if __name__ == "__main__":
    sys.exit(main())
