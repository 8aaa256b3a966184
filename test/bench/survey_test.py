# SPDX-License-Identifier: Apache-2.0
"""bench/survey.py: its calls depend on the seed alone, and its checks tell right from wrong."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from harness.agreement import Referee, reference
from harness.contestants import DIRECT
from harness.gather import Gather
from harness.library import Library
from harness.peers import numpy as numpy_peer
from harness.reduction import Reduction
from harness.scatter import Scatter
from harness.survey import trial
from harness.survey.case import Case, Layout, Pattern
from harness.survey.classes import CLASSES, classes
from harness.survey.draw import draw
from harness.survey.operands import Operands
from harness.workloads import Operator, Use

SEED, DRAWN, SMALL = 5, 400, 6000
KNOWN = ("none", "add")  # reductions that every peer has


def small_cases() -> list[Case]:
    cases = [draw(SEED, number) for number in range(DRAWN)]
    return [case for case in cases if max(map(math.prod, (case.data, case.updates))) < SMALL]


def scatter(data: np.ndarray, indices: list[int], updates: np.ndarray, reduction: str) -> Scatter:
    operator, output = Operator.SCATTER_ELEMENTS, data.copy()
    return Scatter(operator, data, np.array(indices), updates, reduction, output)


@pytest.fixture(scope="module")
def library() -> Library:
    return Library(os.environ["STREW_LIBRARY"])


def test_a_case_depends_on_seed_and_number_alone() -> None:
    assert [draw(7, number) for number in (3, 1)] == [draw(7, number) for number in (1, 3)][::-1]
    assert draw(7, 1) != draw(8, 1)


def test_operands_are_the_same_again() -> None:
    for case in small_cases()[:30]:
        first, second = (arrays(Operands(case)) for _ in range(2))
        assert first == second


def arrays(operands: Operands) -> list[bytes]:
    """The bytes of all that a case reads."""
    job = operands.job(in_place=False).operands
    if isinstance(job, Gather):
        return [job.source.tobytes(), job.indices.tobytes()]
    (_, scatter), *_ = job.parts()
    found = (scatter.data, scatter.updates, scatter.indices)
    return [array.tobytes() for array in found if array is not None]


def test_every_kind_is_drawn() -> None:
    cases = [draw(SEED, number) for number in range(DRAWN)]
    assert {case.operator for case in cases} == set(Operator)
    assert {case.pattern for case in cases} == set(Pattern) - {Pattern.SIGNED}
    assert {case.use for case in cases} == set(Use) - {Use.CREATE}
    assert {case.weights is None for case in cases if case.source} == {True, False}
    assert any(case.reduction.endswith("|wide") for case in cases)
    assert {case.in_place for case in cases} == {True, False}
    assert {len(case.data) for case in cases} == {1, 2, 3, 4}
    layouts = [dataclasses.astuple(case.layouts) for case in cases]
    assert set(Layout) == {layout for three in layouts for layout in three}
    assert {draw(SEED, number, threads=3).threads for number in range(30)} == {1, 2, 3}


def test_permuted_indices_name_no_place_twice() -> None:
    permuted = [case for case in small_cases() if case.pattern is Pattern.PERMUTED]
    lines = [case for case in permuted if case.operator is Operator.SCATTER_UPDATE]
    few = [case for case in lines if case.indices[0] <= case.data[case.axis]]
    assert few
    for case in few:
        indices = Operands(case).indices
        assert np.unique(indices).size == indices.size


def test_classes_have_shapes_that_go_together() -> None:
    cases = list(classes(threads=1))
    gathers = sum(entry.use is Use.GATHER for entry in CLASSES)
    assert len(cases) == len({case.name for case in cases}) == 2 * len(CLASSES) - gathers
    assert {case.use for case in cases} == set(Use) - {Use.CREATE}
    for case in cases:
        if case.operator is Operator.SCATTER_UPDATE:
            axis = case.axis
            assert case.updates == case.data[:axis] + case.indices + case.data[axis + 1 :]


def test_strew_and_numpy_agree_on_small_cases(library: Library) -> None:
    cases = small_cases()
    assert len(cases) > 20
    for case in cases:
        operands = Operands(case)
        referee, job = operands.job(in_place=False).referee(), operands.job()
        ours = [job.of_strew(library), job.direct(library)]
        for contestant in filter(None, ours):
            operands.restore()
            contestant.call()
            assert referee.complaint(contestant.result(), exactly=True) is None, case
        how = Reduction.of(case.reduction)
        if how.name == "mean" or how.without_old:
            continue
        for contestant in job.of_peer(numpy_peer.Peer(1)):
            operands.restore()
            contestant.call()
            complaint = referee.complaint(contestant.result(), exactly=False)
            assert complaint is None, (case, contestant)


def test_means_and_reductions_without_the_old_value() -> None:
    data, updates = np.array([8, 9, 5], np.int8), np.array([1, 2, -4], np.int8)
    places = [0, 0, 2]
    for reduction, expected in {
        "mean": [3, 9, 0],  # 11 / 3 and 1 / 2, rounded down
        "mean|exclude_self": [1, 9, -4],
        "add|exclude_self": [3, 9, -4],
        "mul|exclude_self": [2, 9, -4],
        "min|exclude_self": [1, 9, -4],
        "max|exclude_self": [2, 9, -4],
    }.items():
        assert reference(scatter(data, places, updates, reduction)).tolist() == expected


def test_the_first_complex_factor_keeps_its_zeros() -> None:
    data, updates = np.ones(2, np.complex64), np.array([complex(-0.0, -3), 2, 1j], np.complex64)
    result = reference(scatter(data, [0, 1, 1], updates, "mul|exclude_self"))
    assert result.tolist() == [-3j, 2j]
    assert np.signbit(result[0].real)


def test_wide_sums_round_once() -> None:
    data, updates = np.array([256, 0], ml_dtypes.bfloat16), np.ones(3, ml_dtypes.bfloat16)
    for reduction, expected in {
        "add": [256, 0],
        "add|wide": [260, 0],  # 259 rounded
        "add|exclude_self": [3, 0],
        "add|exclude_self|wide": [3, 0],
    }.items():
        assert reference(scatter(data, [0, 0, 0], updates, reduction)).tolist() == expected


def test_options_of_a_reduction_are_told_apart() -> None:
    assert Reduction.of("add|wide") == ("add", False, True)
    assert Reduction.of("mul|exclude_self|wide") == ("mul", True, True)
    assert Reduction.of("mul|exclude_self|wide").narrow == "mul|exclude_self"
    with pytest.raises(ValueError):
        Reduction.of("add|narrow")


def test_a_wrong_element_is_noticed() -> None:
    data, updates = np.ones(4, np.float32), np.array([2, 3], np.float32)
    for reduction in ("none", "add", "mul", "min", "max", "mean", "mean|exclude_self"):
        call = scatter(data, [1, 1], updates, reduction)
        referee, result = Referee(call), reference(call)
        assert referee.complaint(result, exactly=True) is None
        for place in (0, 1):
            wrong = result.copy()
            wrong[place] += 0.25
            assert referee.complaint(wrong, exactly=False) is not None


def test_peers_may_add_in_another_order_and_let_any_update_win() -> None:
    data, updates = np.ones(4, np.float32), np.array([2, 3], np.float32)
    replaced = Referee(scatter(data, [1, 1], updates, "none"))
    other = np.array([1, 2, 1, 1], np.float32)
    assert replaced.complaint(other, exactly=False) is None
    assert replaced.complaint(other, exactly=True) is not None
    added = Referee(scatter(data, [1, 1], updates, "add"))
    other = np.array([1, np.nextafter(np.float32(6), np.float32(7)), 1, 1], np.float32)
    assert added.complaint(other, exactly=False) is None
    assert added.complaint(other, exactly=True) is not None


@pytest.mark.parametrize("use", [Use.CALL, Use.SCATTER, Use.GATHER_SCATTER])
def test_a_trial_times_all_and_finds_the_best_peer(
    use: Use, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "SECONDS", 0.001)
    plain = (case for case in small_cases() if Reduction.of(case.reduction).narrow in KNOWN)
    case = next(case for case in plain if case.use is use)
    outcome = trial.hold(case, {"strew": library, "base": library}, [numpy_peer.Peer(1)])
    assert not outcome.wrong
    systems = {system for system, _ in outcome.timings} - {DIRECT}
    assert systems == {"strew", "base", "NumPy"}
    assert outcome.best_peer[0][0] == "NumPy"
    assert outcome.ratio == outcome.best_peer[1] / outcome.strew > 0
    assert outcome.gain("base") == outcome.seconds("base") / outcome.strew > 0
    planned = case.use is Use.SCATTER
    assert (outcome.gain(DIRECT) is not None) == planned
    assert outcome.shorter_than(outcome.strew + outcome.best_peer[1])
