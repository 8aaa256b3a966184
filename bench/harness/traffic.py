# SPDX-License-Identifier: Apache-2.0
"""The least number of bytes that a scatter must move between memory and the caches."""

from __future__ import annotations

import math

import numpy as np

from .scatter import Scatter

LINE = 64  # bytes of a cache line


def compulsory_bytes(scatter: Scatter) -> int:
    """Assumes caches that are empty before a call and lose nothing during it:

    indices + updates
      + the lines of data of which some bytes are kept or reduced (in place: of the touched lines)
      + the lines of output (in place: the touched lines)

    Indices and updates count once, as they are stored: an axis of stride 0 is stored once. A line
    that is replaced as a whole is written and need not be read; every other written line is read.
    """
    touched, replaced, lines = _line_counts(scatter)
    written = touched if scatter.in_place else lines
    read = written - (replaced if scatter.reduction == "none" else 0)
    return _stored_bytes(scatter.indices) + _stored_bytes(scatter.updates) + (read + written) * LINE


def _stored_bytes(array: np.ndarray | None) -> int:
    if array is None:
        return 0
    stored = (size for size, stride in zip(array.shape, array.strides) if stride != 0)
    return math.prod(stored) * array.itemsize


def _line_counts(scatter: Scatter) -> tuple[int, int, int]:
    """The number of lines of data: touched by some update, covered completely, and in total."""
    data = scatter.data
    width = LINE // data.itemsize
    lines = -(-data.size // width)
    named = np.zeros(lines * width, bool)
    named[scatter.places().ravel()] = True
    by_line = named.reshape(lines, width)
    return int(by_line.any(1).sum()), int(by_line.all(1).sum()), lines
