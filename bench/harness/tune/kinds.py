# SPDX-License-Identifier: Apache-2.0
"""Ways to measure a constant: as a crossing of alternatives, the best of values, or a cost."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from ..timing import alternate, time_once
from .library import Settings, Tunable
from .operands import Timed, bound

Name = TypeVar("Name", bound=Hashable)
Times = Mapping[int, tuple[float, float]]  # by size, in order: of the way below and of that above

HUGE = 2.0**60  # more than any size, and exact as a number of either kind
RUN = 100e-6  # seconds of calls in C between looks at the clock
TURN = 2e-3
LEAST_TURNS = 3
MORE_STEPS = 2
# A gain that is less than this is noise.
GAIN = 1.03


@dataclass(frozen=True)
class Finding:
    """The value that a constant should have here. `gain` is the speed-up of the call in which the
    two values differ most; None if no call measures it."""

    in_use: float
    here: float
    gain: float | None = None
    bound: str = ""  # "<=" or ">=" where the measurement ends before the alternatives cross
    figures: Sequence[str] = ()

    @property
    def would_change(self) -> bool:
        return self.gain is not None and self.gain > GAIN


@dataclass(frozen=True)
class Bench:
    """A library, and how long to measure the alternatives of one call."""

    library: Tunable
    seconds: float
    on_turn: Callable[[], None]

    def race(
        self, scatter: Timed, threads: int, contestants: Mapping[Name, Settings]
    ) -> dict[Name, float]:
        """The best time of a call with each of these settings, which take turns.

        On several threads, the best time of single runs: even if all CPUs are busy, some of many
        runs are not disturbed.
        """
        library = self.library
        library.set_num_threads(threads)
        call = bound(library, scatter)
        library.tune(next(iter(contestants.values())))
        turns = max(1, math.ceil(RUN / time_once(call)))
        run = partial(call.times, turns)

        def settle(name: Name) -> None:
            library.tune(contestants[name])

        if threads > 1:
            best = shortest(run, contestants, self.seconds, settle)
        else:
            runs = dict.fromkeys(contestants, run)
            clock = time.thread_time_ns
            timings = alternate(runs, self.seconds, LEAST_TURNS, self.on_turn, settle, clock)
            best = {name: timing.best for name, timing in timings.items()}
        self.on_turn()
        library.tune({})
        return {name: seconds / turns for name, seconds in best.items()}

    def time(self, scatter: Timed, threads: int = 1, settings: Settings | None = None) -> float:
        return self.race(scatter, threads, {"": settings or {}})[""]


def shortest(
    run: Callable[[], None],
    names: Iterable[Name],
    seconds: float,
    settle: Callable[[Name], None],
) -> dict[Name, float]:
    """The seconds of the shortest run of each. They take turns of a few ms."""
    best = dict.fromkeys(names, math.inf)
    deadline, turns = time.perf_counter() + seconds, 0
    while turns < LEAST_TURNS or time.perf_counter() < deadline:
        turns += 1
        for name in best:
            settle(name)
            run()
            end = time.perf_counter() + TURN
            while (start := time.perf_counter()) < end:
                run()
                best[name] = min(best[name], time.perf_counter() - start)
    return best


@dataclass(frozen=True)
class Threshold:
    """A size at which calls switch to another algorithm. Sizes up to `least` and from `most` on are
    not tried. `size_of` and `value_of` convert between sizes and the constant."""

    name: str
    call: Callable[[int], Timed]
    below: Settings
    above: Settings
    least: float = 1
    most: float = HUGE
    size_of: Callable[[float], float] = float
    value_of: Callable[[float], float] = float
    threads: int = 1
    steps: int = 3  # doublings to either side; MORE_STEPS where the alternatives do not cross

    def sizes(self, in_use: float) -> list[int]:
        """A geometric series that avoids the size in use."""
        middle = self.size_of(in_use)
        powers = (step + 0.5 for step in range(-self.steps, self.steps))
        return self._allowed(middle * 2**power for power in powers)

    def _allowed(self, sizes: Iterable[float]) -> list[int]:
        return sorted({round(size) for size in sizes if self.least < round(size) < self.most})

    def measure(self, bench: Bench) -> Finding:
        in_use = bench.library.in_use[self.name]
        sizes = self.sizes(in_use)
        times = {size: self._race(bench, size) for size in sizes}
        split, used = self._splits(in_use, times)
        if split != used and split in (0, len(times)):
            end, factor = (sizes[0], 0.5) if split == 0 else (sizes[-1], 2)
            more = self._allowed(end * factor**step for step in range(1, MORE_STEPS + 1))
            times |= {size: self._race(bench, size) for size in more}
            times = dict(sorted(times.items()))
        if worst(list(times.values()), *self._splits(in_use, times)) > GAIN:
            for size, (below, above) in times.items():
                again = self._race(bench, size)
                times[size] = min(below, again[0]), min(above, again[1])
        return self._finding(in_use, times)

    def _splits(self, in_use: float, times: Times) -> tuple[int, int]:
        """The number of sizes below the threshold: as measured, and with the value in use."""
        used = sum(size < self.size_of(in_use) for size in times)
        return crossing(list(times.values()), used), used

    def _race(self, bench: Bench, size: int) -> tuple[float, float]:
        found = bench.race(self.call(size), self.threads, {0: self.below, 1: self.above})
        gc.collect()
        return found[0], found[1]

    def _finding(self, in_use: float, times: Times) -> Finding:
        split, used = self._splits(in_use, times)
        gain = worst(list(times.values()), split, used)
        sizes = list(times)
        ratios = [above / below for below, above in times.values()]
        figures = [f"{size}: {ratio:.2f}" for size, ratio in zip(sizes, ratios)]
        ends = {0: ("≤", sizes[0]), len(sizes): ("≥", sizes[-1])}
        bound, size = ends.get(split) or ("", between(sizes, ratios, split))
        if self.value_of(2.0) < self.value_of(1.0):
            bound = {"≤": "≥", "≥": "≤"}.get(bound, "")
        return Finding(in_use, self.value_of(size), gain, bound, figures)


def crossing(times: Sequence[tuple[float, float]], used: int) -> int:
    """The number of first sizes that should count as below, so that all sizes together cost least.
    The split in use is kept unless another is faster."""

    def cost(split: int) -> float:
        chosen = (pair[0 if i < split else 1] / min(pair) for i, pair in enumerate(times))
        return sum(map(math.log, chosen))

    best = min(range(len(times) + 1), key=lambda split: (cost(split), abs(split - used)))
    return used if cost(used) - cost(best) < math.log(GAIN) else best


def between(sizes: Sequence[int], ratios: Sequence[float], split: int) -> float:
    """The size at which the ratio reaches 1 between the two sizes around the split, by linear
    interpolation of logarithms; their middle if it does not reach 1."""
    (low, high), (before, behind) = sizes[split - 1 : split + 1], ratios[split - 1 : split + 1]
    share = math.log(before) / math.log(before / behind) if before > 1 > behind else 0.5
    return low * (high / low) ** share


def worst(times: Sequence[tuple[float, float]], split: int, used: int) -> float:
    """The largest gain of a call between two splits."""
    gains = [1.0]
    for below, above in times[min(split, used) : max(split, used)]:
        gains.append(below / above if split < used else above / below)
    return max(gains)


@dataclass(frozen=True)
class Sweep:
    """A constant that is an amount: the best of some values in calls that depend on it."""

    name: str
    calls: Sequence[Callable[[], Timed]]
    values: Sequence[float]
    settings: Settings = field(default_factory=dict)
    threads: int = 1

    def measure(self, bench: Bench) -> Finding:
        in_use = bench.library.in_use[self.name]
        times = self._times(bench, in_use)
        if self._gain(times, in_use) > GAIN:
            more = self._times(bench, in_use)
            times = [{value: min(a[value], b[value]) for value in a} for a, b in zip(times, more)]
        here = self._best(times)
        gain = self._gain(times, in_use)
        figures = [
            f"{value:g}: {math.prod(t[value] / t[in_use] for t in times) ** (1 / len(times)):.2f}"
            for value in times[0]
        ]
        return Finding(in_use, here if gain > GAIN else in_use, gain, figures=figures)

    def _times(self, bench: Bench, in_use: float) -> list[dict[float, float]]:
        tried = sorted({*self.values, in_use})
        alternatives = {value: {**self.settings, self.name: value} for value in tried}
        return [bench.race(call(), self.threads, alternatives) for call in self.calls]

    def _best(self, times: Sequence[Mapping[float, float]]) -> float:
        return min(times[0], key=lambda value: math.prod(t[value] for t in times))

    def _gain(self, times: Sequence[Mapping[float, float]], in_use: float) -> float:
        best = self._best(times)
        return max(t[in_use] / t[best] for t in times)


@dataclass(frozen=True)
class Cost:
    """A time in ns on which estimates of work are based; its formula measures it."""

    name: str
    formula: Callable[[Bench], float]
    threads: int = 1

    def measure(self, bench: Bench) -> Finding:
        return Finding(bench.library.in_use[self.name], self.formula(bench))


@dataclass(frozen=True)
class Told:
    """The value that the system reports."""

    name: str
    ask: Callable[[], float | None]
    threads: int = 1

    def measure(self, bench: Bench) -> Finding:
        in_use = bench.library.in_use[self.name]
        told = self.ask()
        return Finding(in_use, in_use if told is None else told)


Family = Threshold | Sweep | Cost | Told
