# SPDX-License-Identifier: Apache-2.0
"""A plot of figures as dots: a line for each row, and a column for each kind of figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from .picture import COLORS, FAINT, INK, LINE_HEIGHT, MARKS, PAPER, STYLE, WIDTH

DOT = {"s": 34, "zorder": 3, "linewidths": 0.6, "edgecolors": PAPER}
BAR = {"s": 110, "zorder": 4, "linewidths": 2}
DOUBLINGS = [2.0**power for power in range(-6, 11)]


@dataclass(frozen=True)
class Column:
    """`dots` are figures by series and row. `line` marks the value with which they are compared,
    `bound` their bound, and `bars` the bounds of single rows."""

    label: str
    dots: Mapping[str, Mapping[str, float]]
    line: float | None = None
    bound: float | None = None
    bars: tuple[str, Mapping[str, float]] | None = None
    logarithmic: bool = False


def draw(
    path: Path, title: str, groups: Mapping[str, Sequence[str]], columns: Sequence[Column]
) -> None:
    """Writes an SVG; `groups` are the rows below each heading, if any."""
    groups = {heading: rows for heading, rows in groups.items() if rows}
    heights = [len(rows) for rows in groups.values()]
    height = LINE_HEIGHT * (sum(heights) + 3 * len(heights)) + 1.3
    with matplotlib.rc_context(STYLE):
        figure = Figure((WIDTH, height), facecolor=PAPER, layout="constrained")
        axes = figure.subplots(
            len(groups),
            len(columns),
            sharex="col",
            sharey="row",
            squeeze=False,
            gridspec_kw={"height_ratios": heights},
        )
        for panels, (heading, rows) in zip(axes, groups.items(), strict=True):
            panels[0].set_title(heading, loc="left", fontsize=10, fontweight="bold")
            for panel, column in zip(panels, columns, strict=True):
                _draw_panel(panel, column, rows)
        for panel, column in zip(axes[-1], columns, strict=True):
            panel.set_xlabel(column.label)
        figure.suptitle(title, fontsize=9)
        legend = _legend(axes.flat)
        figure.legend(
            legend.values(), legend, loc="outside lower center", ncols=len(legend), frameon=False
        )
        figure.savefig(path, metadata={"Date": None})


def _draw_panel(panel: Axes, column: Column, rows: Sequence[str]) -> None:
    if column.line is not None:
        panel.axvline(column.line, color=INK, linewidth=1.2, zorder=1)
    if column.bound is not None:
        panel.axvline(column.bound, color=COLORS[2], linewidth=1.2, linestyle="--", zorder=1)
    for (label, values), mark, color in zip(column.dots.items(), MARKS, COLORS):
        panel.scatter(*_points(values, rows), marker=mark, color=color, label=label, **DOT)
    if column.bars is not None:
        label, values = column.bars
        panel.scatter(*_points(values, rows), marker="|", color=INK, label=label, **BAR)
    if column.logarithmic:
        panel.set_xscale("log", base=2)
        panel.set_xticks(DOUBLINGS)
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.xaxis.set_major_formatter("{x:g}")
    panel.set_yticks(range(len(rows)), rows)
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.tick_params(length=0, labelbottom=True)
    panel.minorticks_off()
    panel.grid(axis="both", color=FAINT, linewidth=0.6)
    panel.set_axisbelow(True)
    panel.spines[:].set_visible(False)
    panel.autoscale(axis="x")
    panel.margins(x=0.03)


def _points(values: Mapping[str, float], rows: Sequence[str]) -> tuple[list[float], list[int]]:
    places = [place for place, row in enumerate(rows) if row in values]
    return [values[rows[place]] for place in places], places


def _legend(panels: Sequence[Axes]) -> dict[str, object]:
    """One entry for each series that has a dot anywhere."""
    found: dict[str, object] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels()):
            if len(handle.get_offsets()):
                found.setdefault(label, handle)
    return found
