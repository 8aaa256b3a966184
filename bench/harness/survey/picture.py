# SPDX-License-Identifier: Apache-2.0
"""The classes of the survey as a picture: a line for each call, times in multiples of strew's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from .. import dot_plot
from ..contestants import STREW
from .case import Case, shown
from .trial import Outcome

GROUPS = {"New output: data is copied": False, "In place": True}


def draw(outcomes: Iterable[Outcome], title: str, path: Path) -> None:
    """Writes an SVG of the calls that were timed together with a peer."""
    compared = [outcome for outcome in outcomes if outcome.ratio]
    groups = {
        heading: [_label(o.case) for o in compared if o.case.in_place == in_place]
        for heading, in_place in GROUPS.items()
    }
    if not compared:
        return
    column = dot_plot.Column(
        "time in multiples of strew's; right of the line strew is faster",
        {system: _multiples(compared, system) for system in _systems(compared)},
        line=1,
        logarithmic=True,
    )
    dot_plot.draw(path, title, groups, [column])


def _systems(outcomes: Sequence[Outcome]) -> list[str]:
    """The contestants other than strew, in the order in which they appear."""
    found = dict.fromkeys(system for o in outcomes for system, _ in o.timings)
    return [system for system in found if system != STREW]


def _multiples(outcomes: Sequence[Outcome], system: str) -> dict[str, float]:
    pairs = ((o, o.seconds(system)) for o in outcomes)
    return {_label(o.case): seconds / o.strew for o, seconds in pairs if seconds}


def _label(case: Case) -> str:
    operator = case.operation.replace("_scatter", "").replace("scatter_", "")
    return f"{operator} {case.reduction} {case.dtype} {shown(case.data)}, {case.name}"
