# SPDX-License-Identifier: Apache-2.0
"""The systems that strew is compared with, one module each."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from typing import Protocol

from ..contestants import Contestant
from ..scatter import Scatter

# The modules of this package, by the name that the command line knows.
NAMES = ("onnxruntime", "openvino", "torch", "jax", "numpy")
# Peers whose operators are plain functions, with nothing to compile for every size and dtype.
PLAIN = ("numpy", "torch")

# Who may compete.
RULE = (
    "Each system competes by its own operators for scatter and for assignment to slices or by "
    "index arrays, and the fastest of them counts. Arithmetic on the indices and the reversal of "
    "updates that such an operator needs is timed with it. For a new output: a copy and the "
    "operator in place, or the operator out of place. What does the row by other operations does "
    "not compete: selection under a mask, concatenation, copies of the pieces around a slice."
)


class Peer(Protocol):
    """A system, set up for a number of threads."""

    name: str
    version: str

    def __init__(self, threads: int) -> None: ...

    def prepare(self, scatter: Scatter) -> list[Contestant]:
        """Every way worth trying to do it, by the operators that RULE admits; none where the system
        has no operator for it.

        Each takes the arrays as they are, without copies, and the fastest counts as this system.
        What the system does not know may be refused by any exception, here or by a call.
        """


def load(names: Iterable[str], threads: int) -> list[Peer]:
    """The peers that are installed; says which are not."""
    found = []
    for name in names:
        try:
            found.append(importlib.import_module(f".{name}", __name__).Peer(threads))
        except ImportError as error:
            print(f"without {name}: {error}", file=sys.stderr)
    return found
