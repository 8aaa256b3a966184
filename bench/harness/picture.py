# SPDX-License-Identifier: Apache-2.0
"""The comparison as a picture: a line for each row, with times in multiples of strew's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from .contest import Outcome
from .contestants import DIRECT, LIMIT, STREW
from .report import Report, name_of, three_digits

WIDTH = 9.6  # inches of 100 pixels
LINE_HEIGHT = 0.24
INK, FAINT, PAPER = "#24292f", "#d0d7de", "#ffffff"
STREW_COLOR, LIMIT_COLOR = "#cf222e", "#24292f"
# Systems differ by shape and by colour; the colours are those of Okabe and Ito.
MARKS = ("o", "D", "s", "^", "v", "P", "X", "*")
COLORS = ("#0072b2", "#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#999999", "#7f4fc9", "#cf222e")
TICKS = (0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)

STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "strew",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def draw(report: Report, title: str, path: Path) -> None:
    """Writes an SVG with its own background, so that it can be read on any page."""
    groups = {
        heading: drawn
        for heading, rows in report.sections().items()
        if (drawn := [outcome for outcome in rows if _drawable(outcome)])
    }
    if not groups:
        return
    heights = [len(rows) for rows in groups.values()]
    height = LINE_HEIGHT * (sum(heights) + 3 * len(heights)) + 1.2
    with matplotlib.rc_context(STYLE):
        figure = Figure((WIDTH, height), facecolor=PAPER, layout="constrained")
        axes = figure.subplots(
            len(groups), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
        )[:, 0]
        for panel, (heading, rows) in zip(axes, groups.items()):
            _draw_rows(panel, report.peers, rows)
            panel.set_title(heading, loc="left", fontsize=10, fontweight="bold")
        axes[-1].set_xlabel("time in multiples of strew's, less is better")
        figure.suptitle(title, fontsize=9)
        handles, labels = _legend(axes)
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
        figure.savefig(path, metadata={"Date": None})


def _drawable(outcome: Outcome) -> bool:
    return outcome.strew is not None


def _draw_rows(panel: Axes, peers: Sequence[str], outcomes: Sequence[Outcome]) -> None:
    places = range(len(outcomes))
    panel.axvline(1, color=STREW_COLOR, linewidth=2.5, zorder=1, label=STREW)
    for peer, mark, color in zip((*peers, DIRECT), MARKS, COLORS):
        points = _relative(outcomes, peer)
        style = {"s": 34, "zorder": 3, "linewidths": 0.6, "edgecolors": PAPER}
        panel.scatter(*points, marker=mark, color=color, label=peer, **style)
    style = {"s": 110, "zorder": 4, "linewidths": 2}
    panel.scatter(*_relative(outcomes, LIMIT), marker="|", color=LIMIT_COLOR, label=LIMIT, **style)
    panel.set_yticks(places, [_name(outcome) for outcome in outcomes])
    panel.set_ylim(len(outcomes) - 0.4, -0.6)
    times = panel.secondary_yaxis("right")
    times.set_yticks(places, [_time(outcome.strew) for outcome in outcomes])
    times.tick_params(length=0, labelcolor=STREW_COLOR)
    times.spines[:].set_visible(False)
    corner = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
    panel.annotate(STREW, (1, 1), (3.5, 6), color=STREW_COLOR, fontweight="bold", **corner)
    panel.set_xscale("log")
    panel.set_xticks(TICKS)
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.minorticks_off()
    panel.tick_params(length=0, labelbottom=True)
    panel.grid(axis="both", color=FAINT, linewidth=0.6)
    panel.set_axisbelow(True)
    panel.spines[:].set_visible(False)
    panel.autoscale(axis="x")
    panel.margins(x=0.03)


def _relative(outcomes: Sequence[Outcome], system: str) -> tuple[list[float], list[int]]:
    ratios, places = [], []
    for place, outcome in enumerate(outcomes):
        if (seconds := outcome.best(system)) is not None:
            ratios.append(seconds / outcome.strew)
            places.append(place)
    return ratios, places


def _name(outcome: Outcome) -> str:
    name = name_of(outcome.workload)
    return f"{name} (from C)" if outcome.workload.tiny else name


def _time(seconds: float) -> str:
    for unit, name in ((1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if seconds >= 0.9995 * unit:
            break
    return f"{three_digits(seconds / unit)} {name}"


def _legend(axes: Sequence[Axes]) -> tuple[list, list[str]]:
    """One entry for each system that has a point anywhere."""
    found: dict[str, object] = {}
    for panel in axes:
        for handle, label in zip(*panel.get_legend_handles_labels()):
            empty = hasattr(handle, "get_offsets") and not len(handle.get_offsets())
            if not empty:
                found.setdefault(label, handle)
    return list(found.values()), list(found)
