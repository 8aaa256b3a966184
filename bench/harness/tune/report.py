# SPDX-License-Identifier: Apache-2.0
"""The constants in a table: the value in use, the value measured here, and the gain of a call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tabulate import tabulate

from .kinds import Finding

UNITS = ((1 << 20, "Mi"), (1 << 10, "Ki"))


@dataclass(frozen=True)
class Report:
    """`reasons` say why a constant was not measured."""

    findings: Mapping[str, Finding]
    reasons: Mapping[str, str]
    in_use: Mapping[str, float]
    header: Sequence[str]

    def text(self) -> str:
        parts = ["# The tuning table on this machine", _listed(self.header)]
        parts += [self._table(), _listed(self.summary())]
        if self.reasons:
            parts += ["## Not measured", self._not_measured()]
        return "\n\n".join(parts) + "\n"

    def summary(self) -> Iterator[str]:
        """The changes, the largest gain first."""
        found = {name: found for name, found in self.findings.items() if found.would_change}
        if not found:
            yield "No constant would change."
        for name, one in sorted(found.items(), key=lambda item: -item[1].gain):
            change = f"{number(one.in_use)} would be {_here(one)}"
            yield f"{name}: {change}, and a call {one.gain:.2f} x as fast"

    def _table(self) -> str:
        rows = [self._row(name, found) for name, found in self.findings.items()]
        columns = ("constant", "in use", "measured here", "gain at the worst point", "times")
        alignment = ("left", "right", "right", "right", "left")
        return tabulate(rows, columns, tablefmt="pipe", colalign=alignment, disable_numparse=True)

    def _row(self, name: str, found: Finding) -> list[str]:
        gain = "–" if found.gain is None else f"{found.gain:.2f}"
        return [name, number(found.in_use), _here(found), gain, ", ".join(found.figures)]

    def _not_measured(self) -> str:
        rows = [[name, number(self.in_use[name]), why] for name, why in self.reasons.items()]
        return tabulate(rows, ("constant", "in use", "why"), tablefmt="pipe", disable_numparse=True)


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _here(found: Finding) -> str:
    return found.bound + number(found.here, found.in_use % UNITS[-1][0] == 0)


def number(value: float, binary: bool = False) -> str:
    """Three digits; multiples of 1024 in units such as Ki, and any number if `binary`."""
    for unit, name in UNITS:
        if value >= unit and (binary or value % unit == 0):
            return f"{value / unit:.3g} {name}"
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"
