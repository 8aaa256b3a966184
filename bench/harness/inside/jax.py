# SPDX-License-Identifier: Apache-2.0
"""JAX: compiled functions with `.at[]`, and the same with strew.jax.

If data is donated, each call updates the result of the call before it in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import strew.jax

from . import Case

VERSION = jax.__version__
SEED = 1

Function = Callable[..., jax.Array]


@dataclass(frozen=True)
class Program:
    """Both functions take the arguments that make() returns. At most the first is donated."""

    before: Function
    after: Function
    make: Callable[[np.random.Generator], tuple[Any, ...]]
    donates: bool = False


def add_rows(data, indices, updates):
    return data.at[indices].add(updates)


def strew_add_rows(data, indices, updates):
    return strew.jax.scatter_update(data, indices, updates, reduction="add")


def set_rows(data, indices, updates):
    return data.at[indices].set(updates)


def strew_set_rows(data, indices, updates):
    return strew.jax.scatter_update(data, indices, updates)


def max_rows(data, indices, updates):
    return data.at[indices].max(updates)


def strew_max_rows(data, indices, updates):
    return strew.jax.scatter_update(data, indices, updates, reduction="max")


def add_along(data, indices, updates):
    return data.at[jnp.arange(data.shape[0])[:, None], indices].add(updates)


def strew_add_along(data, indices, updates):
    return strew.jax.scatter_elements(data, indices, updates, axis=1, reduction="add")


def gradient_of(embed: Function) -> Function:
    """The gradient of a table of embeddings for a loss of chosen rows: a sum by row."""

    def gradient(table, indices, weights):
        return embed(jnp.zeros_like(table), indices, 2 * table[indices] * weights)

    return gradient


def operands(size: tuple[int, ...], updates: int, dtype: str = "float32") -> Callable[..., Any]:
    """Small whole numbers, whose sums do not depend on the order."""

    def make(random: np.random.Generator) -> tuple[Any, ...]:
        data = random.integers(0, 9, size).astype(jnp.dtype(dtype))
        indices = random.integers(0, size[0], updates).astype(np.int32)
        values = random.integers(0, 9, (updates, *size[1:])).astype(jnp.dtype(dtype))
        return data, indices, values

    return make


def along(random: np.random.Generator) -> tuple[Any, ...]:
    """Every row has its own indices."""
    data = random.integers(0, 9, (512, 4096)).astype(np.float32)
    indices = random.integers(0, 4096, (512, 4096)).astype(np.int32)
    return data, indices, data.copy()


MILLIONS = operands((16_000_000,), 4_000_000)
TABLE = operands((100_000, 128), 100_000)
PROGRAMS = {
    ".at[].add, 4 M elements into 16 M": Program(add_rows, strew_add_rows, MILLIONS),
    ".at[].add, the same, donated": Program(add_rows, strew_add_rows, MILLIONS, True),
    ".at[].add, 100 k rows of 128, donated": Program(add_rows, strew_add_rows, TABLE, True),
    ".at[].max, 100 k rows of 128, donated": Program(max_rows, strew_max_rows, TABLE, True),
    ".at[].add, the same in bfloat16": Program(
        add_rows, strew_add_rows, operands((100_000, 128), 100_000, "bfloat16"), True
    ),
    ".at[row, column].add, 2 M elements, donated": Program(
        add_along, strew_add_along, along, True
    ),
    "gradient of a table of embeddings": Program(
        gradient_of(add_rows), gradient_of(strew_add_rows), TABLE
    ),
    ".at[].set, 8 rows of 16, donated": Program(
        set_rows, strew_set_rows, operands((1024, 16), 8), True
    ),
    ".at[].add, 8 rows of 16, donated": Program(
        add_rows, strew_add_rows, operands((1024, 16), 8), True
    ),
}


class Compiled:
    """A function with its own memory."""

    def __init__(self, function: Function, program: Program) -> None:
        self._donates = program.donates
        self._given = [*map(jnp.array, program.make(np.random.default_rng(SEED)))]
        donated = 0 if program.donates else ()
        self._function = jax.jit(function, donate_argnums=donated)
        self.result: jax.Array | None = None

    def run(self) -> None:
        self.result = None  # so that its memory can be taken again
        self.result = self._function(*self._given).block_until_ready()
        if self._donates:
            self._given[0] = self.result


def _same(before: Compiled, after: Compiled) -> Callable[[], bool]:
    def same() -> bool:
        before.run()
        after.run()
        return np.asarray(before.result).tobytes() == np.asarray(after.result).tobytes()

    return same


def cases(threads: int) -> Iterator[Case]:
    for name, program in PROGRAMS.items():
        before, after = (Compiled(way, program) for way in (program.before, program.after))
        yield Case(name, before.run, after.run, _same(before, after))
