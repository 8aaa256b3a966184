# SPDX-License-Identifier: Apache-2.0
"""The ratios of inside.py as a picture: a line for each program, a mark for each thread count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from ..picture import COLORS, LINE_HEIGHT, MARKS, PAPER, STREW_COLOR, STYLE, TICKS, WIDTH
from ..threads import on
from . import Row


def draw(rows: Sequence[Row], title: str, path: Path) -> None:
    """Writes an SVG with its own background, so that it can be read on any page."""
    systems = list(dict.fromkeys(row.system for row in rows))
    groups = [[row for row in rows if row.system == system] for system in systems]
    heights = [len({row.name for row in group}) for group in groups]
    height = LINE_HEIGHT * (sum(heights) + 3 * len(heights)) + 1.2
    with matplotlib.rc_context(STYLE):
        figure = Figure((WIDTH, height), facecolor=PAPER, layout="constrained")
        axes = figure.subplots(
            len(groups), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
        )[:, 0]
        for panel, system, group in zip(axes, systems, groups):
            _draw_group(panel, group)
            panel.set_title(system, loc="left", fontsize=10, fontweight="bold")
        axes[-1].set_xlabel("times as fast with strew, more is better")
        figure.suptitle(title, fontsize=9)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
        figure.savefig(path, metadata={"Date": None})


def _draw_group(panel: Axes, rows: Sequence[Row]) -> None:
    names = list(dict.fromkeys(row.name for row in rows))
    panel.axvline(1, color=STREW_COLOR, linewidth=2, zorder=1)
    counts = sorted({row.threads for row in rows})
    for threads, mark, color in zip(counts, MARKS, COLORS):
        some = [row for row in rows if row.threads == threads]
        points = [row.ratio for row in some], [names.index(row.name) for row in some]
        panel.scatter(*points, marker=mark, color=color, label=on(threads), s=34, zorder=3)
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.4, -0.6)
    panel.set_xscale("log")
    ratios = [row.ratio for row in rows]
    panel.set_xticks([tick for tick in TICKS if min(ratios) / 2 < tick < max(ratios) * 2])
    panel.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.spines[["top", "right"]].set_visible(False)
