# SPDX-License-Identifier: Apache-2.0
"""Data sharded over a Dask cluster, larger than one worker may hold, and a worker that dies."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import distributed
import numpy as np
import pytest

import strew
from strew import _shard_plans, sharding

WORKER_LIMIT = 256 << 20
COLUMNS = 1024
ROWS = [2000 + 3 * i for i in range(34)]  # of 4 KiB each


class Here:
    """A client that runs every task at once in this process."""

    def submit(self, function: Callable[..., Any], *arguments: Any, pure: bool = True) -> Any:
        return function(*arguments)

    def map(self, function: Callable[..., Any], values: list[Any]) -> list[Any]:
        return [function(value) for value in values]

    def gather(self, values: Any) -> Any:
        return values


def shards_of(data: np.ndarray, *cuts: int) -> list[np.ndarray]:
    shards = np.split(data.copy(), cuts)
    for shard in shards:
        shard.flags.writeable = False  # as those that Dask received
    return shards


@pytest.mark.parametrize("reduction", ["none", "add", "sub", "mul", "min", "max", "mean"])
@pytest.mark.parametrize("exclude_self", [False, True])
def test_shards_are_as_the_whole(reduction, exclude_self) -> None:
    if reduction == "sub" and exclude_self:
        return
    random = np.random.default_rng(7)
    data = random.standard_normal((11, 3, 2), np.float32)
    indices = random.integers([-11, -3], [11, 3], (5, 40, 2), np.int8)
    updates = random.standard_normal((5, 40, 2), np.float32)
    how = {"reduction": reduction, "exclude_self": exclude_self}
    expected = strew.scatter_nd(data, indices, updates, **how)
    found = sharding.scatter_nd(Here(), shards_of(data, 4, 4, 5), indices, updates, **how)
    assert np.concatenate(found).tobytes() == expected.tobytes()
    expected = strew.scatter_update(data, indices[..., 0], data[indices[..., 0]], **how)
    found = sharding.scatter_update(
        Here(), shards_of(data, 10), indices[..., 0], data[indices[..., 0]], **how
    )
    assert np.concatenate(found).tobytes() == expected.tobytes()


@pytest.mark.parametrize("reduction", ["none", "add", "min", "mean"])
def test_a_plan_is_checked_once(reduction) -> None:
    random = np.random.default_rng(9)
    indices = random.integers([-11, -3], [11, 3], (5, 40, 2), np.int8)
    tuples = sharding.plan_scatter_nd(Here(), shards_of(np.zeros((11, 3)), 4, 4, 5), indices)
    rows = sharding.plan_scatter_update(Here(), shards_of(np.zeros(11), 4, 4, 5), indices[..., 0])
    for width in (2, 5):
        data = random.standard_normal((11, 3, width), np.float32)
        shards = shards_of(data, 4, 4, 5)
        updates = random.standard_normal((5, 40, width), np.float32)
        expected = strew.scatter_nd(data, indices, updates, reduction=reduction)
        found = tuples.scatter(shards, updates, reduction=reduction)
        assert np.concatenate(found).tobytes() == expected.tobytes()
        updates = random.standard_normal((5, 40, 3, width), np.float32)
        expected = strew.scatter_update(data, indices[..., 0], updates, reduction=reduction)
        found = rows.scatter(shards, updates, reduction=reduction)
        assert np.concatenate(found).tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "c16", "S3", "f4,i1"])
def test_gather(dtype) -> None:
    random = np.random.default_rng(10)
    indices = random.integers([-11, -3], [11, 3], (5, 40, 2), np.int8)
    data = random.integers(0, 99, (11, 3, 4)).astype(dtype)
    shards = shards_of(data, 4, 4, 5)
    rows = sharding.plan_scatter_nd(Here(), shards, indices).gather(shards)
    assert (rows.dtype, rows.shape) == (data.dtype, (5, 40, 4))
    assert rows.tobytes() == data[indices[..., 0], indices[..., 1]].tobytes()
    for places in (indices[..., 0], np.int64(-3), np.zeros((0, 2), int)):
        rows = sharding.plan_scatter_update(Here(), shards, places).gather(shards)
        assert rows.shape == (*np.shape(places), 3, 4)
        assert rows.tobytes() == data[places].tobytes()


WEIGHTS = [None, (), (7,), (1, 7), (9, 1), (5, 1, 1), (5, 9, 7), (1, 9, 1)]


@pytest.mark.parametrize("shape", WEIGHTS, ids=str)
@pytest.mark.parametrize("reduction", ["none", "add", "max", "mean"])
def test_gather_scatter(shape, reduction) -> None:
    random = np.random.default_rng(11)
    source = random.standard_normal((13, 2, 7), np.float32)
    data = random.standard_normal((6, 7), np.float32)
    weights = None if shape is None else random.standard_normal(shape, np.float32)
    pairs = random.integers([-13, -2], [13, 2], (5, 9, 2))
    rows = random.choice([0, 1, 4, -1], (5, 9))  # none of the shard in the middle
    sources, shards = shards_of(source, 5, 5, 8), shards_of(data, 2, 4)
    from_plan = sharding.plan_scatter_nd(Here(), sources, pairs)
    to_plan = sharding.plan_scatter_update(Here(), shards, rows)
    how = {"reduction": reduction, "exclude_self": reduction == "max"}
    expected = strew.gather_scatter(
        strew.plan_scatter_nd(pairs, (13, 2)),
        source,
        strew.plan_scatter_update(rows, 6),
        data,
        weights,
        **how,
    )
    for _ in range(2):  # the second call finds the rows that each shard needs
        found = sharding.gather_scatter(from_plan, sources, to_plan, shards, weights, **how)
        assert [shard.shape for shard in found] == [(2, 7), (2, 7), (2, 7)]
        assert np.concatenate(found).tobytes() == expected.tobytes()


def test_a_plan_with_itself_and_with_two_others() -> None:
    data = np.arange(12.0).reshape(6, 2)
    shards = shards_of(data, 1, 3)
    first, second = [5, 0, 0, 2], [1, 1, 4, 5]
    one = sharding.plan_scatter_update(Here(), shards, first)
    other = sharding.plan_scatter_update(Here(), shards, second)
    for from_plan, names in ((one, first), (other, second), (one, first)):
        expected = strew.scatter_update(data, first, data[names], reduction="add")
        found = sharding.gather_scatter(from_plan, shards, one, shards)
        assert np.concatenate(found).tobytes() == expected.tobytes()
    empty = sharding.plan_scatter_update(Here(), shards, [])
    found = sharding.gather_scatter(empty, shards, empty, shards)
    assert np.concatenate(found).tobytes() == data.tobytes()


def test_rows_are_sent_once() -> None:
    class Counted(Here):
        def submit(self, function: Callable[..., Any], *arguments: Any, pure: bool = True) -> Any:
            made = function(*arguments)
            if function is _shard_plans._gather:
                sent.append(len(made))
            return made

    sent: list[int] = []
    shards = shards_of(np.zeros((6, 2)), 3)
    from_plan = sharding.plan_scatter_update(Counted(), shards, [4, 4, 0, 4, 4, 4])
    to_plan = sharding.plan_scatter_update(Counted(), shards, [0, 0, 1, 5, 5, 4])
    sharding.gather_scatter(from_plan, shards, to_plan, shards)
    assert sorted(sent) == [1, 1, 1]  # rows 0 and 4 to the first shard, row 4 to the second


def test_gathers_of_shards_refuse_as_those_of_the_whole() -> None:
    shards = shards_of(np.zeros((6, 2), np.complex64), 3)
    plan = sharding.plan_scatter_update(Here(), shards, [0, 5])
    scatter = sharding.gather_scatter
    for call, sentence in (
        (lambda: plan.gather(shards[:1]), "made for 6 elements"),
        (lambda: scatter(plan, shards, plan, shards[:1]), "made for 6 elements"),
        (lambda: scatter(plan, shards, plan, shards, reduction="min"), "min is not defined"),
        (lambda: scatter(plan, shards, plan, shards, [1.0]), "dtype"),
        (lambda: scatter(plan, shards, plan, shards, np.ones(3, np.complex64)), "weights"),
    ):
        with pytest.raises(strew.Error, match=sentence):
            call()
    others = shards_of(np.zeros((6, 2), np.complex64), 2)
    tuples = sharding.plan_scatter_nd(Here(), shards, [[0, 0], [5, 1]])
    for call, sentence in (
        (lambda: plan.gather(others), r"\[2, 4\] rows, those of the plan had \[3, 3\]"),
        (lambda: scatter(plan, shards, plan, others), r"\[2, 4\] rows"),
        (lambda: scatter(plan, others, plan, shards), r"\[2, 4\] rows"),
        (lambda: plan.gather([shards[0], np.zeros((3, 2))]), "complex64.*float64"),
        (lambda: tuples.gather([np.zeros(3), np.zeros(3)]), "name no rows"),
    ):
        with pytest.raises(ValueError, match=sentence) as error:
            call()
        assert not isinstance(error.value, strew.Error)


def test_entries_of_two_shapes() -> None:
    rows, elements = shards_of(np.zeros((6, 2)), 3), shards_of(np.zeros(6), 3)
    from_plan = sharding.plan_scatter_update(Here(), rows, [0, 5])
    to_plan = sharding.plan_scatter_update(Here(), elements, [[0, 1], [5, 1]])
    with pytest.raises(ValueError, match=r"entries \(2,\) and \(2, 2\)"):
        sharding.gather_scatter(from_plan, rows, to_plan, elements)


def test_plans_of_shards_refuse_as_operators_do() -> None:
    shards = shards_of(np.zeros((6, 2)), 3)
    with pytest.raises(strew.Error, match=r"indices\[1\] = 6 is out of range") as error:
        sharding.plan_scatter_update(Here(), shards, [0, 6])
    assert error.value.position == 1
    with pytest.raises(ValueError, match="name no rows"):
        sharding.plan_scatter_nd(Here(), shards, np.zeros((1, 0), int))
    plan = sharding.plan_scatter_update(Here(), shards, [0, 5])
    with pytest.raises(strew.Error, match="updates has shape"):
        plan.scatter(shards, np.ones((3, 2)))
    assert np.concatenate(plan.scatter(shards, np.ones((1, 2)))).sum() == 4
    with pytest.raises(strew.Error, match="data has shape .* made for 6 elements"):
        plan.scatter(shards[:1], np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"\[2, 4\] rows, those of the plan had \[3, 3\]"):
        plan.scatter(shards_of(np.zeros((6, 2)), 2), np.ones((2, 2)))
    one = sharding.plan_scatter_nd(Here(), shards, [-1, 0])
    assert np.concatenate(one.scatter(shards, np.full((1, 1), 7.0)))[5].tolist() == [7, 0]


def test_a_plan_moves_between_workers() -> None:
    rows = pickle.loads(pickle.dumps(_shard_plans._RowPlan(np.array([3, 0, 3]), 4, 2)))
    square = np.array([[5, 6], [7, 8]])
    assert rows.plan.gather(rows.rows_of(square)).tolist() == [8, 5, 8]


def test_wide_shards_round_once() -> None:
    data, ones = np.full((4, 1), 2048, "f2"), np.ones((64, 1), "f2")
    places = np.full(64, 3)
    for wide, expected in ((False, 2048), (True, 2112)):
        how = {"reduction": "add", "wide": wide}
        found = sharding.scatter_update(Here(), shards_of(data, 2), places, ones, **how)
        assert np.concatenate(found)[:, 0].tolist() == [2048, 2048, 2048, expected]
        tuples = places[:, None]
        found = sharding.scatter_nd(Here(), shards_of(data, 2), tuples, ones, **how)
        assert np.concatenate(found)[:, 0].tolist() == [2048, 2048, 2048, expected]


def test_indices_are_checked_against_the_whole() -> None:
    shards = shards_of(np.zeros((6, 2)), 3)
    with pytest.raises(strew.Error, match=r"indices\[1\] = 6 is out of .* which has 6 el") as error:
        sharding.scatter_update(Here(), shards, [0, 6], np.ones((2, 2)))
    assert error.value.position == 1
    with pytest.raises(strew.Error, match="= -3 is out of range .* which has 2 el"):
        sharding.scatter_nd(Here(), shards, [[-6, -3]], np.ones(1))
    with pytest.raises(strew.Error, match="out of range"):
        sharding.scatter_update(Here(), shards, np.array([2**63], np.uint64), np.ones((1, 2)))
    with pytest.raises(ValueError, match="name no rows"):
        sharding.scatter_nd(Here(), shards, np.zeros((1, 0), int), np.ones((1, 6, 2)))
    with pytest.raises(ValueError, match="name no rows of 2 axes"):
        sharding.scatter_nd(Here(), shards, np.zeros((0, 3), int), np.zeros(()))


@pytest.mark.parametrize("shapes", [[], [()], [(2, 3), ()], [(2, 3), (2, 1)], [(2, 3), (4,)]])
def test_shards_are_rows_of_one_array(shapes) -> None:
    with pytest.raises(ValueError, match="not the rows of one array"):
        sharding.scatter_update(Here(), [np.zeros(shape) for shape in shapes], [0], np.ones((1, 3)))


def test_masks_are_refused() -> None:
    shards, masked = shards_of(np.zeros((6, 2)), 3), np.ma.zeros((1, 2))
    with pytest.raises(TypeError, match="masked arrays"):
        sharding.scatter_update(Here(), shards, [0], masked)
    with pytest.raises(TypeError, match="masked arrays"):
        sharding.scatter_update(Here(), shards, masked.astype(int)[0, :1], np.ones((1, 2)))


def test_errors_are_those_of_the_whole() -> None:
    shards = shards_of(np.zeros((6, 2), np.complex64), 3)
    with pytest.raises(strew.Error, match=r"\[1,3,0\].* shape \[1\] .* data of shape \[6,2,0\]"):
        sharding.scatter_update(Here(), shards, [5], np.ones((1, 3), np.complex64))
    updates = np.ones((1, 2), np.complex64)
    with pytest.raises(strew.Error, match="min is not defined"):
        sharding.scatter_update(Here(), shards, [6], updates, reduction="min")
    with pytest.raises(strew.Error, match="exclude-self"):
        sharding.scatter_update(Here(), shards, [6], updates, reduction="sub", exclude_self=True)
    with pytest.raises(TypeError, match="out"):
        sharding.scatter_update(Here(), shards, [0], updates, out=np.zeros((3, 2), np.complex64))


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_one_element_updates_of_another_shape(shape) -> None:
    data, update = np.arange(12.0).reshape(6, 2), np.full(shape, 7.0)
    for place in ([4, 1], [-1, 0]):
        expected = strew.scatter_nd(data, place, update, reduction="add")
        found = sharding.scatter_nd(Here(), shards_of(data, 3), place, update, reduction="add")
        assert np.concatenate(found).tobytes() == expected.tobytes()


def test_updates_of_another_shape_are_repeated_as_for_the_whole() -> None:
    data = np.zeros((6, 2))
    for place, updates in (
        ([[4, 1]], np.ones(())),
        ([4], np.ones(1)),
        ([[4], [1]], np.ones(2)),
    ):
        expected = strew.scatter_nd(data, place, updates)
        found = sharding.scatter_nd(Here(), shards_of(data, 3), place, updates)
        assert np.concatenate(found).tolist() == expected.tolist()


def test_updates_that_do_not_fit_are_refused_as_for_the_whole() -> None:
    data = np.zeros((6, 2))
    for place, updates in (
        ([4, 1], np.ones(2)),
        ([4, 1], np.ones((1, 0))),
        ([[4, 1]], np.ones((1, 1))),
        ([4], np.ones((1, 2))),
        ([4], np.ones(3)),
    ):
        with pytest.raises(strew.Error) as error:
            strew.scatter_nd(data, place, updates)
        with pytest.raises(strew.Error) as sharded:
            sharding.scatter_nd(Here(), shards_of(data, 3), place, updates)
        assert sharded.value.status == error.value.status == "STREW_INVALID_SHAPE"
    # No such rule for scatter_update().
    for operator in (
        lambda updates: strew.scatter_update(data[:, 0], 4, updates),
        lambda updates: sharding.scatter_update(Here(), shards_of(data[:, 0], 3), 4, updates),
    ):
        assert operator(np.ones(())) is not None
        with pytest.raises(strew.Error) as error:
            operator(np.ones(1))
        assert error.value.status == "STREW_INVALID_SHAPE"


def test_an_empty_list_of_indices() -> None:
    shards = shards_of(np.ones((6, 2)), 3)
    found = sharding.scatter_update(Here(), shards, [], np.empty((0, 2)))
    assert np.concatenate(found).tobytes() == np.ones((6, 2)).tobytes()


@pytest.mark.parametrize("factor", [0, 2])
def test_updates_that_are_lost_or_applied_twice_are_an_error(factor, monkeypatch) -> None:
    apply = sharding._apply

    def wrong(shard, given, first, reduction):
        output, applied = apply(shard, given, first, reduction)
        return output, applied * factor

    monkeypatch.setattr(sharding, "_apply", wrong)
    with pytest.raises(RuntimeError, match=f"applied {4 * factor} elements of 4 updates"):
        sharding.scatter_update(Here(), shards_of(np.zeros((6, 2)), 3), [0, 5], np.ones((2, 2)))


def test_products_that_are_lost_are_an_error(monkeypatch) -> None:
    shards = shards_of(np.zeros((6, 2)), 3)
    plan = sharding.plan_scatter_update(Here(), shards, [0, 5])
    apply = _shard_plans._gather_scatter
    monkeypatch.setattr(_shard_plans, "_gather_scatter", lambda *a: (apply(*a)[0], 0))
    with pytest.raises(RuntimeError, match="applied 0 elements of 4 updates"):
        sharding.gather_scatter(plan, shards, plan, shards)


def test_a_transposed_operand_is_another() -> None:
    data, square = np.zeros((3, 2)), np.array([[0.0, 1.0], [2.0, 3.0]])
    options = {"processes": False, "n_workers": 1, "dashboard_address": None}
    with distributed.Client(threads_per_worker=1, **options) as client:
        shards = [client.submit(np.zeros, (2, 2)), client.submit(np.zeros, (1, 2))]
        plan = sharding.plan_scatter_update(client, shards, [0, 2])
        kept = []  # for as long as Dask has results, it gives them for tasks of the same key
        for updates in (square, square.T):
            kept.append(sharding.scatter_update(client, shards, [0, 2], updates))
            kept.append(plan.scatter(shards, updates))
            expected = strew.scatter_update(data, [0, 2], updates)
            for found in kept[-2:]:
                assert np.concatenate(client.gather(found)).tolist() == expected.tolist()


def make(i: int) -> np.ndarray:
    return np.random.default_rng(i).standard_normal((ROWS[i], COLUMNS), np.float32)


def whole() -> np.ndarray:
    data = np.empty((sum(ROWS), COLUMNS), np.float32)
    for i, end in enumerate(np.cumsum(ROWS)):
        data[end - ROWS[i] : end] = make(i)
    return data


@pytest.fixture
def cluster(tmp_path) -> Iterator[distributed.LocalCluster]:
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        memory_limit=WORKER_LIMIT,
        dashboard_address=None,
        local_directory=str(tmp_path),
    ) as cluster:
        yield cluster


class Killer(threading.Thread):
    """Kills a worker that holds updated shards, while others are still to be made."""

    def __init__(self, cluster: distributed.LocalCluster):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.lost = 0

    def run(self) -> None:
        while not self.lost:
            time.sleep(0.01)
            tasks = list(self.cluster.scheduler.tasks.values())
            updated = [task for task in tasks if task.key.startswith("_apply")]
            done = [task for task in updated if task.state == "memory"]
            if 4 <= len(done) and len(updated) == len(ROWS):
                self.kill(done)

    def kill(self, done: list[Any]) -> None:
        nanny = next(iter(self.cluster.workers.values()))
        held = [t for t in done if any(w.address == nanny.worker_address for w in t.who_has)]
        if held and len(done) < len(ROWS):
            os.kill(nanny.pid, signal.SIGKILL)
            self.lost = len(held)


def test_rows_move_between_processes(cluster) -> None:
    random = np.random.default_rng(12)
    data = random.standard_normal((8, 3), np.float32)
    sources, targets = random.integers(0, 8, (2, 50))
    weights = random.standard_normal((50, 1), np.float32)
    with distributed.Client(cluster) as client:
        here, there = cluster.scheduler.workers
        shards = [
            client.submit(np.copy, part, workers=[worker], pure=False)
            for part, worker in zip(np.split(data, [3]), (here, there))
        ]
        from_plan = sharding.plan_scatter_update(client, shards, sources)
        to_plan = sharding.plan_scatter_update(client, shards, targets)
        assert from_plan.gather(shards).tobytes() == data[sources].tobytes()
        sums = sharding.gather_scatter(from_plan, shards, to_plan, shards, weights)
        found = np.concatenate(client.gather(sums))
    expected = strew.scatter_update(data, targets, data[sources] * weights, reduction="add")
    assert found.tobytes() == expected.tobytes()


def test_a_worker_dies(cluster) -> None:
    assert sum(ROWS) * COLUMNS * 4 > WORKER_LIMIT
    random = np.random.default_rng(8)
    indices = random.integers(-sum(ROWS), sum(ROWS), 1500)
    indices[::3] = indices[0]
    updates = random.standard_normal((indices.size, COLUMNS), np.float32)
    killer = Killer(cluster)
    killer.start()
    with distributed.Client(cluster) as client:
        shards = client.map(make, range(len(ROWS)))
        shards = sharding.scatter_update(client, shards, indices, updates, reduction="add")
        killer.join(10)
        assert killer.lost, "no worker was killed"
        expected = whole()
        strew.scatter_update(expected, indices, updates, reduction="add", out=expected)
        for i, end in enumerate(np.cumsum(ROWS)):
            shard = shards[i].result()
            assert shard.tobytes() == expected[end - ROWS[i] : end].tobytes()
