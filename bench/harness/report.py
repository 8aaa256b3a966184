# SPDX-License-Identifier: Apache-2.0
"""The comparison as tables in Markdown and as raw figures in CSV."""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from tabulate import tabulate

from .agreement import UNITS_OF_ROUNDING
from .contest import BEHIND_BEST_PEER, MEMCPY, STREAMING_COPY, Outcome
from .contestants import DIRECT, LIMIT, STREW
from .peers import RULE
from .workloads import Output, Use, Workload

MOST_OF_LIMIT = 1.15
MOST_OF_PEER = 1.03

NOTHING = "–"
ENTRY = "ns an entry"
OPTIONAL = (ENTRY, DIRECT, STREAMING_COPY, MEMCPY)  # left out where no row has one

TITLES = {Output.NEW: "New output: data is copied", Output.IN_PLACE: "In place"}
PLAN_TITLES = {
    Use.SCATTER: "Scatter by a plan",
    Use.GATHER: "Gather by a plan",
    Use.GATHER_SCATTER: "Gather and scatter by plans, in place",
    Use.CREATE: "Creation of a plan",
}


def title_of(workload: Workload) -> str:
    """The section that a row belongs to."""
    return PLAN_TITLES.get(workload.use) or TITLES[workload.output]


def name_of(workload: Workload) -> str:
    """The row's name, without the suffix where its section has one kind of output."""
    mixed = workload.use is Use.SCATTER
    return workload.name if mixed else workload.name.removesuffix(workload.output.suffix)


