# SPDX-License-Identifier: Apache-2.0
"""The systems that strew is compared with, one module each."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from ..contestants import Call, Contestant, Made, Way, functional, in_order, on_output
from ..gather import Gather, GatherScatter
from ..scatter import Scatter

# The modules of this package, by the name that the command line knows.
NAMES = ("onnxruntime", "openvino", "torch", "jax", "numpy", "scipy", "torch_scatter")
# Peers whose operators are plain functions, with nothing to compile for every size and dtype.
PLAIN = ("numpy", "torch")

# Who may compete.
RULE = (
    "Each system competes by its own operators for scatter, gather, sparse matrices and for "
    "assignment to slices or by index arrays, and the fastest of them counts. Arithmetic on the "
    "indices and the reversal of updates that such an operator needs is timed with it. For a new "
    "output: a copy and the operator in place, or the operator out of place. What does the row by "
    "other operations does not compete: selection under a mask, concatenation, copies of the "
    "pieces around a slice. Rows of plans do not time their creation, nor that of a sparse matrix."
)


class System:
    """A peer, set up for a number of threads. Every module has one, called Peer.

    All methods return every way worth trying, with the operators that RULE admits, and none if the
    system has no operator for the work. Each uses the arrays without copying them, and the fastest
    counts for this system. A system may refuse what it does not support by any exception, here or
    in a call.
    """

    name: str
    version: str

    def __init__(self, threads: int) -> None:
        pass

    def prepare(self, scatter: Scatter) -> list[Contestant]:
        """The scatter by the operator, without a plan."""
        return []

    def gather(self, gather: Gather) -> list[Contestant]:
        return [on_output(self.name, label, call, gather) for label, call in self.reads(gather)]

    def reads(self, gather: Gather) -> list[Way]:
        """The gathers that write to an existing output."""
        return []

    def product(self, updates: np.ndarray, weights: np.ndarray) -> Call:
        """Multiplies updates by weights, which are broadcast."""
        raise NotImplementedError

    def gather_scatter(self, work: GatherScatter) -> list[Contestant]:
        """A gather, the product and a scatter, one after the other. Peers that multiply sparse
        matrices do that as well."""
        reads, scatter = self.reads(work.gather), work.scatter
        weigh = []
        if reads and work.weights is not None:
            weigh = [self.product(scatter.updates, work.weights)]
        return [
            replace(
                contestant,
                label=f"{label}, {contestant.label}",
                call=in_order(read, *weigh, contestant.call),
            )
            for label, read in reads
            for contestant in self.prepare(scatter)
        ]

    def order(self, scatter: Scatter) -> list[Contestant]:
        """Other systems' substitute for a plan: entries in the order of their rows or elements."""
        return []

    def ordering(
        self,
        label: str,
        sort: Callable[[], Made],
        order_of: Callable[[Made], np.ndarray],
        scatter: Scatter,
    ) -> Contestant:
        """`sort` is timed, and its order is then checked by a scatter with `none`."""

        def result(made: Made) -> np.ndarray:
            order = order_of(made)
            np.copyto(scatter.output, scatter.data)
            scatter.output[scatter.row_indices[order]] = scatter.updates[order]
            return scatter.output

        return functional(self.name, label, sort, result)


def load(names: Iterable[str], threads: int) -> list[System]:
    """The installed peers; reports which are missing."""
    found = []
    for name in names:
        try:
            found.append(importlib.import_module(f".{name}", __name__).Peer(threads))
        except ImportError as error:
            print(f"without {name}: {error}", file=sys.stderr)
    return found
