#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times every dtype with every reduction, on four walks through memory, in place.

Figures are nanoseconds per update. Beside each is its ratio to the plain dtype of the same width in
the same run: int8, int16, int32 or int64, replaced for `none` and added for every reduction. Dtypes
wider than 8 bytes are compared with twice the time of int64 or float64; an opaque width between two
with the next wider one. A ratio above its bound is flagged. The bound is 2; 3 if a reduction
computes in another format (16-bit floats), in two parts (complex), or compares (min and max); and 8
if it computes float8 as float32, of which a vector holds only a quarter.

With --peers, NumPy and PyTorch do the same on the same memory, each with its best function. If one
of them is faster than strew, this is flagged too.

All dtypes of one width use the same memory, because the time of a walk depends on the pages of a
buffer by tens of percent.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import dataclasses
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tabulate import tabulate
from tqdm import tqdm

from harness import machine
from harness.library import Library, locate
from harness.contestants import Call, Contestant
from harness.peers import PLAIN, System, load
from harness.scatter import Scatter, strew_call
from harness.timing import Timing, alternate, time_once
from harness.values import (
    COMPLEX,
    DTYPES,
    FLOATS,
    agree,
    as_numpy,
    random_values,
    unit_factors,
)
from harness.workloads import Operator

REDUCTIONS = ("none", "add", "mul", "min", "max", "sub")
WIDTHS = (1, 2, 4, 8, 16)
COLUMNS = ("walk", "dtype", "reduction", "nanoseconds", "plain", "ratio", "bound") + (
    "peer",
    "peer_nanoseconds",
)
BOUND, WIDER_BOUND, FLOAT8_BOUND = 2.0, 3.0, 8.0
# A peer this many times slower than strew takes no further turns.
HOPELESS = 4.0
# The exceptions with which a peer refuses a dtype, or a reduction of it.
REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, KeyError)


@dataclass(frozen=True)
class Walk:
    """How the updates lie in data."""

    name: str
    operator: Operator
    data: tuple[int, ...]
    indices: tuple[int, ...]
    updates: tuple[int, ...]
    axis: int = 0


WALKS = (
    Walk("last axis", Operator.SCATTER_ELEMENTS, (2048, 2048), (2048, 2048), (2048, 2048), 1),
    Walk("first axis", Operator.SCATTER_ELEMENTS, (2048, 2048), (2048, 2048), (2048, 2048), 0),
    Walk("rows", Operator.SCATTER_ND, (16384, 256), (8192, 1), (8192, 256)),
    Walk("scalar", Operator.SCATTER_ELEMENTS, (1 << 22,), (1 << 20,), (1 << 20,)),
)


@dataclass(frozen=True)
class Entrant:
    """The system and what it runs; `way` distinguishes the operators of one peer."""

    dtype: str
    reduction: str
    system: str = "strew"
    way: str = ""


@dataclass(frozen=True)
class Cell:
    """One figure and what it is compared with, in nanoseconds per update."""

    walk: str
    dtype: str
    reduction: str
    nanoseconds: float
    plain: float
    bound: float
    peer: str = ""
    peer_nanoseconds: float = math.inf

    @property
    def ratio(self) -> float:
        return self.nanoseconds / self.plain

    @property
    def beyond(self) -> bool:
        return self.ratio > self.bound

    @property
    def outrun(self) -> bool:
        return self.peer_nanoseconds < self.nanoseconds

    def text(self) -> str:
        ratio = f"{self.ratio:.2f}"
        parts = [f"{self.nanoseconds:.3g}", f"**{ratio}**" if self.beyond else ratio]
        if self.peer:
            peer = f"{self.peer_nanoseconds / self.nanoseconds:.2f}"
            parts.append(f"**{peer}**" if self.outrun else peer)
        return " · ".join(parts)


