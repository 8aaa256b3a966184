# SPDX-License-Identifier: Apache-2.0
"""One case: strew and its peers checked, then timed in turns on the same operands."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..agreement import ExactReferee, Referee
from ..contestants import DIRECT, STREW, Call, Contestant
from ..jobs import first_line
from ..library import Library
from ..peers import System
from ..timing import Timing, alternate, wait_until_idle
from .case import Case
from .operands import Operands

BASE = "base"  # another build of strew
OURS = (STREW, BASE, DIRECT)

# Contestants this many times as slow as the fastest in single calls are not timed further.
BEHIND = 3.0
SECONDS, LEAST_TURNS = 0.15, 3  # a contestant
# The number of further rounds for a case in which strew is slower or other processes were busy.
MORE_ROUNDS = 2

Way = tuple[str, str]  # system and label


@dataclass
class Outcome:
    """The figures of one case. A system may have several ways; the best counts."""

    case: Case
    timings: dict[Way, Timing] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    wrong: bool = False  # strew's result
    explained: list[str] = field(default_factory=list)  # how strew ran it, in its own words

    def seconds(self, system: str) -> float | None:
        times = [timing.best for (name, _), timing in self.timings.items() if name == system]
        return min(times, default=None)

    @property
    def strew(self) -> float | None:
        return self.seconds(STREW)

    @property
    def best_peer(self) -> tuple[Way, float] | None:
        timings = self.timings.items()
        peers = [(timing.best, way) for way, timing in timings if way[0] not in OURS]
        best = min(peers, default=None)
        return None if best is None else (best[1], best[0])

    def gain(self, over: str) -> float | None:
        """The time over strew's of the base, or of the call without a plan."""
        other = self.seconds(over)
        return None if self.strew is None or other is None else other / self.strew

    @property
    def ratio(self) -> float | None:
        """How many times as long as strew the best peer takes."""
        if self.strew is None or self.best_peer is None:
            return None
        return self.best_peer[1] / self.strew

    def shorter_than(self, seconds: float) -> bool:
        """True if strew and the best peer both take less time."""
        peer = self.best_peer
        return max(self.strew or 0, peer[1] if peer else 0) < seconds


def hold(
    case: Case,
    libraries: Mapping[str, Library],
    peers: Sequence[System],
    on_turn: Callable[[], None] | None = None,
) -> Outcome:
    """The libraries are strew and, if it is to compete, its base."""
    outcome = Outcome(case)
    operands = Operands(case)
    referee = operands.job(in_place=False).referee()
    for library in libraries.values():
        library.set_num_threads(case.threads)
    calls: dict[Way, Call] = {}
    for contestant in _contestants(operands, libraries, peers, outcome):
        way = contestant.system, contestant.label
        seconds = _checked(contestant, operands, referee, outcome)
        if seconds is None:
            continue
        outcome.timings[way] = Timing((seconds,))
        calls[way] = contestant.call
    if outcome.wrong:
        outcome.timings.clear()
        return outcome
    for _ in range(1 + MORE_ROUNDS):
        disturbed = _take_turns(calls, outcome, on_turn)
        gains = (outcome.ratio, outcome.gain(BASE), outcome.gain(DIRECT))
        behind = min(gain or 1 for gain in gains) < 1
        if not behind and not disturbed:
            break
    return outcome


def _contestants(
    operands: Operands,
    libraries: Mapping[str, Library],
    peers: Sequence[System],
    outcome: Outcome,
) -> Iterator[Contestant]:
    job = operands.job()
    for system, library in libraries.items():
        yield job.of_strew(library, system)
    if direct := job.direct(libraries[STREW]):
        yield direct
    yield from job.entrants(peers, outcome.remarks.append)


def _checked(
    contestant: Contestant, operands: Operands, referee: Referee | ExactReferee, outcome: Outcome
) -> float | None:
    """Seconds of a call; None if its result is wrong. strew's must match bit by bit."""
    ours = contestant.system in OURS
    try:
        seconds = []
        while len(seconds) < 2 and sum(seconds) < _patience(outcome):
            operands.restore()
            contestant.reset()
            start = time.perf_counter()
            contestant.call()
            seconds.append(time.perf_counter() - start)
        wrong = referee.complaint(np.asarray(contestant.result()), exactly=ours)
    except Exception as error:  # whatever a foreign system throws
        wrong = f"fails: {first_line(error)}"
    operands.restore()
    if wrong:
        outcome.remarks.append(f"{contestant.name} is not timed: {wrong}")
        outcome.wrong |= contestant.system in (STREW, DIRECT)
        return None
    contestant.reset()
    return min(seconds)


def _patience(outcome: Outcome) -> float:
    """A contestant that takes longer is called once only."""
    fastest = min((timing.best for timing in outcome.timings.values()), default=1)
    return max(0.02, BEHIND * fastest)


def _take_turns(
    calls: dict[Way, Call], outcome: Outcome, on_turn: Callable[[], None] | None
) -> bool:
    """Adds the samples of a round of all contestants that may turn out to be the fastest.

    True if other processes took half of the time or more.
    """
    cpu, start = time.process_time(), time.perf_counter()
    fastest = min(timing.best for timing in outcome.timings.values())
    hopeful = {
        way: call
        for way, call in calls.items()
        if way[0] in OURS or outcome.timings[way].best <= BEHIND * fastest + 20e-6
    }
    several = outcome.case.threads > 1
    timed = alternate(
        hopeful,
        SECONDS * len(hopeful),
        LEAST_TURNS,
        on_turn,
        before_turn=(lambda way: wait_until_idle()) if several else None,
    )
    for way, timing in timed.items():
        outcome.timings[way] = Timing((*outcome.timings[way].samples, *timing.samples))
    return time.process_time() - cpu < 0.5 * (time.perf_counter() - start)
