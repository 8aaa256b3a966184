# SPDX-License-Identifier: Apache-2.0
"""One workload: all contestants prepared, checked, and timed in turns on the same buffers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from .agreement import ExactReferee, Referee
from .buffers import Buffers
from .contestants import DIRECT, LIMIT, STREW, Contestant
from .jobs import Job, first_line, job_of
from .library import Library
from .limit import LimitLoops
from .peers import System
from .timing import Timing, alternate, wait_until_idle
from .workloads import Workload

STREAMING_COPY = "streaming copy"
MEMCPY = "memcpy"
OURS = (STREW, DIRECT, LIMIT)

# Contestants this many times as slow as the fastest peer in a trial are not timed further.
BEHIND_IN_TRIAL = 3.0
TRIAL_SECONDS = 0.02
# A way continues after the qualifying turns if no other way of its system is faster by more than
# the first factor, and no other peer by more than the second.
QUALIFYING_TURNS = 3
BEHIND_OWN_SYSTEM = 1.2
BEHIND_BEST_PEER = 1.6
# Calls that take longer gain nothing from data left in the caches.
SETTLED_SECONDS = 0.02
# Allowed CPU time over elapsed time, beyond the requested threads.
THREADS_SLACK = 0.3

Way = tuple[str, str]  # system and label


@dataclass(frozen=True)
class Settings:
    """How long to measure: at least `seconds` per workload and `least_turns` per contestant."""

    threads: int
    seconds: float
    least_turns: int


@dataclass
class Outcome:
    """The figures of one workload. A system may have several ways; the best counts."""

    workload: Workload
    timings: dict[Way, Timing] = field(default_factory=dict)
    cpus: dict[Way, float] = field(default_factory=dict)  # number of busy CPUs in a trial
    remarks: list[str] = field(default_factory=list)
    failed: bool = False  # strew or a limit loop is wrong
    from_c: float | None = None  # seconds of a call of strew from C, if the workload is tiny

    def best(self, system: str) -> float | None:
        """Seconds of the system's fastest way, or None where it has no way."""
        times = [timing.best for (name, _), timing in self.timings.items() if name == system]
        return min(times, default=None)

    def most_cpus(self, system: str) -> float:
        """The most CPUs that one of the system's ways kept busy; 0 if it has no way."""
        return max((cpus for (name, _), cpus in self.cpus.items() if name == system), default=0)

    @property
    def strew(self) -> float | None:
        """The seconds by which strew is judged: for tiny workloads, those of a call from C."""
        return self.from_c if self.workload.tiny else self.best(STREW)


