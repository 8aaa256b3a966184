# SPDX-License-Identifier: Apache-2.0
"""One call of the survey, described by shapes and words; operands.py makes its arrays."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from ..workloads import Operator, Shape, Slice, Use

SYMBOLS = {"add": "+=", "mul": "*="}
PLANS = {
    Use.CALL: "{}",
    Use.SCATTER: "plan {}",
    Use.GATHER: "plan gather, {}",
    Use.GATHER_SCATTER: "plan gather_scatter, {}",
}


class Pattern(enum.Enum):
    """How the indices are distributed along the axis, or over the places that tuples name."""

    UNIFORM = "uniform"
    SORTED = "sorted"
    PERMUTED = "permuted"  # no place is named twice before every place is named once
    ZIPF = "Zipf"  # exponent 1, the places in random order
    EQUAL = "equal"
    SIGNED = "of either sign"  # uniform; half of them count from the end, which few peers allow
    SLICE = "slice"  # no indices


class Layout(enum.Enum):
    """How an operand lies in memory."""

    PLAIN = "contiguous"
    EVERY_SECOND = "every second"  # of the last axis
    PITCHED = "pitched"  # rows with gaps between
    TRANSPOSED = "transposed"  # first and last axis swapped
    BROADCAST = "broadcast"  # stride 0 on one axis


@dataclass(frozen=True)
class Layouts:
    data: Layout = Layout.PLAIN
    indices: Layout = Layout.PLAIN
    updates: Layout = Layout.PLAIN

    def __str__(self) -> str:
        named = (("data", self.data), ("indices", self.indices), ("updates", self.updates))
        return ", ".join(f"{name} {kind.value}" for name, kind in named if kind != Layout.PLAIN)


@dataclass(frozen=True)
class Case:
    """`seed` determines the operands; a slice has no indices. `still` is the axis along which
    broadcast operands repeat, None if none are broadcast. A gather reads from `data` and writes
    updates; a gather_scatter takes its updates from `source` and may have weights."""

    name: str
    seed: tuple[int, ...]
    operator: Operator
    dtype: str
    reduction: str
    data: Shape
    indices: Shape
    updates: Shape
    axis: int = 0
    slice: Slice | None = None
    index_dtype: str = "int64"
    pattern: Pattern = Pattern.UNIFORM
    layouts: Layouts = Layouts()
    still: int | None = None
    in_place: bool = False
    threads: int = 1
    use: Use = Use.CALL
    source: Shape = ()
    source_pattern: Pattern = Pattern.UNIFORM
    weights: Shape | None = None

    @property
    def places(self) -> Shape:
        """The axes of data that are indexed."""
        return self.places_in(self.data)

    def places_in(self, shape: Shape) -> Shape:
        """The same of any tensor."""
        if self.operator is Operator.SCATTER_ND:
            return shape[: self.indices[-1]]
        return () if self.operator is Operator.SLICE_SCATTER else (shape[self.axis],)

    def __str__(self) -> str:
        parts = [f"{self._work()} {self._where()}", self.output, str(self.layouts)]
        threads = f"{self.threads} threads" if self.threads > 1 else ""
        return ", ".join(part for part in (*parts, threads) if part)

    @property
    def operation(self) -> str:
        """The operator, and what a plan for it does."""
        return PLANS[self.use].format(self.operator.value)

    def _work(self) -> str:
        data, updates = shown(self.data), shown(self.updates)
        if self.use is Use.GATHER:
            return f"{self.operation} {self.dtype} {updates} <- {data}"
        symbol = SYMBOLS.get(self.reduction.partition("|")[0], "<-")
        if self.use is Use.GATHER_SCATTER:
            updates += f" from {shown(self.source)}, {self.source_pattern.value}"
            updates += f", times {shown(self.weights)}" if self.weights else ""
            updates += ","
        return f"{self.operation} {self.reduction} {self.dtype} {data} {symbol} {updates}"

    @property
    def output(self) -> str:
        return "in place" if self.in_place else "new output"

    def _where(self) -> str:
        if self.slice is not None:
            cut = self.slice
            entries = zip(cut.axes, cut.start, cut.stop, cut.step)
            return ", ".join(f"axis {a} {start}:{stop}:{step}" for a, start, stop, step in entries)
        indices = f"{self.pattern.value} {self.index_dtype}"
        if self.operator is Operator.SCATTER_ND:
            return f"at {indices} {shown(self.indices)}"
        return f"axis {self.axis}, {indices}"


def shown(shape: Shape) -> str:
    return f"[{','.join(map(str, shape))}]"
