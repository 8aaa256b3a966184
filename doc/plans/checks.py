# SPDX-License-Identifier: Apache-2.0
"""Checks of the examples: gradients beside differences of the loss, and calls beside others."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Calls = dict[str, Callable[[], Sequence[Any]]]  # by name, each with the arrays that it computes


def error_of(loss: Callable[[], float], parameter: Array, gradient: Array, count: int = 6) -> float:
    """The relative error of a gradient beside differences of the loss, at a few random places."""
    random = np.random.default_rng(1)
    places = [tuple(random.integers(parameter.shape)) for _ in range(count)]
    slopes = np.array([slope_at(loss, parameter, place) for place in places])
    errors = slopes - [gradient[place] for place in places]
    return float(np.linalg.norm(errors) / np.linalg.norm(slopes))


def slope_at(loss: Callable[[], float], parameter: Array, place: tuple[int, ...]) -> float:
    step, value = 1e-5, parameter[place]
    parameter[place] = value + step
    above = loss()
    parameter[place] = value - step
    below = loss()
    parameter[place] = value
    return (above - below) / (2 * step)


def compare(title: str, calls: Calls, turns: int) -> None:
    """Asserts that all calls have the result of the first, and prints the shortest time of each.

    They take turns, so that other work on the machine slows all of them down.
    """
    print(f"{title}:")
    first, *others = (call() for call in calls.values())
    for other in others:
        for expected, found in zip(first, other, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(turns):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    for name, seconds in best.items():
        print(f"  {1e3 * seconds:8.2f} ms  {name}")
