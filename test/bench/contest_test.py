# SPDX-License-Identifier: Apache-2.0
"""bench/compare.py: every kind of row is checked and timed, and a wrong result is no row."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from harness import gather, workloads
from harness.buffers import Buffers
from harness.contest import Contest, Outcome, Settings
from harness.contestants import DIRECT, STREW, Contestant, on_output
from harness.gather import GatherScatter
from harness.library import Library
from harness.limit import LimitLoops
from harness.peers import System
from harness.peers import numpy as numpy_peer
from harness.reduction import Reduction
from harness.workloads import Limit, Use, Workload

PEER = numpy_peer.Peer.name
MOST = 120  # dims are shortened to this, and rows are not tiny then


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(os.environ["STREW_LIBRARY"])


def small(workload: Workload) -> Workload:
    """The same with few elements, where it is no slice."""
    shapes = {
        name: tuple(min(dim, MOST) for dim in getattr(workload, name))
        for name in ("data", "indices", "updates")
    }
    return replace(workload, **shapes, limit=None)


def rows() -> Iterator[Workload]:
    for workload in workloads.load():
        if workload.use is not Use.CALL or Reduction.of(workload.reduction).wide:
            yield small(workload)


def hold(workload: Workload, library: Library, *peers: System) -> Outcome:
    contest = Contest(workload.operands(), library, None, peers, Settings(1, 0, 1))
    return contest.hold(workload, on_turn=lambda: None)


def test_plans_are_listed_for_every_use() -> None:
    assert {workload.use for workload in workloads.load()} == set(Use)
    assert all(workload.use is Use.CALL for workload in workloads.load_calls())
    names = [workload.name for workload in workloads.load()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("workload", list(rows()), ids=lambda workload: workload.name)
def test_rows_are_right(workload: Workload, library: Library) -> None:
    outcome = hold(workload, library, numpy_peer.Peer(1))
    assert not outcome.failed, outcome.remarks
    assert outcome.best(STREW) is not None
    assert (outcome.best(DIRECT) is not None) == (workload.use is Use.SCATTER)
    how = Reduction.of(workload.reduction)
    if how.name != "mean" and not how.without_old:
        assert any(system == PEER for system, _ in outcome.cpus), outcome.remarks


class Wrong(System):
    """Leaves the output as it is."""

    name, version = "wrong", "0"

    def prepare(self, scatter) -> list[Contestant]:
        return [on_output(self.name, "nothing", lambda: None, scatter)]

    def gather(self, gather) -> list[Contestant]:
        return [on_output(self.name, "nothing", lambda: None, gather)]

    def gather_scatter(self, work) -> list[Contestant]:
        return [on_output(self.name, "nothing", lambda: None, work)]

    def order(self, scatter) -> list[Contestant]:
        def unsorted() -> np.ndarray:
            return np.arange(len(scatter.indices))[::-1]

        return [self.ordering("unsorted", unsorted, np.asarray, scatter)]


@pytest.mark.parametrize("use", Use)
def test_a_wrong_result_is_not_timed(use: Use, library: Library) -> None:
    listed = (small(w) for w in workloads.load() if w.use is use and w.slice is None)
    outcome = hold(next(listed), library, Wrong(1))
    assert not outcome.failed and outcome.best("wrong") is None
    assert any("are wrong" in remark for remark in outcome.remarks)


def test_large_updates_are_made_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    workload = next(w for w in rows() if w.use is Use.GATHER_SCATTER and w.weighted)
    work = Buffers(workload.operands()).operands("add", in_place=False)
    assert isinstance(work, GatherScatter)
    ((_, whole),) = work.parts()
    monkeypatch.setattr(gather, "MOST_UPDATES", 3 * workload.updates[0])
    parts = list(work.parts())
    assert len(parts) == -(-workload.updates[1] // 3)
    for where, part in parts:
        assert np.array_equal(part.updates, whole.updates[where])


def test_a_hub_has_its_share_of_the_entries() -> None:
    listed = next(w for w in workloads.load() if w.name == "graph.16.inp")
    shapes = {"data": (500, 1), "indices": (100_000,), "updates": (100_000, 1)}
    hub = replace(listed, pattern=workloads.IndexPattern.HUB, **shapes)
    degrees = np.sort(np.bincount(Buffers(hub).indices, minlength=500))[::-1]
    assert 4500 < degrees[0] < 2 * 5000
    assert degrees[1] > 10 * degrees[400] > 0


def test_limit_loops_take_plans_apart(library: Library, tmp_path: Path) -> None:
    source = tmp_path / "loops.cpp"
    source.write_text(LOOPS)
    limit = LimitLoops([source])
    listed = next(w for w in rows() if w.name == "graph.64.weighted.inp")
    words = ("output", "source", "ordered sources", "row starts", "ordered weights")
    sizes = (listed.data[0], listed.data[1])
    workload = replace(listed, limit=Limit("weighted_rows", (*words, *sizes), "add"))
    contest = Contest(workload.operands(), library, limit, [], Settings(1, 0, 1))
    outcome = contest.hold(workload, on_turn=lambda: None)
    assert not outcome.failed and outcome.best("limit") is not None, outcome.remarks
    missing = replace(workload, limit=Limit("no_such_loop", (), "add"))
    assert contest.hold(missing, on_turn=lambda: None).best("limit") is None


LOOPS = """
#include <cstddef>
extern "C" void weighted_rows(float* out, const float* x, const int* from, const int* starts,
                              const float* weights, size_t rows, size_t columns) {
  for (size_t row = 0; row < rows; ++row)
    for (int e = starts[row]; e < starts[row + 1]; ++e)
      for (size_t c = 0; c < columns; ++c)
        out[row * columns + c] += weights[e] * x[from[e] * columns + c];
}
"""


@pytest.fixture(scope="module")
def report() -> ModuleType:
    pytest.importorskip("tabulate")
    return importlib.import_module("harness.report")


def test_the_table_has_a_section_for_each_use(library: Library, report: ModuleType) -> None:
    chosen = {report.title_of(workload): workload for workload in rows()}
    outcomes = [hold(workload, library, numpy_peer.Peer(1)) for workload in chosen.values()]
    text = report.Report(outcomes, [PEER], ["here"]).markdown()
    for title in report.PLAN_TITLES.values():
        assert f"## {title}\n" in text
    assert "ns an entry" in text and DIRECT in text


def test_sections_of_calls_keep_their_titles(report: ModuleType) -> None:
    titles = {report.title_of(workload) for workload in workloads.load_calls()}
    assert titles == set(report.TITLES.values())
