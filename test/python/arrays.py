# SPDX-License-Identifier: Apache-2.0
"""Arrays for the tests: their elements, where these lie in memory, and their comparison."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

INDEX_DTYPES = [
    np.dtype(name)
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
]
MARGIN = 3

# Makes so many elements.
Fill = Callable[[int], np.ndarray]


@dataclasses.dataclass(frozen=True)
class Layout:
    """How the elements of an array lie in memory, with other elements around and between them.

    order  the axes from the outermost in memory to the innermost
    steps  per axis: 2 takes every other element, -1 runs backwards, 0 repeats one element
    """

    order: tuple[int, ...]
    steps: tuple[int, ...]

    def size(self, shape: tuple[int, ...]) -> int:
        """Elements of the memory that view() asks for."""
        return math.prod(self._stored(shape)) + 2 * MARGIN

    def view(self, memory: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        stored = self._stored(shape)
        dense = memory[MARGIN : memory.size - MARGIN].reshape([stored[axis] for axis in self.order])
        by_axis = dense.transpose(np.argsort(self.order))
        stepped = by_axis[(*[slice(None, None, step or None) for step in self.steps], ...)]
        return np.broadcast_to(stepped, shape) if 0 in self.steps else stepped

    def _stored(self, shape: tuple[int, ...]) -> list[int]:
        return [dim * abs(step) if step else 1 for dim, step in zip(shape, self.steps)]


class Placed:
    """An array as `view` of a `memory` that has other elements too; fill(size) gives them all."""

    def __init__(self, fill: Fill, shape: tuple[int, ...], layout: Layout) -> None:
        self.memory = fill(layout.size(shape))
        self.view = layout.view(self.memory, shape)
        self._place = (shape, layout)

    def __repr__(self) -> str:
        return f"Placed({self.view!r}, {self.view.dtype}, {self._place[1]})"

    def copy(self) -> Placed:
        return Placed(lambda size: self.memory.copy(), *self._place)


def copied(source: Placed, target: Placed) -> Placed:
    """The target after a call without updates."""
    result = target.copy()
    result.view[...] = source.view
    return result


def check_call(
    function: Callable,
    inputs: list[Placed],
    attributes: list[Any],
    target: Placed,
    expected: Placed,
) -> None:
    """Calls on copies; target may be inputs[0]. Only the elements of the output may change."""
    copies = [placed.copy() for placed in inputs]
    output = copies[0] if target is inputs[0] else target.copy()
    function(*[placed.view for placed in copies], *attributes, out=output.view)
    assert_same_bytes(output.memory, expected.memory)
    for after, before in zip(copies, inputs):
        if after is not output:
            assert_same_bytes(after.memory, before.memory)


def fill_of(rng: np.random.Generator, dtype: np.dtype, moved_only: bool) -> Fill:
    """Elements; any bits, and so NaNs, where they are only moved."""
    # NumPy does not promise to keep the bits of a bool other than 0 and 1.
    random = random_bits if moved_only and dtype.kind != "b" else random_elements
    return lambda size: random(rng, dtype, size)


def random_elements(rng: np.random.Generator, dtype: np.dtype, size: int) -> np.ndarray:
    """Elements whose sums and products are never NaN."""
    if dtype.kind == "b":
        return rng.integers(0, 2, size).astype(bool)
    if dtype.kind in "iu":
        return random_bits(rng, dtype, size)
    if dtype.kind == "c":
        return (random_reals(rng, size) + 1j * random_reals(rng, size)).astype(dtype)
    return random_reals(rng, size).astype(dtype)


def random_reals(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.uniform(0.5, 2, size) * rng.choice([-1, 1], size)


def random_bits(rng: np.random.Generator, dtype: np.dtype, size: int) -> np.ndarray:
    return rng.integers(0, 256, size * dtype.itemsize, np.uint8).view(dtype)


def assert_same_bytes(actual: np.ndarray, expected: np.ndarray) -> None:
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if actual.tobytes() != expected.tobytes():
        raise AssertionError(f"got\n{actual!r}\nexpected\n{expected!r}")
