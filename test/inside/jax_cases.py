# SPDX-License-Identifier: Apache-2.0
"""Calls of strew.jax that the tests share, and how results are compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

import strew
import strew.jax as sj

jax.config.update("jax_enable_x64", True)

REDUCTIONS = ["none", "add", "mul", "min", "max", "sub", "mean"]
RANDOM = np.random.default_rng(20)

# Operator, shape of data, places, shape of updates and what stays when it is traced.
CASES = {
    "elements": ("scatter_elements", (4, 6), [[0, -1, 5], [2, 2, 2], [1, 0, 1], [-6, 3, 4]], (4, 3),
                 {"axis": 1}),
    "nd": ("scatter_nd", (4, 3, 5), [[0, 1], [3, -1], [0, 1], [2, 0], [1, 1]], (5, 5), {}),
    "nd elements": ("scatter_nd", (4, 3), [[0, 1], [3, -1], [0, 1]], (3,), {}),
    "nd whole": ("scatter_nd", (3, 2), [[], [], []], (3, 3, 2), {}),
    "update": ("scatter_update", (2, 5, 3), [[4, 0], [-5, 2]], (2, 2, 2, 3), {"axis": 1}),
    "update rows": ("scatter_update", (5, 3), [4, 0, 4], (3, 3), {}),
    "update scalar": ("scatter_update", (5, 3), 2, (3,), {}),
}


def random(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    return RANDOM.integers(1, 5, shape).astype(jnp.dtype(dtype))


def same(found: jax.Array, expected: np.ndarray) -> None:
    found = np.asarray(found)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


def bind(name: str, **more) -> tuple[Callable, Callable, tuple, np.ndarray, tuple]:
    """The operator of JAX and that of NumPy on data, indices and updates, and their shapes."""
    operator, shape, places, updates, how = CASES[name]
    how = how | more
    policies = {key: how.pop(key) for key in ("index_policy", "negative_indices") if key in how}
    indices = np.array(places, np.int32)
    ours = partial(getattr(sj, operator), **how, **policies)
    package = partial(getattr(strew, operator), **how, context=strew.Context(**policies))
    return ours, package, shape, indices, updates


SLICES = [
    ((7, 6), (3, 2), [1, -1], [5, 0], [2, -2], [1, 0]),
    ((7, 6), (7, 6), [-100], [2**40], None, None),
    ((7,), (3,), 2, 5, None, None),
]
