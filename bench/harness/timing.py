# SPDX-License-Identifier: Apache-2.0
"""Times functions that take turns, so that disturbances of the machine affect all of them."""

from __future__ import annotations

import gc
import itertools
import math
import random
import statistics
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)
Clock = Callable[[], int]  # nanoseconds

LEAST_TURN_NS = 2_000_000
IDLE_NAP = 0.001
IDLE_CPU_TIME = 0.0003
MOST_PATIENCE = 0.05


@dataclass(frozen=True)
class Timing:
    """Seconds that a call took, one sample for each turn."""

    samples: tuple[float, ...]

    @property
    def best(self) -> float:
        return min(self.samples)

    @property
    def median(self) -> float:
        return statistics.median(self.samples)


def alternate(
    contestants: Mapping[Name, Callable[[], None]],
    seconds: float,
    least_turns: int,
    on_turn: Callable[[], None] | None = None,
    before_turn: Callable[[Name], None] | None = None,
    clock: Clock = time.perf_counter_ns,
) -> dict[Name, Timing]:
    """Times the contestants in turns, until the group has taken `seconds` in total and each
    contestant had `least_turns`.

    Every contestant is first called untimed. A turn has enough calls to take 2 ms or more; the
    order of turns is random in each round. `on_turn` is called after every turn, and `before_turn`,
    with the name of the contestant, before it; neither is timed. For calls on one thread, the
    thread's clock, `time.thread_time_ns`, leaves out the time of other processes.
    """
    prepare = before_turn or (lambda name: None)
    calls = {}
    for name, run in contestants.items():
        prepare(name)
        calls[name] = _calibrate(run)
    samples: dict[Name, list[float]] = {name: [] for name in contestants}
    order = list(contestants)
    shuffle = random.Random(0).shuffle
    collecting = gc.isenabled()
    gc.disable()
    try:
        deadline = time.perf_counter() + seconds
        for turn in itertools.count():
            if not order or (turn >= least_turns and time.perf_counter() >= deadline):
                break
            shuffle(order)
            for name in order:
                prepare(name)
                elapsed = _elapsed_ns(contestants[name], calls[name], clock)
                samples[name].append(elapsed * 1e-9 / calls[name])
                if on_turn:
                    on_turn()
    finally:
        if collecting:
            gc.enable()
    return {name: Timing(tuple(taken)) for name, taken in samples.items()}


def wait_until_idle() -> None:
    """Waits until the other threads of this process sleep, so that none disturbs what follows.

    OpenMP's threads wait for more work by spinning for some 10 ms.
    """
    deadline = time.perf_counter() + MOST_PATIENCE
    while time.perf_counter() < deadline:
        before = time.process_time()
        time.sleep(IDLE_NAP)
        if time.process_time() - before < IDLE_CPU_TIME:
            return


def time_once(run: Callable[[], None]) -> float:
    """Seconds of one call, after an untimed one."""
    run()
    return _elapsed_ns(run, 1) * 1e-9


def _calibrate(run: Callable[[], None]) -> int:
    """Warms up, and returns the number of calls of a turn."""
    run()
    calls = 1
    while (elapsed := _elapsed_ns(run, calls)) < LEAST_TURN_NS:
        wanted = math.ceil(calls * 1.2 * LEAST_TURN_NS / max(elapsed, 1))
        calls = min(max(wanted, calls + 1), calls * 10)
    return calls


def _elapsed_ns(
    run: Callable[[], None], calls: int, clock: Clock = time.perf_counter_ns
) -> int:
    turns = itertools.repeat(None, calls)
    start = clock()
    for _ in turns:
        run()
    return clock() - start
