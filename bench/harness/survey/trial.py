# SPDX-License-Identifier: Apache-2.0
"""One case: strew and its peers checked, then timed in turns on the same operands."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..agreement import Referee
from ..contest import STREW
from ..contestants import Call, Contestant, on_output
from ..library import Library
from ..peers import Peer
from ..scatter import strew_call
from ..timing import Timing, alternate, wait_until_idle
from .case import Case
from .operands import Operands

# Who is so many times as slow as the fastest of all in single calls is not timed further.
BEHIND = 3.0
SECONDS, LEAST_TURNS = 0.15, 3  # a contestant
# A row in which strew is behind by a single round of turns gets so many more.
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

    @property
    def strew(self) -> float | None:
        ours = [timing.best for (name, _), timing in self.timings.items() if name == STREW]
        return min(ours, default=None)

    @property
    def best_peer(self) -> tuple[Way, float] | None:
        peers = [(timing.best, way) for way, timing in self.timings.items() if way[0] != STREW]
        best = min(peers, default=None)
        return None if best is None else (best[1], best[0])

    @property
    def ratio(self) -> float | None:
        """How many times as long as strew the best peer takes."""
        if self.strew is None or self.best_peer is None:
            return None
        return self.best_peer[1] / self.strew

    def shorter_than(self, seconds: float) -> bool:
        """True if neither strew nor the best peer takes as long."""
        peer = self.best_peer
        return max(self.strew or 0, peer[1] if peer else 0) < seconds


def hold(
    case: Case, library: Library, peers: Sequence[Peer], on_turn: Callable[[], None] | None = None
) -> Outcome:
    outcome = Outcome(case)
    operands = Operands(case)
    referee = Referee(operands.scatter(in_place=False))
    library.set_num_threads(case.threads)
    calls: dict[Way, Call] = {}
    for contestant in _contestants(operands, library, peers, outcome):
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
        _take_turns(calls, outcome, on_turn)
        if outcome.ratio is None or outcome.ratio >= 1:
            break
    return outcome


def _contestants(
    operands: Operands, library: Library, peers: Sequence[Peer], outcome: Outcome
) -> Iterator[Contestant]:
    scatter = operands.scatter()
    call = strew_call(library, scatter)
    yield on_output(STREW, scatter.operator.value, call, scatter)
    for peer in peers:
        try:
            yield from peer.prepare(scatter)
        except Exception as error:  # whatever a foreign system throws at what it cannot do
            outcome.remarks.append(f"{peer.name} refuses it: {_first_line(error)}")


def _checked(
    contestant: Contestant, operands: Operands, referee: Referee, outcome: Outcome
) -> float | None:
    """Seconds of a call, None where its result is wrong; strew has to match bit by bit."""
    ours = contestant.system == STREW
    try:
        seconds = []
        while len(seconds) < 2 and sum(seconds) < _patience(outcome):
            operands.restore()
            contestant.reset()
            start = time.perf_counter()
            contestant.call()
            seconds.append(time.perf_counter() - start)
        wrong = referee.complaint(np.asarray(contestant.result()), exactly=ours)
    except Exception as error:  # as above
        wrong = f"fails: {_first_line(error)}"
    operands.restore()
    if wrong:
        outcome.remarks.append(f"{contestant.name} is not timed: {wrong}")
        outcome.wrong |= ours
        return None
    contestant.reset()
    return min(seconds)


def _patience(outcome: Outcome) -> float:
    """What takes longer is called once only."""
    fastest = min((timing.best for timing in outcome.timings.values()), default=1)
    return max(0.02, BEHIND * fastest)


def _take_turns(
    calls: dict[Way, Call], outcome: Outcome, on_turn: Callable[[], None] | None
) -> None:
    """Adds the samples of a round in which all take part who may turn out to be the fastest."""
    fastest = min(timing.best for timing in outcome.timings.values())
    hopeful = {
        way: call
        for way, call in calls.items()
        if way[0] == STREW or outcome.timings[way].best <= BEHIND * fastest + 20e-6
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


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