@dataclass(frozen=True)
class Report:
    """All outcomes, the systems compared, and the machine."""

    outcomes: Sequence[Outcome]
    peers: Sequence[str]
    header: Sequence[str]
    threads: int = 1

    def markdown(self) -> str:
        parts = ["# strew and its peers", "\n".join(f"- {line}" for line in self.header)]
        for title, rows in self.sections().items():
            parts += [f"## {title}", self._table(rows)]
        parts.append("\n".join(f"- {line}" for line in (*self._summary(), *self._explanations())))
        remarks = [f"- {o.workload.name}: {remark}" for o in self.outcomes for remark in o.remarks]
        if remarks:
            parts += ["## Remarks", "\n".join(remarks)]
        return "\n\n".join(parts) + "\n"

    def sections(self) -> dict[str, list[Outcome]]:
        """The outcomes that share a table, by its title."""
        found: dict[str, list[Outcome]] = {}
        for title in (*TITLES.values(), *PLAN_TITLES.values()):
            rows = [outcome for outcome in self.outcomes if title_of(outcome.workload) == title]
            if rows:
                found[title] = rows
        return found

    def best_peer(self, outcome: Outcome) -> tuple[str, float] | None:
        """The fastest of the peers and its seconds."""
        times = [(outcome.best(peer), peer) for peer in self.peers]
        best = min(((time, peer) for time, peer in times if time is not None), default=None)
        return None if best is None else (best[1], best[0])

    def head_start(self, outcome: Outcome) -> float | None:
        """How many times as long as strew the best peer takes."""
        strew, peer = outcome.strew, self.best_peer(outcome)
        return None if strew is None or peer is None else peer[1] / strew

    def times_limit(self, outcome: Outcome) -> float | None:
        strew, limit = outcome.strew, outcome.best(LIMIT)
        return None if strew is None or limit is None else strew / limit

    def times_direct(self, outcome: Outcome) -> float | None:
        """The time of a plan over that of the operator's own call."""
        strew, direct = outcome.strew, outcome.best(DIRECT)
        return None if strew is None or direct is None else strew / direct

    def _table(self, outcomes: Sequence[Outcome]) -> str:
        rows = [self._row(outcome) for outcome in outcomes]
        optional = (*OPTIONAL, *self.peers)
        full = [column for column in rows[0] if any(row[column] != NOTHING for row in rows)]
        columns = [column for column in rows[0] if column in full or column not in optional]
        alignment = ["left" if column in ("row", "best peer") else "right" for column in columns]
        cells = [[row[column] for column in columns] for row in rows]
        return tabulate(cells, columns, tablefmt="pipe", colalign=alignment, disable_numparse=True)

    def _row(self, outcome: Outcome) -> dict[str, str]:
        peer, seconds = self.best_peer(outcome) or ("", None)
        return {
            "row": name_of(outcome.workload),
            STREW: _strew_milliseconds(outcome),
            ENTRY: _nanoseconds_of_entry(outcome),
            DIRECT: _milliseconds(outcome.best(DIRECT)),
            LIMIT: _milliseconds(outcome.best(LIMIT)) + (" ¹" if _stands_in(outcome) else ""),
            "strew / limit": _ratio(self.times_limit(outcome)),
            "best peer": peer,
            "its time": _milliseconds(seconds),
            "peer / strew": _ratio(self.head_start(outcome)),
            STREAMING_COPY: _milliseconds(outcome.best(STREAMING_COPY)),
            MEMCPY: _milliseconds(outcome.best(MEMCPY)),
            **{name: _milliseconds(outcome.best(name)) for name in self.peers},
        }

    def _summary(self) -> list[str]:
        ahead = [(o, ratio) for o in self.outcomes if (ratio := self.head_start(o))]
        limits = [(o, ratio) for o in self.outcomes if (ratio := self.times_limit(o))]
        lines = []
        # A tiny row compares a call from C with calls from Python.
        alike = [ratio for outcome, ratio in ahead if not outcome.workload.tiny]
        if alike:
            mean = statistics.geometric_mean(alike)
            lines.append(f"Best peer / strew, geometric mean of {len(alike)} rows: {mean:.2f}")
        if ahead:
            slow = [(o.workload.name, 1 / r) for o, r in ahead if 1 / r > MOST_OF_PEER]
            lines.append(f"Above {MOST_OF_PEER} × the best peer: {_listed(slow)}")
        direct = [(o, ratio) for o in self.outcomes if (ratio := self.times_direct(o))]
        if direct:
            slow = [(o.workload.name, r) for o, r in direct if r > MOST_OF_PEER]
            lines.append(f"Above {MOST_OF_PEER} × the call that a plan is for: {_listed(slow)}")
        if limits:
            slow = [(o.workload.name, r) for o, r in limits if r > MOST_OF_LIMIT]
            lines.append(f"Above {MOST_OF_LIMIT} × the limit loop: {_listed(slow)}")
        if self.threads > 1:
            lines += self._about_threads()
        return lines

    def _about_threads(self) -> Iterator[str]:
        systems = (STREW, *self.peers)
        most = {name: max(o.most_cpus(name) for o in self.outcomes) for name in systems}
        busy = ", ".join(f"{name} {cpus:.1f}" for name, cpus in most.items())
        yield f"CPUs that each kept busy in the trial of some row: {busy}"
        yield "Limit loops and copies run on one thread."

    def _explanations(self) -> list[str]:
        lines = [
            RULE,
            "Times are milliseconds, the best of all turns; raw.csv has the medians and every way "
            "of a system.",
            f"What took more than {BEHIND_BEST_PEER} times as long as the best peer in qualifying "
            "turns was not timed further.",
            "Copies: of data where the output is new, of the updates in place or of what is read.",
            "Results were compared with NumPy's: bit by bit those of strew and the limit loops. "
            f"Peers may add floats in another order, within {UNITS_OF_ROUNDING} units of rounding "
            "of the sum of magnitudes, and may let any of several updates of one element win.",
        ]
        tiny = [outcome for outcome in self.outcomes if outcome.workload.tiny]
        if any(outcome.from_c for outcome in tiny):
            lines.append(
                "Tiny rows are one call: strew's time is that of a call from C, by which it is "
                "judged; in parentheses that through Python and ctypes. Peers are called through "
                "Python, so that the mean leaves these rows out."
            )
        elif tiny:
            lines.append(
                "Tiny rows are one call, in parentheses through Python and ctypes; without the "
                "program that calls strew from C they are not judged."
            )
        if any(map(_stands_in, self.outcomes)):
            lines.append("¹ The loop adds; there is none for max, which costs as much.")
        return lines

    def write_csv(self, file: TextIO) -> None:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("row", "system", "way", "best_seconds", "median_seconds", "turns"))
        for outcome in self.outcomes:
            for (system, label), timing in outcome.timings.items():
                figures = (f"{timing.best:.6g}", f"{timing.median:.6g}", len(timing.samples))
                writer.writerow((outcome.workload.name, system, label, *figures))


def _stands_in(outcome: Outcome) -> bool:
    """True if the limit is that of another reduction."""
    workload = outcome.workload
    return bool(outcome.best(LIMIT)) and workload.limit.reduction != workload.reduction


def _strew_milliseconds(outcome: Outcome) -> str:
    text = _milliseconds(outcome.strew)
    return f"{text} ({_milliseconds(outcome.best(STREW))})" if outcome.workload.tiny else text


def _nanoseconds_of_entry(outcome: Outcome) -> str:
    """Entries per second of work by plans; an entry is an index value, a tuple or an edge."""
    seconds = None if outcome.workload.use is Use.CALL else outcome.strew
    return NOTHING if seconds is None else three_digits(seconds / outcome.workload.entries * 1e9)


def three_digits(value: float) -> str:
    """The number with as many decimals as needed, and no exponent."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def _milliseconds(seconds: float | None) -> str:
    return NOTHING if seconds is None else three_digits(seconds * 1e3)


def _ratio(ratio: float | None) -> str:
    return NOTHING if ratio is None else f"{ratio:.2f}"


def _listed(rows: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{name} ({ratio:.2f})" for name, ratio in rows) or "none"
