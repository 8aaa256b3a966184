# SPDX-License-Identifier: Apache-2.0
"""A contestant of the comparison: a call, and how to see what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from .scatter import Scatter

Call = Callable[[], object]


@dataclass(frozen=True)
class Contestant:
    """One way in which a system does a scatter.

    `call` does it once. `result` is what it left. One that keeps memory of its own between calls
    starts anew with `reset`, from the data as it lies; what all share is not its business.
    """

    system: str
    label: str
    call: Call
    result: Callable[[], np.ndarray]
    reset: Callable[[], None] = lambda: None

    @property
    def name(self) -> str:
        return f"{self.system}: {self.label}"


def on_output(system: str, label: str, call: Call, scatter: Scatter) -> Contestant:
    """One that writes the output of the scatter."""
    return Contestant(system, label, call, result=lambda: scatter.output)


def on_copy(
    system: str, updates: Iterable[tuple[str, Call]], copy: tuple[str, Call], scatter: Scatter
) -> list[Contestant]:
    """The contestants that update in place, each after a copy of data where the output is new."""
    if scatter.in_place:
        return [on_output(system, label, update, scatter) for label, update in updates]
    return [
        on_output(system, f"{copy[0]}, {label}", _in_order(copy[1], update), scatter)
        for label, update in updates
    ]


def _in_order(first: Call, second: Call) -> Call:
    def call() -> None:
        first()
        second()

    return call
