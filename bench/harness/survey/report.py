# SPDX-License-Identifier: Apache-2.0
"""The figures of the survey: the share of calls in which strew is slower, the worst, and means."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from tabulate import tabulate

from ..contestants import DIRECT, STREW
from ..report import three_digits
from .case import Case
from .classes import is_class
from .trial import BASE, Outcome

LOST = 0.97  # of the time of a rival
# Other contestants of strew: their time over strew's, and its name if they win.
RIVALS = {
    BASE: ("Base / strew", "Slower than the base"),
    DIRECT: ("Call of the operator / plan", "Plans slower than the call that they are for"),
}
SHARES = (1, 0.95, 0.8)  # of the best peer's time

KINDS: dict[str, Callable[[Case], str]] = {
    "operator": lambda case: case.operation,
    "reduction": lambda case: case.reduction,
    "dtype": lambda case: case.dtype,
    "distribution": lambda case: case.pattern.value,
    "index dtype": lambda case: case.index_dtype if case.indices else "none",
    "layout": lambda case: "strided or broadcast" if str(case.layouts) else "contiguous",
    "output": lambda case: case.output,
    "threads": lambda case: str(case.threads),
}
COLUMNS = ("case", "operator", "reduction", "dtype", "distribution", "index_dtype", "data") + (
    "indices", "updates", "axis", "layouts", "output", "threads", "system", "way", "seconds",
    "turns", "ratio", "words",
)  # fmt: skip


@dataclass(frozen=True)
class Report:
    """Calls of less than `least` seconds are not judged."""

    outcomes: Sequence[Outcome]
    header: Sequence[str]
    least: float
    worst: int

    @property
    def judged(self) -> list[Outcome]:
        """The worst first."""
        judged = [o for o in self.outcomes if o.ratio and not o.shorter_than(self.least)]
        return sorted(judged, key=lambda outcome: outcome.ratio)

    @property
    def to_explain(self) -> list[Outcome]:
        return [outcome for outcome in self.judged[: self.worst] if outcome.ratio < 1]

    def text(self) -> str:
        parts = ["# Survey", *self.header, *self._summary()]
        parts += [
            "",
            f"## The worst {min(self.worst, len(self.judged))}",
            *self._worst(),
            *(line for over in RIVALS for line in self._lost(over)),
        ]
        if self.classes:
            parts += ["", "## Classes that once were slow", "", self._table_of_classes()]
        for kind in KINDS:
            parts += ["", self._table(kind)] if self.judged else []
        remarks = [f"- {o.case.name}: {remark}" for o in self.outcomes for remark in _ours(o)]
        return "\n".join(parts + (["", "## Wrong", *remarks] if remarks else [])) + "\n"

    def _summary(self) -> Iterator[str]:
        ratios = [outcome.ratio for outcome in self.judged]
        for over in RIVALS:
            yield from self._gains(over)
        short = sum(bool(o.ratio) and o.shorter_than(self.least) for o in self.outcomes)
        alone = sum(outcome.ratio is None for outcome in self.outcomes)
        if ratios:
            mean = statistics.geometric_mean(ratios)
            yield f"Best peer / strew, geometric mean of {len(ratios)} calls: {mean:.2f}"
            for share in SHARES:
                count = sum(ratio < share for ratio in ratios)
                yield f"Below {share}: {count} calls, {count / len(ratios):.1%}"
        yield f"Not judged: {short} below {self.least * 1e6:g} us, {alone} that no peer does"

    def _gains(self, over: str) -> Iterator[str]:
        gains = [gain for gain, _ in self.compared(over)]
        if gains:
            lost = sum(gain < LOST for gain in gains)
            mean = statistics.geometric_mean(gains)
            yield f"{RIVALS[over][0]}, geometric mean of {len(gains)} calls: {mean:.3f}"
            yield f"Below {LOST}: {lost} calls, {lost / len(gains):.1%}"

    def compared(self, over: str) -> list[tuple[float, Outcome]]:
        """The calls in which the rival competes, with its time over strew's, smallest first."""
        gains = [(o.gain(over), o) for o in self.outcomes]
        found = [(gain, o) for gain, o in gains if gain and o.strew >= self.least]
        return sorted(found, key=lambda pair: pair[0])

    def _lost(self, over: str) -> Iterator[str]:
        lost = [(gain, o) for gain, o in self.compared(over) if gain < LOST][: self.worst]
        if lost:
            yield from ("", f"## {RIVALS[over][1]}: the worst {len(lost)}")
        for gain, outcome in lost:
            yield f"- {gain:.2f} {outcome.case.name}: {outcome.case}"

    def _worst(self) -> Iterator[str]:
        for outcome in self.judged[: self.worst]:
            yield from details(outcome)

    @property
    def classes(self) -> list[Outcome]:
        """In their order, those that were timed."""
        return [o for o in self.outcomes if is_class(o.case) and o.strew]

    def _table_of_classes(self) -> str:
        rows = []
        for outcome in self.classes:
            (peer, _), seconds = outcome.best_peer or (("", ""), None)
            figures = (
                _microseconds(outcome.strew),
                peer,
                _microseconds(seconds) if seconds else "",
                f"{outcome.ratio:.2f}" if outcome.ratio else "",
            )
            rows.append([outcome.case.name, *figures, str(outcome.case)])
        columns = ["class", "strew us", "best peer", "its us", "peer / strew", "call"]
        alignment = ("left", "right", "left", "right", "right", "left")
        return tabulate(rows, columns, tablefmt="pipe", colalign=alignment, disable_numparse=True)

    def _table(self, kind: str) -> str:
        groups: dict[str, list[float]] = {}
        for outcome in self.judged:
            groups.setdefault(KINDS[kind](outcome.case), []).append(outcome.ratio)
        rows = [
            [name, len(ratios), f"{statistics.geometric_mean(ratios):.2f}", f"{ratios[0]:.2f}"]
            + [f"{sum(ratio < share for ratio in ratios) / len(ratios):.0%}" for share in SHARES]
            for name, ratios in sorted(groups.items())
        ]
        columns = [kind, "calls", "peer / strew", "worst", *(f"below {s}" for s in SHARES)]
        return tabulate(
            rows,
            columns,
            tablefmt="pipe",
            colalign=["left"] + ["right"] * (len(columns) - 1),
            disable_numparse=True,
        )

    def write_csv(self, file: TextIO) -> None:
        """A line for each way of each system, with the ratio in the lines of strew."""
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for outcome in self.outcomes:
            case = outcome.case
            about = [case.name, *(KINDS[kind](case) for kind in list(KINDS)[:5])]
            shapes = [" ".join(map(str, s)) for s in (case.data, case.indices, case.updates)]
            about += [*shapes, case.axis, str(case.layouts), case.output, case.threads]
            for (system, label), timing in outcome.timings.items():
                ours = f"{outcome.ratio:.4g}" if system == STREW and outcome.ratio else ""
                figures = (f"{timing.best:.6g}", len(timing.samples), ours)
                writer.writerow((*about, system, label, *figures, str(case)))


def details(outcome: Outcome, every: bool = False) -> Iterator[str]:
    """The case, the time of each contestant, and how strew ran it."""
    ratio = "" if outcome.ratio is None else f"**{outcome.ratio:.2f}** "
    yield f"- {ratio}{outcome.case.name}: {outcome.case}"
    best: dict[str, tuple[float, str]] = {}
    ways = [(timing.best, *way) for way, timing in outcome.timings.items()]
    for seconds, system, label in sorted(ways):
        if every or system not in best:
            best.setdefault(system, (seconds, label))
            if every:
                yield f"  - {_microseconds(seconds)} us {system}: {label}"
    if not every and best:
        figures = (f"{system} {_microseconds(s)} ({label})" for system, (s, label) in best.items())
        yield f"  - us: {', '.join(figures)}"
    yield from (f"  - {line}" for line in outcome.explained)


def _ours(outcome: Outcome) -> list[str]:
    return outcome.remarks if outcome.wrong else []


def _microseconds(seconds: float) -> str:
    return three_digits(seconds * 1e6)
