#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows how the time of an update grows with the size of the problem: float32, one thread.

Three sizes grow: the number of updates with data of fixed size, the size of data with a fixed
number of updates, and matrices that are scattered into a new output. Indices are uniformly random
int64. For comparison, memcpy copies what a call must read: indices and updates, and data if the
output is new. Figures are nanoseconds per update; below ten thousand updates, the overhead of a
call from Python is visible in all of them.

Writes growth.csv, growth.md and growth.svg. Needs about 7 GiB of memory by default, and twice as
much with peers.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator
from tabulate import tabulate
from tqdm import tqdm

from harness import machine
from harness.library import Library, locate
from harness.peers import PLAIN, System, load
from harness.picture import INK, PAPER, STYLE, WIDTH
from harness.scatter import Scatter, strew_call
from harness.timing import Timing, alternate, time_once
from harness.workloads import Operator

ELEMENT = 4
INDEX = 8
LINE = 64
FIXED_DATA = 1 << 24
FIXED_UPDATES = 1 << 22
LEAST_DATA_BYTES = 32 << 10
LEAST_COUNT = 1000
# If a peer takes longer than this for one call, that call alone is its time.
PATIENCE = 0.5
COLUMNS = ("panel", "series", "contestant", "size", "updates", "best", "median", "turns")
# As in the picture of compare.py, in the order of the legend.
COLOURS = {"strew": "#cf222e", "NumPy": "#cc79a7", "PyTorch": "#e69f00", "memcpy": "#8c959f"}
EMPHASIS = {"linewidth": 2, "zorder": 3}
STYLES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Panel:
    """One size that grows. Each unit of it brings `footprint` bytes into the caches."""

    name: str
    axis: str
    footprint: int


UPDATES = Panel("updates", "updates into 64 MiB, in place", LINE + ELEMENT + INDEX)
DATA = Panel("data", "bytes of data under 2^22 updates, in place", 1)
MATRIX = Panel("matrix", "elements of a square matrix, new output", 3 * ELEMENT + INDEX)
PANELS = (UPDATES, DATA, MATRIX)


@dataclass(frozen=True)
class Stage:
    """The scatters, by series, that are timed together at one size."""

    panel: Panel
    size: int
    updates: int
    scatters: dict[str, Scatter]
    read: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Point:
    """One contestant at one size; memcpy belongs to no series."""

    panel: Panel
    series: str
    contestant: str
    size: int
    updates: int
    timing: Timing

    @property
    def nanoseconds(self) -> float:
        return self.timing.best * 1e9 / self.updates


