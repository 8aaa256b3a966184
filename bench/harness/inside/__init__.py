# SPDX-License-Identifier: Apache-2.0
"""Programs of other systems, with the system's own kernels and with strew's."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..timing import Timing

Call = Callable[[], None]

# Each module here has VERSION, a string, and cases(threads), an iterator over Case. A process
# measures one system with one number of threads, and may run only on as many CPUs.
SYSTEMS = {
    "jax": "JAX",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "torch": "PyTorch",
}


@dataclass(frozen=True)
class Case:
    """One program with and without strew."""

    name: str
    before: Call
    after: Call
    same: Callable[[], bool]  # runs both: the results are the same bytes


@dataclass(frozen=True)
class Row:
    """The times of a case."""

    system: str
    version: str
    threads: int
    name: str
    before: float  # seconds, the best
    after: float

    @classmethod
    def of(cls, system: str, version: str, threads: int, case: Case, timings: dict[str, Timing]):
        best = (timings[way].best for way in ("before", "after"))
        return cls(system, version, threads, case.name, *best)

    @property
    def ratio(self) -> float:
        return self.before / self.after


def load(system: str, threads: int) -> tuple[str, Iterator[Case]]:
    """The version of a system, and its cases. Imports it."""
    module = importlib.import_module(f".{system}", __name__)
    return module.VERSION, module.cases(threads)