class Memory:
    """The operands of one walk, wide enough for one group of dtypes, and the values of each."""

    def __init__(self, walk: Walk, width: int) -> None:
        self.walk = walk
        self._random = np.random.default_rng(1)
        self._data = np.empty(math.prod(walk.data) * width, np.uint8)
        self._updates = np.empty(math.prod(walk.updates) * width, np.uint8)
        self.indices = self._random.integers(0, walk.data[walk.axis], walk.indices)
        self._values: dict[tuple[str, bool], np.ndarray] = {}

    def scatter(self, dtype: str, reduction: str) -> Scatter:
        data = self._view(self._data, self.walk.data, dtype)
        updates = self._view(self._updates, self.walk.updates, dtype)
        walk = self.walk
        return Scatter(
            walk.operator, data, self.indices, updates, reduction, data, walk.axis, dtype=dtype
        )

    def restore(self, dtype: str, reduction: str) -> None:
        """Writes the values that the dtype starts from. Factors are of magnitude 1, so that no
        product leaves the normal range however often it is taken."""
        np.copyto(self._view(self._data, self.walk.data, dtype), self._start(dtype, False))
        updates = self._view(self._updates, self.walk.updates, dtype)
        start = self._start(dtype, reduction == "mul").ravel()[: updates.size]
        np.copyto(updates, start.reshape(updates.shape))

    @staticmethod
    def _view(memory: np.ndarray, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        numpy_dtype = as_numpy(dtype)
        count = math.prod(shape) * numpy_dtype.itemsize
        return memory[:count].view(numpy_dtype).reshape(shape)

    def _start(self, dtype: str, factors: bool) -> np.ndarray:
        key = (dtype, factors)
        if key not in self._values:
            make = unit_factors if factors else random_values
            self._values[key] = make(self._random, dtype, self.walk.data)
        return self._values[key]


def group_width(dtype: str) -> int:
    """The width of the plain dtype that this one is compared with."""
    return min(width for width in WIDTHS if width >= as_numpy(dtype).itemsize)


def plain_of(entrant: Entrant) -> tuple[Entrant, float]:
    """The yardstick of the figure, and the allowed multiple of its time."""
    width = group_width(entrant.dtype)
    reduction = "none" if entrant.reduction == "none" else "add"
    if width <= 8:
        return Entrant(f"int{8 * width}", reduction), 1
    return Entrant("int64" if reduction == "none" else "float64", reduction), 2


def bound_of(entrant: Entrant) -> float:
    if entrant.reduction == "none":
        return BOUND
    dtype = entrant.dtype
    if dtype.startswith("float8") and entrant.reduction not in ("min", "max"):
        return FLOAT8_BOUND
    small_float = dtype in FLOATS and as_numpy(dtype).itemsize <= 2
    costly = small_float or dtype in COMPLEX or entrant.reduction in ("min", "max")
    return WIDER_BOUND if costly else BOUND


class Group:
    """All dtypes of one width on one walk, in turns on the same memory."""

    def __init__(self, library: Library, walk: Walk, width: int, peers: Sequence[System]) -> None:
        self._memory = Memory(walk, width)
        self._calls: dict[Entrant, Call] = {}
        self._single: dict[Entrant, Timing] = {}
        self.complaints: list[str] = []
        self.shown: list[Entrant] = []
        for dtype in DTYPES:
            if group_width(dtype) == width:
                for reduction in REDUCTIONS:
                    self._enter(library, dtype, reduction, peers)
        for entrant in self.shown:
            plain, _ = plain_of(entrant)
            if plain not in self._calls:
                scatter = self._memory.scatter(plain.dtype, plain.reduction)
                self._calls[plain] = strew_call(library, scatter)

    def _enter(self, library: Library, dtype: str, reduction: str, peers: Sequence[System]) -> None:
        entrant = Entrant(dtype, reduction)
        scatter = self._memory.scatter(dtype, reduction)
        self._memory.restore(dtype, reduction)
        try:
            run = strew_call(library, scatter)
            run()
        except RuntimeError as error:
            if str(error).startswith(("STREW_UNSUPPORTED", "STREW_INVALID_DTYPE")):
                return
            raise
        expected = scatter.output.copy()
        self._calls[entrant] = run
        self.shown.append(entrant)
        patience = HOPELESS * time_once(run) if peers else 0
        for peer in peers:
            with contextlib.suppress(*REFUSALS):
                for contestant in peer.prepare(scatter):
                    self._enter_peer(entrant, contestant, expected, patience)

    def _enter_peer(
        self, strew: Entrant, contestant: Contestant, expected: np.ndarray, patience: float
    ) -> None:
        self._memory.restore(strew.dtype, strew.reduction)
        with contextlib.suppress(*REFUSALS):
            contestant.call()
            if not agree(contestant.result(), expected):
                where = f"{self._memory.walk.name}, {strew.dtype} {strew.reduction}"
                self.complaints.append(f"{contestant.name} has another result: {where}")
                return
            peer = dataclasses.replace(strew, system=contestant.system, way=contestant.label)
            seconds = time_once(contestant.call)
            if seconds > patience:
                self._single[peer] = Timing((seconds,))
            else:
                self._calls[peer] = contestant.call

    def measure(self, seconds: float, turns: int) -> Iterator[Cell]:
        def restore(entrant: Entrant) -> None:
            self._memory.restore(entrant.dtype, entrant.reduction)

        timings = self._single | alternate(self._calls, seconds, turns, before_turn=restore)
        updates = math.prod(self._memory.walk.updates)
        figures = {name: timing.best * 1e9 / updates for name, timing in timings.items()}
        for entrant in self.shown:
            plain, times = plain_of(entrant)
            cell = Cell(
                self._memory.walk.name,
                entrant.dtype,
                entrant.reduction,
                figures[entrant],
                figures[plain] * times,
                bound_of(entrant),
            )
            yield with_best_peer(cell, figures)


def with_best_peer(cell: Cell, figures: dict[Entrant, float]) -> Cell:
    peers = [
        (figure, name)
        for name, figure in figures.items()
        if name.system != "strew" and (name.dtype, name.reduction) == (cell.dtype, cell.reduction)
    ]
    if not peers:
        return cell
    figure, name = min(peers, key=lambda peer: peer[0])
    return dataclasses.replace(cell, peer=f"{name.system} {name.way}", peer_nanoseconds=figure)


def markdown(cells: list[Cell], heading: str, complaints: list[str]) -> str:
    peers = any(cell.peer for cell in cells)
    legend = "Nanoseconds per update · ratio to the plain dtype of the width"
    if peers:
        legend += " · time of the best peer / that of strew"
    parts = [heading, f"{legend}. **Bold**: beyond the bound, or slower than a peer."]
    for walk in dict.fromkeys(cell.walk for cell in cells):
        table = {
            dtype: {
                cell.reduction: cell.text()
                for cell in cells
                if (cell.walk, cell.dtype) == (walk, dtype)
            }
            for dtype in dict.fromkeys(cell.dtype for cell in cells if cell.walk == walk)
        }
        rows = [[dtype, *map(row.get, REDUCTIONS)] for dtype, row in table.items()]
        parts.append(f"### {walk}")
        parts.append(
            tabulate(rows, ["dtype", *REDUCTIONS], "pipe", disable_numparse=True, missingval="–")
        )
    flags = flag_lines(cells) + complaints
    parts.append("\n".join(f"- {line}" for line in flags) or "Nothing is flagged.")
    return "\n\n".join(parts) + "\n"


def flag_lines(cells: list[Cell]) -> list[str]:
    """The flagged cells in words, the worst first."""
    beyond = sorted((cell for cell in cells if cell.beyond), key=lambda cell: -cell.ratio)
    outrun = sorted(
        (cell for cell in cells if cell.outrun),
        key=lambda cell: cell.peer_nanoseconds / cell.nanoseconds,
    )
    return [
        f"{cell.walk}, {cell.dtype} {cell.reduction}: {cell.ratio:.2f} times the plain dtype,"
        f" bound {cell.bound:g}"
        for cell in beyond
    ] + [
        f"{cell.walk}, {cell.dtype} {cell.reduction}: {cell.peer} takes"
        f" {cell.peer_nanoseconds / cell.nanoseconds:.2f} of strew's time"
        for cell in outrun
    ]


def write_csv(path: Path, cells: list[Cell]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for cell in cells:
            writer.writerow(getattr(cell, column) for column in COLUMNS)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", type=Path, help="libstrew.so, or the build directory")
    parser.add_argument("--peers", action="store_true", help="also NumPy and PyTorch")
    parser.add_argument(
        "--walks",
        nargs="+",
        choices=[walk.name for walk in WALKS],
        default=[walk.name for walk in WALKS],
        metavar="WALK",
        help="only these: %(choices)s",
    )
    parser.add_argument(
        "--turns", type=int, default=9, metavar="N", help="of each, at least (default: 9)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=1,
        metavar="S",
        help="for the dtypes of one width on one walk, at least (default: 1)",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("."), metavar="DIR", help="for dtypes.csv, dtypes.md"
    )
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    library = Library(locate(arguments.library))
    peers = load(PLAIN, 1) if arguments.peers else []
    cells: list[Cell] = []
    complaints: list[str] = []
    plan = [(walk, width) for walk in WALKS if walk.name in arguments.walks for width in WIDTHS]
    with tqdm(plan, unit="group") as progress:
        for walk, width in progress:
            progress.set_description(f"{walk.name}, {width} bytes")
            group = Group(library, walk, width, peers)
            cells += group.measure(arguments.seconds, arguments.turns)
            complaints += group.complaints
    text = markdown(cells, f"{machine.describe(library)}, one thread", complaints)
    arguments.output.mkdir(parents=True, exist_ok=True)
    write_csv(arguments.output / "dtypes.csv", cells)
    (arguments.output / "dtypes.md").write_text(text)
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
