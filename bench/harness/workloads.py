# SPDX-License-Identifier: Apache-2.0
"""The workloads of the benchmarks, read from workloads.json."""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

LIST = Path(__file__).resolve().parents[1] / "workloads.json"

Shape = tuple[int, ...]


class Operator(enum.Enum):
    SCATTER_ELEMENTS = "scatter_elements"
    SCATTER_ND = "scatter_nd"
    SLICE_SCATTER = "slice_scatter"
    SCATTER_UPDATE = "scatter_update"


class Use(enum.Enum):
    """How strew does a workload."""

    CALL = "call"  # the operator
    SCATTER = "scatter"  # the same by a plan
    GATHER = "gather"  # by a plan; no reduction, and no data other than the source
    GATHER_SCATTER = "gather_scatter"  # updates are rows of a source of data's shape
    CREATE = "create"  # only makes the plan


class IndexPattern(enum.Enum):
    UNIFORM = "uniform"  # independent, uniform over the axis
    UNIQUE_TUPLES = "unique tuples"  # uniform, but no tuple twice
    CONSTANT_ROWS = "constant rows"  # one uniform index per row, stored for every column
    STRIDE_0_ROWS = "stride 0 rows"  # the same as a view: stride 0 over the columns
    HUB = "hub"  # one row has 1 in 20 entries, the degrees of the others follow a power law


class Output(enum.Enum):
    NEW = "new"  # another buffer, into which data is copied
    IN_PLACE = "in place"

    @property
    def suffix(self) -> str:
        return ".inp" if self is Output.IN_PLACE else ".new"


@dataclass(frozen=True)
class Slice:
    """Entry j slices axis axes[j]. start and stop are absolute: none counts from the end."""

    axes: Shape
    start: Shape
    stop: Shape
    step: Shape


@dataclass(frozen=True)
class Limit:
    """A call of a hand-written loop that does the same work as the workload.

    Arguments are sizes or words: `add` is 1 if the loop adds, and `new` is 1 if it must copy data
    first. Other words are arrays of the operands in scatter.py, indexed.py and gather.py: `output`,
    `flat indices` (tuples as numbers of rows), `row starts`. If there is no loop for the workload's
    reduction, `reduction` names another one that costs as much.
    """

    function: str
    arguments: tuple[str | int, ...]
    reduction: str


@dataclass(frozen=True)
class Workload:
    """One row of the tables; its name ends in .new or .inp."""

    name: str
    operator: Operator
    dtype: str
    data: Shape
    indices: Shape  # () for a slice
    updates: Shape
    axis: int
    pattern: IndexPattern
    slice: Slice | None
    reduction: str
    output: Output
    limit: Limit | None
    use: Use = Use.CALL
    weighted: bool = False  # each row that a gather_scatter takes is multiplied by a number

    @property
    def in_place(self) -> bool:
        return self.output is Output.IN_PLACE

    @property
    def tiny(self) -> bool:
        """True if it is so small that its time is the overhead of a call."""
        return math.prod(self.updates) < 100

    @property
    def entries(self) -> int:
        """Index values, or tuples of scatter_nd."""
        tuples = self.operator is Operator.SCATTER_ND
        return math.prod(self.indices[:-1] if tuples else self.indices)

    def operands(self) -> Workload:
        """The same for all workloads that can share their buffers."""
        return replace(self, name="", reduction="", output=Output.NEW, limit=None)


def load(path: Path = LIST) -> list[Workload]:
    """All of them, in the order in which they run."""
    return [workload for entry in json.loads(path.read_text()) for workload in _expand(entry)]


def load_calls(path: Path = LIST) -> list[Workload]:
    """The workloads that call the operators, without plans."""
    return [workload for workload in load(path) if workload.use is Use.CALL]


def _expand(entry: dict[str, Any]) -> Iterator[Workload]:
    reduction = entry.get("reduction", "none")
    limit = entry.get("limit")
    for output in map(Output, entry["outputs"]):
        has_limit = limit is not None and output.value in limit.get("outputs", entry["outputs"])
        yield Workload(
            name=entry["name"] + output.suffix,
            operator=Operator(entry["operator"]),
            dtype=entry.get("dtype", "float32"),
            data=tuple(entry["data"]),
            indices=tuple(entry.get("indices", ())),
            updates=tuple(entry["updates"]),
            axis=entry.get("axis", 0),
            pattern=IndexPattern(entry.get("pattern", "uniform")),
            slice=_slice(entry.get("slice")),
            reduction=reduction,
            output=output,
            limit=_limit(limit, reduction) if has_limit else None,
            use=Use(entry.get("use", "call")),
            weighted=entry.get("weighted", False),
        )


def _slice(entry: dict[str, list[int]] | None) -> Slice | None:
    if entry is None:
        return None
    return Slice(*(tuple(entry[name]) for name in ("axes", "start", "stop", "step")))


def _limit(entry: dict[str, Any], reduction: str) -> Limit:
    return Limit(entry["function"], tuple(entry["arguments"]), entry.get("reduction", reduction))
