# SPDX-License-Identifier: Apache-2.0
"""The work that strew and its peers do: a call of an operator, or work of a plan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .agreement import ExactReferee, Referee, reference
from .contestants import DIRECT, STREW, Call, Contestant, on_output
from .gather import Gather, GatherScatter
from .indexed import Indexed
from .library import Library, Plan, Tensor
from .peers import System
from .scatter import Scatter, strew_call, tensors
from .workloads import Operator, Use


class Job(ABC):
    """The operands, and the contestants that can do the work of `use` with them."""

    use: Use
    operands: Scatter | Gather | GatherScatter

    @abstractmethod
    def of_strew(self, library: Library, system: str = STREW) -> Contestant:
        """The contestant strew, under the name of the library."""

    @abstractmethod
    def of_peer(self, peer: System) -> list[Contestant]:
        """Every way of the peer."""

    @abstractmethod
    def referee(self) -> Referee | ExactReferee:
        """Given while data is as it was."""

    def direct(self, library: Library) -> Contestant | None:
        """The operator's own call, for comparison with a plan that does its work."""
        return None

    def entrants(
        self, peers: Sequence[System], refused: Callable[[str], None]
    ) -> Iterator[Contestant]:
        """All ways of all peers; reports in a sentence which refuse."""
        for peer in peers:
            try:
                yield from self.of_peer(peer)
            except Exception as error:  # whatever a foreign system throws at what it cannot do
                refused(f"{peer.name} refuses it: {first_line(error)}")


@dataclass(frozen=True)
class OperatorCall(Job):
    operands: Scatter
    use = Use.CALL

    def of_strew(self, library: Library, system: str = STREW) -> Contestant:
        scatter = self.operands
        return on_output(system, scatter.operator.value, strew_call(library, scatter), scatter)

    def of_peer(self, peer: System) -> list[Contestant]:
        return peer.prepare(self.operands)

    def referee(self) -> Referee | ExactReferee:
        return Referee(self.operands)


@dataclass(frozen=True)
class PlanScatter(OperatorCall):
    """The peers do the same as without a plan."""

    use = Use.SCATTER

    def of_strew(self, library: Library, system: str = STREW) -> Contestant:
        scatter = self.operands
        call = planned_scatter(library, plan_for(library, scatter), scatter)
        return on_output(system, "plan_scatter", call, scatter)

    def direct(self, library: Library) -> Contestant:
        return super().of_strew(library, DIRECT)


@dataclass(frozen=True)
class PlanCreation(OperatorCall):
    """Makes a plan, and nothing else. The check is an untimed scatter with `none` by the order that
    each contestant finds: the last update of each place must win."""

    use = Use.CREATE

    def of_strew(self, library: Library, system: str = STREW) -> Contestant:
        scatter = self.operands
        indices = library.tensor(scatter.indices)
        made: list[Plan] = []

        def make() -> None:
            made.clear()  # the one before is destroyed
            made.append(_plan(library, scatter, indices))

        def result() -> np.ndarray:
            planned_scatter(library, made[0], scatter)()
            return scatter.output

        return Contestant(system, "plan", make, result, made.clear)

    def of_peer(self, peer: System) -> list[Contestant]:
        return peer.order(self.operands)

    def referee(self) -> ExactReferee:
        return ExactReferee(reference(self.operands))


@dataclass(frozen=True)
class PlanGather(Job):
    operands: Gather
    use = Use.GATHER

    def of_strew(self, library: Library, system: str = STREW) -> Contestant:
        gather = self.operands
        source, output = library.tensor(gather.source), library.tensor(gather.output)
        call = library.plan_gather(plan_for(library, gather), source, output)
        return on_output(system, "plan_gather", call, gather)

    def of_peer(self, peer: System) -> list[Contestant]:
        return peer.gather(self.operands)

    def referee(self) -> ExactReferee:
        return ExactReferee(self.operands.result())


@dataclass(frozen=True)
class PlanGatherScatter(Job):
    operands: GatherScatter
    use = Use.GATHER_SCATTER

    def of_strew(self, library: Library, system: str = STREW) -> Contestant:
        work = self.operands
        scatter, weights = work.scatter, work.weights
        data = library.tensor(scatter.data)
        call = library.plan_gather_scatter(
            plan_for(library, work.gather),
            library.tensor(work.source),
            None if weights is None else library.tensor(weights),
            plan_for(library, scatter),
            data,
            scatter.reduction,
            data if work.in_place else library.tensor(work.output),
        )
        return on_output(system, "plan_gather_scatter", call, work)

    def of_peer(self, peer: System) -> list[Contestant]:
        return peer.gather_scatter(self.operands)

    def referee(self) -> Referee:
        return Referee(self.operands)


def job_of(use: Use, operands: Scatter | Gather | GatherScatter) -> Job:
    kinds = (OperatorCall, PlanScatter, PlanCreation, PlanGather, PlanGatherScatter)
    return next(kind for kind in kinds if kind.use is use)(operands)


def plan_for(library: Library, indexed: Indexed) -> Plan:
    return _plan(library, indexed, library.tensor(indexed.indices))


def _plan(library: Library, indexed: Indexed, indices: Tensor) -> Plan:
    extents = indexed.shape[indexed.axis :]
    if indexed.operator is Operator.SCATTER_ND:
        extents = indexed.shape[: indexed.indices.shape[-1]]
    return library.plan(indexed.operator.value, indices, indexed.axis, extents)


def planned_scatter(library: Library, plan: Plan, scatter: Scatter) -> Call:
    data, updates, output = tensors(library, scatter)
    return library.plan_scatter(plan, data, updates, scatter.reduction, output)


def first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
