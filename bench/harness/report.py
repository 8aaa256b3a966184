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
from .contest import BEHIND_BEST_PEER, LIMIT, MEMCPY, STREAMING_COPY, STREW, Outcome
from .peers import RULE
from .workloads import Output

MOST_OF_LIMIT = 1.15
MOST_OF_PEER = 1.03

TITLES = {Output.NEW: "New output: data is copied", Output.IN_PLACE: "In place"}


@dataclass(frozen=True)
class Report:
    """All outcomes, and what was compared on what machine."""

    outcomes: Sequence[Outcome]
    peers: Sequence[str]
    header: Sequence[str]
    threads: int = 1

    def markdown(self) -> str:
        parts = ["# strew and its peers", "\n".join(f"- {line}" for line in self.header)]
        for output, title in TITLES.items():
            rows = [outcome for outcome in self.outcomes if outcome.workload.output is output]
            if rows:
                parts += [f"## {title}", self._table(rows)]
        parts.append("\n".join(f"- {line}" for line in (*self._summary(), *self._explanations())))
        remarks = [f"- {o.workload.name}: {remark}" for o in self.outcomes for remark in o.remarks]
        if remarks:
            parts += ["## Remarks", "\n".join(remarks)]
        return "\n\n".join(parts) + "\n"

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

    def _table(self, outcomes: Sequence[Outcome]) -> str:
        columns = [
            "row",
            "strew",
            "limit",
            "strew / limit",
            "best peer",
            "its time",
            "peer / strew",
            STREAMING_COPY,
            MEMCPY,
            *self.peers,
        ]
        rows = [self._row(outcome) for outcome in outcomes]
        alignment = ["left" if column in ("row", "best peer") else "right" for column in columns]
        return tabulate(rows, columns, tablefmt="pipe", colalign=alignment, disable_numparse=True)

    def _row(self, outcome: Outcome) -> list[str]:
        peer, seconds = self.best_peer(outcome) or ("", None)
        name = outcome.workload.name.removesuffix(outcome.workload.output.suffix)
        return [
            name,
            _strew_milliseconds(outcome),
            _milliseconds(outcome.best(LIMIT)) + (" ¹" if _stands_in(outcome) else ""),
            _ratio(self.times_limit(outcome)),
            peer,
            _milliseconds(seconds),
            _ratio(self.head_start(outcome)),
            _milliseconds(outcome.best(STREAMING_COPY)),
            _milliseconds(outcome.best(MEMCPY)),
            *(_milliseconds(outcome.best(name)) for name in self.peers),
        ]

    def _summary(self) -> list[str]:
        ahead = [(o, ratio) for o in self.outcomes if (ratio := self.head_start(o))]
        limits = [(o, ratio) for o in self.outcomes if (ratio := self.times_limit(o))]
        lines = []
        if ahead:
            mean = statistics.geometric_mean([ratio for _, ratio in ahead])
            lines.append(f"Best peer / strew, geometric mean of {len(ahead)} rows: {mean:.2f}")
            slow = [(o.workload.name, 1 / r) for o, r in ahead if 1 / r > MOST_OF_PEER]
            lines.append(f"Above {MOST_OF_PEER} × the best peer: {_listed(slow)}")
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
            "Copies: of data where the output is new, of the updates in place.",
            "Results were compared with NumPy's: bit by bit those of strew and the limit loops. "
            f"Peers may add floats in another order, within {UNITS_OF_ROUNDING} units of rounding "
            "of the sum of magnitudes, and may let any of several updates of one element win.",
        ]
        tiny = [outcome for outcome in self.outcomes if outcome.workload.tiny]
        if any(outcome.from_c for outcome in tiny):
            lines.append(
                "Tiny rows are one call: strew's time is that of a call from C, by which it is "
                "judged; in parentheses that through Python and ctypes. Peers are called through "
                "Python."
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


def three_digits(value: float) -> str:
    """As many decimals as it takes, and no exponent."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def _milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else three_digits(seconds * 1e3)


def _ratio(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.2f}"


def _listed(rows: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{name} ({ratio:.2f})" for name, ratio in rows) or "none"
