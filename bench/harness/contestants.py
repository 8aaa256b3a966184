# SPDX-License-Identifier: Apache-2.0
"""A contestant of the comparison: a call, and access to its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

STREW = "strew"
DIRECT = "strew's call"  # the operator's, beside a plan
LIMIT = "limit"

Call = Callable[[], object]
Way = tuple[str, Call]
Made = TypeVar("Made")


class Written(Protocol):
    """Operands whose result lies in memory that all contestants share."""

    @property
    def output(self) -> np.ndarray: ...

    @property
    def in_place(self) -> bool: ...


@dataclass(frozen=True)
class Contestant:
    """One way in which a system does the work.

    `call` does it once, and `result` returns the result. A contestant that keeps its own memory
    between calls reloads that from data in `reset`; it does not reset the shared buffers.
    """

    system: str
    label: str
    call: Call
    result: Callable[[], np.ndarray]
    reset: Callable[[], None] = lambda: None

    @property
    def name(self) -> str:
        return f"{self.system}: {self.label}"


def on_output(system: str, label: str, call: Call, work: Written) -> Contestant:
    """One that writes the output."""
    return Contestant(system, label, call, result=lambda: work.output)


def on_copy(system: str, updates: Iterable[Way], copy: Way, work: Written) -> list[Contestant]:
    """The contestants that update in place; if the output is new, each copies data first."""
    if work.in_place:
        return [on_output(system, label, update, work) for label, update in updates]
    return [
        on_output(system, f"{copy[0]}, {label}", in_order(copy[1], update), work)
        for label, update in updates
    ]


def functional(
    system: str, label: str, make: Callable[[], Made], array_of: Callable[[Made], np.ndarray]
) -> Contestant:
    """One that makes its output anew in every call."""
    made: list[Made] = []

    def call() -> None:
        made.clear()  # so that its memory can be had again
        made.append(make())

    return Contestant(system, label, call, lambda: array_of(made[0]), made.clear)


def in_order(*calls: Call) -> Call:
    def run() -> None:
        for call in calls:
            call()

    return run