class Arena:
    """The memory of all stages, allocated and touched once."""

    def __init__(self, count: int, data_bytes: int) -> None:
        self._random = np.random.default_rng(1)
        self._data = np.zeros(max(data_bytes // ELEMENT, FIXED_DATA, 2 * count), np.float32)
        self._data.fill(1)
        self._indices = np.zeros(max(count, FIXED_UPDATES), np.int64)
        # Small enough that sums stay finite however often they are taken.
        self._updates = np.full(max(count, FIXED_UPDATES), 2.0**-20, np.float32)
        self.scratch = np.ones(self._indices.nbytes, np.uint8)

    def line(self, data: int, updates: int) -> dict[str, Scatter]:
        """Single updates of one dimension, in place."""
        target, source = self._data[:data], self._updates[:updates]
        indices = self._fresh_indices(data, updates)
        shapes = {Operator.SCATTER_ELEMENTS: indices, Operator.SCATTER_ND: indices[:, None]}
        return {
            f"{operator.value} {reduction}": Scatter(
                operator, target, shaped, source, reduction, target
            )
            for operator, shaped in shapes.items()
            for reduction in ("none", "add")
        }

    def square(self, side: int) -> dict[str, Scatter]:
        """An index for every element of a matrix, into a new output."""
        count, shape = side * side, (side, side)
        data, output = (self._data[start : start + count].reshape(shape) for start in (0, count))
        updates = self._updates[:count].reshape(shape)
        indices = self._fresh_indices(side, count).reshape(shape)
        return {
            f"{name} axis {reduction}": Scatter(
                Operator.SCATTER_ELEMENTS, data, indices, updates, reduction, output, axis
            )
            for axis, name in ((1, "last"), (0, "first"))
            for reduction in ("none", "add")
        }

    def _fresh_indices(self, limit: int, count: int) -> np.ndarray:
        """Writes it piecewise, so that no second array of that size is needed."""
        piece = 1 << 20
        indices = self._indices[:count]
        for start in range(0, count, piece):
            part = indices[start : start + piece]
            part[:] = self._random.integers(0, limit, part.size)
        return indices


def growing(least: int, most: int, factor: float) -> list[int]:
    """From `least` to `most`, both included where the factor hits them."""
    steps = math.floor(math.log(most / least) / math.log(factor) + 1e-9)
    return [round(least * factor**step) for step in range(steps + 1)]


def stages(arena: Arena, sizes: list[tuple[Panel, int]]) -> Iterator[Stage]:
    """Makes each stage when it is needed, because they share the arena's memory."""
    for panel, size in sizes:
        if panel is MATRIX:
            side = math.isqrt(size)
            scatters = arena.square(side)
            size = updates = side * side
        elif panel is DATA:
            updates = FIXED_UPDATES
            scatters = arena.line(size // ELEMENT, updates)
        else:
            updates = size
            scatters = arena.line(FIXED_DATA, updates)
        first = next(iter(scatters.values()))
        read = (first.indices, first.updates) + ((first.data,) if panel is MATRIX else ())
        yield Stage(panel, size, updates, scatters, read)


def measure(
    stage: Stage, library: Library, peers: Sequence[System], scratch: np.ndarray, seconds: float
) -> list[Point]:
    """Times the stage. Of a peer's functions, the fastest counts."""
    calls: dict[tuple[str, str, str], Callable[[], None]] = {
        ("", "memcpy", ""): copying(stage.read, scratch)
    }
    single: dict[tuple[str, str, str], Timing] = {}
    for series, scatter in stage.scatters.items():
        calls[series, "strew", ""] = strew_call(library, scatter)
        for peer in peers:
            for way in peer.prepare(scatter):
                elapsed = time_once(way.call) if stage.updates >= FIXED_UPDATES else 0
                if elapsed > PATIENCE:
                    single[series, peer.name, way.label] = Timing((elapsed,))
                else:
                    calls[series, peer.name, way.label] = way.call
    best: dict[tuple[str, str], Timing] = {}
    for (series, who, _), timing in (single | alternate(calls, seconds, 3)).items():
        if (series, who) not in best or timing.best < best[series, who].best:
            best[series, who] = timing
    return [
        Point(stage.panel, series, who, stage.size, stage.updates, timing)
        for (series, who), timing in best.items()
    ]


def copying(sources: tuple[np.ndarray, ...], scratch: np.ndarray) -> Callable[[], None]:
    flat = [source.reshape(-1).view(np.uint8) for source in sources]
    pairs = [(scratch[: source.size], source) for source in flat]

    def copy() -> None:
        for target, source in pairs:
            np.copyto(target, source)

    return copy


def markdown(points: list[Point], heading: str) -> str:
    """A table for each panel: strew's figures, and the best peer's if there is one."""
    parts = [heading, "Nanoseconds per update; in brackets the best peer."]
    for panel in PANELS:
        shown = [point for point in points if point.panel is panel]
        series = [name for name in dict.fromkeys(point.series for point in shown) if name]
        rows = []
        for size in dict.fromkeys(point.size for point in shown):
            here = [point for point in shown if point.size == size]
            (memcpy,) = (point for point in here if point.contestant == "memcpy")
            figures = [figure([p for p in here if p.series == name]) for name in series]
            rows.append([size_text(panel, size), *figures, f"{memcpy.nanoseconds:.3g}"])
        if rows:
            header = [panel.axis, *series, "memcpy"]
            align = ("right",) * len(header)
            parts.append(tabulate(rows, header, "pipe", disable_numparse=True, colalign=align))
    return "\n\n".join(parts) + "\n"


def figure(points: list[Point]) -> str:
    (strew,) = (point for point in points if point.contestant == "strew")
    text = f"{strew.nanoseconds:.3g}"
    peers = [point for point in points if point is not strew]
    if not peers:
        return text
    best = min(peers, key=lambda point: point.nanoseconds)
    return f"{text} ({best.contestant} {best.nanoseconds:.3g})"


def size_text(panel: Panel, size: int) -> str:
    return machine.binary_size(size) if panel is DATA else f"{size:.2g}"


def write_csv(path: Path, points: list[Point]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for point in points:
            timing = point.timing
            writer.writerow(
                [point.panel.name, point.series, point.contestant, point.size, point.updates]
                + [timing.best, timing.median, len(timing.samples)]
            )


def draw(path: Path, points: list[Point], heading: str) -> None:
    """One panel below the other: time of an update over size, with the caches as marks."""
    shown = [panel for panel in PANELS if any(point.panel is panel for point in points)]
    with matplotlib.rc_context(STYLE):
        figure = Figure((WIDTH, 3.4 * len(shown)), facecolor=PAPER, layout="constrained")
        axes = figure.subplots(len(shown), squeeze=False)[:, 0]
        figure.suptitle(heading, fontsize=9)
        for panel, plot in zip(shown, axes, strict=True):
            draw_panel(plot, panel, [point for point in points if point.panel is panel])
        figure.savefig(path, metadata={"Date": None})


def draw_panel(plot: Axes, panel: Panel, points: list[Point]) -> None:
    """Colours distinguish the contestants, line styles the series."""
    contestants = [name for name in COLOURS if any(p.contestant == name for p in points)]
    series = [name for name in dict.fromkeys(point.series for point in points) if name]
    styles = dict(zip(series, STYLES)) | {"": "-"}
    for contestant, name in dict.fromkeys((p.contestant, p.series) for p in points):
        line = [p for p in points if (p.contestant, p.series) == (contestant, name)]
        plot.plot(
            [point.size for point in line],
            [point.nanoseconds for point in line],
            styles[name],
            color=COLOURS[contestant],
            **(EMPHASIS if contestant == "strew" else {"linewidth": 1.2}),
        )
    legend = {name: Line2D([], [], color=COLOURS[name], linewidth=2.5) for name in contestants}
    legend |= {name: Line2D([], [], color=INK, linestyle=styles[name]) for name in series}
    plot.legend(legend.values(), legend, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    plot.set_xscale("log", base=2 if panel is DATA else 10)
    plot.set_yscale("log")
    plot.set_xlabel(panel.axis)
    plot.set_ylabel("ns per update")
    plot.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    plot.yaxis.set_major_formatter("{x:g}")
    plot.yaxis.set_minor_formatter("")
    plot.grid(alpha=0.25)
    if panel is DATA:
        plot.xaxis.set_major_formatter(lambda size, _: machine.binary_size(int(size)))
        plot.tick_params(axis="x", labelsize=8)
    low, high = plot.get_xlim()
    for cache in machine.caches():
        size = cache.bytes / panel.footprint
        if low < size < high:
            plot.axvline(size, color="gray", linewidth=0.8, alpha=0.6)
            above = {"transform": plot.get_xaxis_transform(), "va": "bottom", "ha": "center"}
            plot.text(size, 1.01, cache.name, color="gray", **above)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", type=Path, help="libstrew.so, or the build directory")
    parser.add_argument(
        "--peers", nargs="*", choices=PLAIN, default=[], help="who runs beside strew and memcpy"
    )
    parser.add_argument(
        "--panels",
        nargs="+",
        choices=[panel.name for panel in PANELS],
        default=[panel.name for panel in PANELS],
        help="what grows (default: all)",
    )
    parser.add_argument(
        "--most",
        type=float,
        default=1e8,
        metavar="N",
        help="the most updates, and elements of a matrix (default: 1e8)",
    )
    parser.add_argument(
        "--most-data",
        type=float,
        default=4,
        metavar="GIB",
        help="the largest data, in GiB (default: 4)",
    )
    parser.add_argument(
        "--seconds", type=float, default=0.5, help="for each size, at least (default: 0.5)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("."),
        metavar="DIR",
        help="for growth.csv, growth.md and growth.svg",
    )
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    library = Library(locate(arguments.library))
    peers = load(arguments.peers, 1)
    most, most_data = int(arguments.most), int(arguments.most_data * 2**30)
    arena = Arena(most, most_data)
    ranges = {
        UPDATES: growing(LEAST_COUNT, most, math.sqrt(10)),
        DATA: growing(LEAST_DATA_BYTES, most_data, 2),
        MATRIX: growing(LEAST_COUNT, most, 10),
    }
    wanted = [panel for panel in PANELS if panel.name in arguments.panels]
    sizes = [(panel, size) for panel in wanted for size in ranges[panel]]
    points: list[Point] = []
    with tqdm(stages(arena, sizes), total=len(sizes), unit="size") as progress:
        for stage in progress:
            progress.set_description(f"{stage.panel.name} {size_text(stage.panel, stage.size)}")
            points += measure(stage, library, peers, arena.scratch, arguments.seconds)
    heading = f"{machine.describe(library)}, one thread, float32"
    arguments.output.mkdir(parents=True, exist_ok=True)
    write_csv(arguments.output / "growth.csv", points)
    draw(arguments.output / "growth.svg", points, heading)
    text = markdown(points, heading)
    (arguments.output / "growth.md").write_text(text)
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