class Contest:
    """The workloads that share operands; buffers and expected results are made once for them."""

    def __init__(
        self,
        operands: Workload,
        library: Library,
        limit: LimitLoops | None,
        peers: Sequence[System],
        settings: Settings,
    ) -> None:
        self._buffers = Buffers(operands)
        self._library, self._limit, self._peers = library, limit, peers
        self._settings = settings
        self._referees: dict[str, Referee | ExactReferee] = {}

    def hold(self, workload: Workload, on_turn: Callable[[], None]) -> Outcome:
        outcome = Outcome(workload)
        operands = self._buffers.operands(workload.reduction, workload.in_place)
        sound = [
            contestant
            for contestant in self._contestants(job_of(workload.use, operands), outcome)
            if self._is_sound(contestant, outcome)
        ]
        calls = {(contestant.system, contestant.label): contestant.call for contestant in sound}
        tried = {way: self._try(way, call, outcome) for way, call in calls.items()}
        hopeful = {way: calls[way] for way in _hopeful(tried)}
        qualified = alternate(
            hopeful, 0.0, QUALIFYING_TURNS, on_turn, before_turn=lambda way: self._wait()
        )
        finalists = {way: calls[way] for way in _finalists(qualified)} | self._copies(workload)

        def settle(way: Way) -> None:
            """Makes an untimed call, so that nobody gains from what another left in the caches."""
            self._wait()
            if way not in qualified or qualified[way].best < SETTLED_SECONDS:
                finalists[way]()

        final = alternate(
            finalists,
            self._settings.seconds,
            self._settings.least_turns,
            on_turn,
            before_turn=settle,
        )
        outcome.timings = tried | qualified | final
        return outcome

    def _contestants(self, job: Job, outcome: Outcome) -> Iterator[Contestant]:
        yield job.of_strew(self._library)
        if direct := job.direct(self._library):
            yield direct
        limit = outcome.workload.limit
        if self._limit and limit and (loop := self._limit.prepare(limit, job.operands)):
            yield loop
        yield from job.entrants(self._peers, outcome.remarks.append)

    def _is_sound(self, contestant: Contestant, outcome: Outcome) -> bool:
        """True if its result is right; else adds a remark."""
        workload = outcome.workload
        ours = contestant.system in OURS
        reduction = workload.reduction
        if contestant.system == LIMIT:
            reduction = workload.limit.reduction
        self._buffers.restore_output(workload.in_place)
        try:
            contestant.reset()
            contestant.call()
            result = np.asarray(contestant.result())
            wrong = self._referee(reduction).complaint(result, exactly=ours)
        except Exception as error:  # whatever a foreign system throws
            wrong = f"fails: {first_line(error)}"
        self._buffers.restore_output(workload.in_place)
        if wrong:
            outcome.remarks.append(f"{contestant.name} is not timed: {wrong}")
            outcome.failed |= ours
            return False
        contestant.reset()
        return True

    def _referee(self, reduction: str) -> Referee | ExactReferee:
        if reduction not in self._referees:
            operands = self._buffers.operands(reduction, in_place=False)
            self._referees[reduction] = job_of(self._buffers.workload.use, operands).referee()
        return self._referees[reduction]

    def _wait(self) -> None:
        """Waits until the threads of the previous contestant sleep, if there are any."""
        if self._settings.threads > 1:
            wait_until_idle()

    def _try(self, way: Way, call: Callable[[], object], outcome: Outcome) -> Timing:
        """Makes a few calls; adds a remark if they keep more CPUs busy than allowed."""
        self._wait()
        call()
        cpu, start = time.process_time(), time.perf_counter()
        calls, elapsed = 0, 0.0
        while elapsed < TRIAL_SECONDS:
            call()
            calls += 1
            elapsed = time.perf_counter() - start
        cpus = (time.process_time() - cpu) / elapsed
        outcome.cpus[way] = cpus
        if cpus > self._settings.threads + THREADS_SLACK:
            outcome.remarks.append(f"{way[0]}, {way[1]}: kept {cpus:.1f} CPUs busy")
        return Timing((elapsed / calls,))

    def _copies(self, workload: Workload) -> dict[Way, Callable[[], None]]:
        """The yardsticks: copies of data if the output is new, else of the updates."""
        arrays = self._buffers.copies(workload.in_place)
        if arrays is None:
            return {}
        source, target = arrays
        copies: dict[Way, Callable[[], None]] = {
            (MEMCPY, MEMCPY): lambda: np.copyto(target, source)
        }
        if self._limit and (call := self._limit.streaming_copy(source, target)):
            copies[STREAMING_COPY, STREAMING_COPY] = call
        return copies


def _hopeful(tried: dict[Way, Timing]) -> list[Way]:
    """strew, the limit, and the peers' ways that may turn out to be the fastest."""
    most = BEHIND_IN_TRIAL * _fastest_peer(tried)
    return [way for way, timing in tried.items() if way[0] in OURS or timing.best <= most]


def _finalists(qualified: dict[Way, Timing]) -> list[Way]:
    """The same, after more turns."""
    best_of: dict[str, float] = {}
    for (system, _), timing in qualified.items():
        best_of[system] = min(timing.best, best_of.get(system, timing.best))
    most = BEHIND_BEST_PEER * _fastest_peer(qualified)
    return [
        way
        for way, timing in qualified.items()
        if way[0] in OURS or timing.best <= min(most, BEHIND_OWN_SYSTEM * best_of[way[0]])
    ]


def _fastest_peer(timings: dict[Way, Timing]) -> float:
    times = [timing.best for (system, _), timing in timings.items() if system not in OURS]
    return min(times, default=0.0)
