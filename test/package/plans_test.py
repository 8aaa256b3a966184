# SPDX-License-Identifier: Apache-2.0
"""Plans: results against NumPy and against the operators, dropped entries, errors and threads."""

from __future__ import annotations

import copy
import ctypes
import gc
import inspect
import pickle
import re
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import strew

Array = np.ndarray
DROP = {"index_policy": "drop", "negative_indices": False}


def random(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, 5, shape).astype(dtype)


class Case:
    """An operator, its plan, and what NumPy gathers with the same indices."""

    def __init__(self, name: str, dtype: Any = "float32"):
        self.data = random((4, 6, 5), dtype, 1)
        n = np.arange(3)
        if name == "elements":
            self.indices = np.random.default_rng(2).integers(-6, 6, (4, 7, 3), np.int32)
            self.plan = strew.plan_scatter_elements(self.indices, 6, 1)
            self.operator: Callable[..., Array] = self._axis(strew.scatter_elements, 1)
            self.gather = lambda source: np.take_along_axis(source[..., :3], self.indices, 1)
            self.key: Any = (np.arange(4)[:, None, None], self.indices, n)
        elif name == "nd":
            self.indices = np.random.default_rng(3).integers([-4, -6], [4, 6], (3, 5, 2), np.int16)
            self.plan = strew.plan_scatter_nd(self.indices, self.data.shape[:2])
            self.operator = strew.scatter_nd
            self.key = (self.indices[..., 0], self.indices[..., 1])
            self.gather = lambda source: source[self.key]
        else:
            self.indices = np.random.default_rng(4).integers(-5, 5, (2, 4))
            self.plan = strew.plan_scatter_update(self.indices, 5, -1)
            self.operator = self._axis(strew.scatter_update, -1)
            self.key = (slice(None), slice(None), self.indices)
            self.gather = lambda source: np.take(source, self.indices, axis=-1, mode="wrap")
        self.updates = random(self.gather(self.data).shape, dtype, 5)

    def _axis(self, operator: Callable[..., Array], axis: int) -> Callable[..., Array]:
        return lambda data, indices, updates, **how: operator(data, indices, updates, axis, **how)


CASES = ["elements", "nd", "update"]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("reduction", ["none", "add", "sub", "mul", "min", "max", "mean"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "float16"])
def test_scatter_is_the_operator(name, exclude_self, reduction, dtype) -> None:
    if reduction == "sub" and exclude_self:
        return
    case = Case(name, dtype)
    data, how = case.data.copy(), {"reduction": reduction, "exclude_self": exclude_self}
    expected = case.operator(data, case.indices, case.updates, **how)
    new = case.plan.scatter(data, case.updates, **how)
    given = np.empty_like(data)
    assert case.plan.scatter(data, case.updates, **how, out=given) is given
    assert data.tobytes() == case.data.tobytes()
    assert case.plan.scatter(data, case.updates, **how, out=data) is data
    for found in (new, given, data):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", CASES)
def test_sums_are_those_of_numpy(name) -> None:
    case = Case(name)
    expected = case.data.copy()
    np.add.at(expected, case.key, case.updates)
    assert case.plan.scatter(case.data, case.updates, reduction="add").tolist() == expected.tolist()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["bool", "u2", "f8", "c16", "M8[s]", "S3", "f4,i1"])
def test_gather(name, dtype) -> None:
    case = Case(name)
    source = random((4, 6, 5), np.int32, 6).astype(dtype)
    expected = case.gather(source)
    new = case.plan.gather(source)
    given = np.empty_like(expected)
    assert case.plan.gather(source, out=given) is given
    for found in (new, given):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()


def test_gather_is_the_gradient_of_a_sum_on_any_width() -> None:
    plan = strew.plan_scatter_update([2, 0, 2], 4)
    for shape in ((4,), (4, 3), (4, 2, 5)):
        data = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
        assert plan.gather(data).tolist() == data[[2, 0, 2]].tolist()
        updates = np.ones((3, *shape[1:]))
        expected = data.copy()
        np.add.at(expected, [2, 0, 2], updates)
        assert plan.scatter(data, updates, reduction="add").tolist() == expected.tolist()


def test_shapes_without_elements_and_dims() -> None:
    empty = strew.plan_scatter_update([], 4)
    assert (empty.entries, empty.dropped) == (0, 0)
    assert empty.gather(np.ones((4, 2))).shape == (0, 2)
    one = strew.plan_scatter_nd([1, 2], (3, 4))
    assert one.entries == 1 and one.gather(np.arange(12).reshape(3, 4)) == 6
    all_of_it = strew.plan_scatter_nd(np.empty((2, 0), int), ())
    assert all_of_it.gather(np.arange(3)).tolist() == [[0, 1, 2]] * 2
    row = strew.plan_scatter_update(-1, 3)
    assert row.gather(np.eye(3)).tolist() == [0, 0, 1]
    assert strew.plan_scatter_elements([0, 2], 3).gather([5, 6, 7]).tolist() == [5, 7]


@pytest.mark.parametrize("extents", [4, [4], (4,), np.array([4], np.uint8), np.int64(4)])
def test_extents_are_numbers(extents) -> None:
    plan = strew.plan_scatter_nd([[3], [-1]], extents)
    assert plan.gather(np.arange(4)).tolist() == [3, 3]


def test_policies_are_those_of_the_plan() -> None:
    indices, updates = [3, -1, 0, 9], np.arange(1.0, 5)
    data, other = np.zeros(4), strew.Context(index_policy="clamp", duplicate_policy="error")
    for policies, expected in (
        (DROP, [3, 0, 0, 1]),
        ({"index_policy": "clamp"}, [3, 0, 0, 4]),
        ({"index_policy": "clamp", "negative_indices": False}, [3, 0, 0, 4]),
    ):
        given = strew.Context(**policies)
        plan = strew.plan_scatter_update(indices, 4, context=given)
        found = strew.scatter_update(data, indices, updates, context=given)
        assert found.tolist() == expected
        assert plan.scatter(data, updates, context=other).tolist() == expected
        assert other.applied == given.applied


def test_dropped_entries() -> None:
    context, data = strew.Context(**DROP), np.arange(1.0, 9).reshape(4, 2)
    plan = strew.plan_scatter_update([3, -1, 0, 9], 4, context=context)
    assert (plan.entries, plan.dropped) == (4, 2)
    # Zeros in a new array, and as they are in that of the caller.
    assert plan.gather(data).tolist() == [[7, 8], [0, 0], [1, 2], [0, 0]]
    out = np.full((4, 2), 5.0)
    plan.gather(data, out=out)
    assert out.tolist() == [[7, 8], [5, 5], [1, 2], [5, 5]]
    applied = strew.Context()
    found = plan.scatter(data, np.ones((4, 2)), reduction="add", context=applied)
    assert found.tolist() == [[2, 3], [3, 4], [5, 6], [8, 9]] and applied.applied == 4
    texts = np.array(["a", "b", "c", "d"])
    assert plan.gather(texts).tolist() == ["d", "", "a", ""]


def test_wide_rounds_once() -> None:
    data, ones = np.full(2, 2048, "f2"), np.ones(64, "f2")
    plan = strew.plan_scatter_update([0] * 64, 2)
    rows = strew.plan_scatter_update(range(64), 64)
    for wide, expected in ((False, 2048), (True, 2112)):
        how = {"reduction": "add", "wide": wide}
        assert plan.scatter(data, ones, **how).tolist() == [expected, 2048]
        found = strew.gather_scatter(rows, ones, plan, data, **how)
        assert found.tolist() == [expected, 2048]


WEIGHTS = [None, (), (1,), (7,), (1, 7), (9, 1), (9, 7)]


@pytest.mark.parametrize("shape", WEIGHTS, ids=str)
@pytest.mark.parametrize("reduction", ["none", "add", "min", "max", "mean"])
def test_gather_scatter(shape, reduction) -> None:
    source, data = random((5, 7), "f4", 1), random((6, 7), "f4", 2)
    from_plan = strew.plan_scatter_update(np.random.default_rng(3).integers(0, 5, 9), 5)
    to_plan = strew.plan_scatter_update(np.random.default_rng(4).integers(0, 6, 9), 6)
    weights = None if shape is None else random(shape, "f4", 5)
    updates = from_plan.gather(source) * (np.float32(1) if weights is None else weights)
    expected = to_plan.scatter(data, updates, reduction=reduction)
    how = {"weights": weights, "reduction": reduction}
    new = strew.gather_scatter(from_plan, source, to_plan, data, **how)
    assert new.dtype == data.dtype and new.tobytes() == expected.tobytes()
    given = np.empty_like(data)
    assert strew.gather_scatter(from_plan, source, to_plan, data, **how, out=given) is given
    assert strew.gather_scatter(from_plan, source, to_plan, data, **how, out=data) is data
    assert given.tobytes() == data.tobytes() == expected.tobytes()


def test_gather_scatter_of_a_graph() -> None:
    """A product of a sparse and a dense matrix."""
    edges, weights = np.array([[0, 0, 2, 1], [1, 2, 0, 1]]), np.array([1.0, 2.0, 3.0, 4.0])
    nodes = np.arange(6.0).reshape(3, 2)
    sources = strew.plan_scatter_update(edges[0], 3)
    targets = strew.plan_scatter_update(edges[1], 3)
    messages = strew.gather_scatter(
        sources, nodes, targets, np.zeros((3, 2)), weights[:, None], out=None
    )
    matrix = np.zeros((3, 3))
    matrix[edges[1], edges[0]] = weights
    assert messages.tolist() == (matrix @ nodes).tolist()
    dropping = strew.plan_scatter_update([1, -1, 0, 1], 3, context=strew.Context(**DROP))
    matrix[2] = 0
    messages = strew.gather_scatter(sources, nodes, dropping, np.zeros((3, 2)), weights[:, None])
    assert messages.tolist() == (matrix @ nodes).tolist()


def test_sentences_name_a_plan_by_its_tensor() -> None:
    edges, rows = strew.plan_scatter_update([0, 2, 1], 3), strew.plan_scatter_update([0, 1], 3)
    for source, sentence in (
        (np.ones((3, 2)), r"source gathers updates of shape \[3,2\], .* data .* shape \[2,2\]"),
        (np.ones(3), "source gathers updates of rank 1, .* data scatters updates of rank 2"),
    ):
        with pytest.raises(ValueError, match=f"the plan for {sentence}"):
            strew.gather_scatter(edges, source, rows, np.zeros((3, 2)))


def test_the_example_of_the_readme() -> None:
    sources, targets = [0, 0, 2, 1], [1, 2, 0, 1]  # edges of a graph of 3 nodes
    weights, nodes = np.array([[1.0], [2.0], [3.0], [4.0]]), np.arange(6.0).reshape(3, 2)
    from_plan = strew.plan_scatter_update(sources, len(nodes))
    to_plan = strew.plan_scatter_update(targets, len(nodes))
    rows = from_plan.gather(nodes)  # as nodes[sources]
    sums = to_plan.scatter(np.zeros((3, 2)), rows * weights, reduction="add")
    same = strew.gather_scatter(from_plan, nodes, to_plan, np.zeros((3, 2)), weights)
    assert rows.tolist() == nodes[sources].tolist()
    assert sums.tolist() == same.tolist() == [[12, 15], [8, 13], [0, 2]]


def test_operands_by_dlpack() -> None:
    torch = pytest.importorskip("torch")
    indices = torch.tensor([2, 0, 2])
    plan = strew.plan_scatter_update(indices, 4)
    for dtype in (torch.float32, torch.int64, torch.bfloat16):
        data = torch.arange(8).reshape(4, 2).to(dtype)
        updates = torch.ones(3, 2, dtype=dtype)
        rows = torch.empty(3, 2, dtype=dtype)
        assert plan.gather(data, out=rows) is rows
        assert torch.equal(rows, data.index_select(0, indices))
        expected = data.clone().index_add_(0, indices, updates)
        twice = data.clone().index_add_(0, indices, data[indices])
        found = data.clone()
        assert strew.gather_scatter(plan, data, plan, found, out=found) is found
        assert torch.equal(found, twice)
        assert plan.scatter(data, updates, reduction="add", out=data) is data
        assert torch.equal(data, expected)
    assert isinstance(plan.gather(data.float()), torch.Tensor)


def test_operands_of_jax() -> None:
    jax = pytest.importorskip("jax")
    data = jax.numpy.arange(8.0).reshape(4, 2).astype("bfloat16")
    plan = strew.plan_scatter_update(jax.numpy.array([2, 0]), 4)
    rows = plan.gather(data)
    assert isinstance(rows, jax.Array) and rows.dtype == data.dtype
    assert rows.astype(float).tolist() == [[4, 5], [0, 1]]
    with pytest.raises(TypeError, match="out must be an array that can be written"):
        plan.gather(data, out=data[:2])


def test_other_operands() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    plan = strew.plan_scatter_update((ctypes.c_int * 2)(1, -1), 4)
    data = np.arange(4).astype(ml_dtypes.float8_e5m2)
    rows = plan.gather(data[::-1])
    assert rows.dtype == data.dtype and rows.astype(float).tolist() == [2, 0]
    assert plan.gather([5, 6, 7, 8]).tolist() == [6, 8]
    assert plan.gather(memoryview(b"abcd")).tolist() == [ord("b"), ord("d")]
    assert plan.gather(np.arange(8)[::2]).tolist() == [2, 6]
    assert plan.scatter([0, 0, 0, 0], [1, 2]).tolist() == [0, 1, 0, 2]


def plan_of_rows() -> strew.Plan:
    return strew.plan_scatter_update([1, 2], 4)


ROWS, TWO = np.zeros((4, 3), np.float32), np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    "status, sentence, call",
    [
        ("INVALID_SHAPE", "data has shape", lambda plan: plan.scatter(ROWS[:3], TWO)),
        ("INVALID_SHAPE", "updates has shape", lambda plan: plan.scatter(ROWS, TWO[:, :2])),
        ("INVALID_SHAPE", "source has shape", lambda plan: plan.gather(ROWS[:3])),
        ("INVALID_SHAPE", "source has rank 0", lambda plan: plan.gather(np.float32(1))),
        ("INVALID_SHAPE", "output has shape", lambda plan: plan.gather(ROWS, out=TWO[:1].copy())),
        ("INVALID_DTYPE", "output", lambda plan: plan.gather(ROWS, out=TWO.astype("f8"))),
        ("INVALID_DTYPE", "updates", lambda plan: plan.scatter(ROWS, TWO.astype("f8"))),
        ("OVERLAPPING_MEMORY", "output", lambda plan: plan.gather(OUT, out=OUT[:2])),
        ("OVERLAPPING_MEMORY", "output", lambda plan: plan.scatter(OUT, OUT[:2], out=OUT)),
        ("INVALID_DTYPE", "out is of dtype datetime64.* source of datetime64",
         lambda plan: plan.gather(np.zeros(4, "M8[s]"), out=np.zeros(2, "M8[D]"))),
        ("INVALID_DTYPE", "source is of dtype datetime64.* data of datetime64",
         lambda plan: strew.gather_scatter(plan, np.zeros(4, "M8[D]"), plan, np.zeros(4, "M8[s]"),
                                           reduction="none")),
        ("INVALID_SHAPE", "weights",
         lambda plan: strew.gather_scatter(plan, ROWS, plan, ROWS, TWO[:, :2])),
        ("INVALID_ARGUMENT", "exclude-self",
         lambda plan: plan.scatter(ROWS, TWO, reduction="sub", exclude_self=True)),
        ("INVALID_AXIS", "axis",
         lambda plan: strew.plan_scatter_update([1, 2], 4, 2).gather(ROWS)),
        ("INVALID_SHAPE", "rank",
         lambda plan: strew.gather_scatter(plan, ROWS, strew.plan_scatter_update(0, 4), ROWS)),
    ],
)  # fmt: skip
def test_calls_that_are_refused(status, sentence, call) -> None:
    with pytest.raises(strew.Error, match=sentence) as error:
        call(plan_of_rows())
    assert error.value.status == f"STREW_{status}" and error.value.position == -1
    assert not ROWS.any() and not TWO.any()


OUT = np.zeros((4, 3), np.float32)


@pytest.mark.parametrize(
    "status, sentence, call",
    [
        ("INVALID_ARGUMENT", "extent = -1, but", lambda: strew.plan_scatter_update([0], -1)),
        ("INVALID_ARGUMENT", "1. = -4, but must",
         lambda: strew.plan_scatter_nd([[0, 0]], (2, -4))),
        ("INVALID_DTYPE", "not an integer", lambda: strew.plan_scatter_update([0.5], 2)),
        ("INVALID_SHAPE", "rank 0", lambda: strew.plan_scatter_elements(0, 2)),
        ("INVALID_SHAPE", "rank 0", lambda: strew.plan_scatter_nd(0, 2)),
        ("INVALID_AXIS", "axis", lambda: strew.plan_scatter_elements([0], 2, 1)),
        ("SIZE_OVERFLOW", "too many", lambda: strew.plan_scatter_nd([[0, 0]], (2**40, 2**40))),
        ("INVALID_SHAPE", "extents has 1 numbers, but a tuple of indices has 2",
         lambda: strew.plan_scatter_nd([[0, 0]], 2)),
        ("INVALID_SHAPE", "extents has 3 numbers, but a tuple of indices has 2",
         lambda: strew.plan_scatter_nd([[0, 0]], np.array([2, 2, 2]))),
    ],
)  # fmt: skip
def test_plans_that_are_refused(status, sentence, call) -> None:
    with pytest.raises(strew.Error, match=sentence) as error:
        call()
    assert error.value.status == f"STREW_{status}" and error.value.position == -1


def test_errors_of_indices_are_those_of_the_operator() -> None:
    data, indices = np.zeros((2, 4)), np.array([[0, 1, 2], [3, 0, 7]])
    unique = strew.Context(duplicate_policy="error")
    for values, context in ((indices, None), (indices % 4, unique), (indices % 3, unique)):
        with pytest.raises(strew.Error) as expected:
            strew.scatter_update(data, values, np.zeros((2, 2, 3)), 1, context=context)
        with pytest.raises(strew.Error) as found:
            strew.plan_scatter_update(values, 4, 1, context=context)
        assert (found.value.status, found.value.position) == (
            expected.value.status,
            expected.value.position,
        )
        assert re.match(r"indices\[", str(found.value)), str(found.value)


@pytest.mark.parametrize(
    "call",
    {
        "reduction": lambda: plan_of_rows().scatter(ROWS, TWO, "add"),
        "plan": lambda: strew.gather_scatter(None, ROWS, plan_of_rows(), ROWS),
        "order": lambda: strew.gather_scatter(plan_of_rows(), plan_of_rows(), ROWS, ROWS),
        "updates": lambda: plan_of_rows().scatter(ROWS, None),
        "extent": lambda: strew.plan_scatter_update([0], 2.5),
        "extents": lambda: strew.plan_scatter_nd([[0]], [2.5]),
        "no extents": lambda: strew.plan_scatter_nd([[0]], None),
        "no constructor": lambda: strew.Plan(),
        "masks": lambda: plan_of_rows().gather(np.ma.zeros(4)),
    }.values(),
)
def test_type_errors(call) -> None:
    with pytest.raises(TypeError):
        call()


def test_unknown_names() -> None:
    for call in (
        lambda: plan_of_rows().scatter(ROWS, TWO, reduction="plus"),
        lambda: strew.gather_scatter(plan_of_rows(), ROWS, plan_of_rows(), ROWS, reduction="plus"),
    ):
        with pytest.raises(ValueError, match="none, add, mul"):
            call()


def test_properties_and_text() -> None:
    context = strew.Context(**DROP)
    plan = strew.plan_scatter_update(np.array([[3, -1], [0, 9]]), 4, -2, context=context)
    assert (plan.entries, plan.dropped) == (4, 2) and 0 < plan.memory <= 4 * 24 + (64 << 10)
    assert repr(plan) == (
        "<strew.Plan of scatter_update: indices [2,2], axis -2 of 4 elements; "
        f"4 entries, 2 dropped, {plan.memory} bytes>"
    )
    tuples = repr(strew.plan_scatter_nd(np.zeros((3, 2), int), (4, 5)))
    assert tuples.startswith("<strew.Plan of scatter_nd: indices [3,2], extents [4,5]; 3 entries")
    large = strew.plan_scatter_elements(np.zeros(1 << 16, int), 9)
    assert large.entries == 1 << 16 and large.memory <= (1 << 16) * 24 + (64 << 10)
    for name in ("entries", "dropped", "memory"):
        with pytest.raises(AttributeError):
            setattr(plan, name, 0)


def test_pickling_is_refused() -> None:
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="a Plan cannot be pickled: make it from its indices"):
            call(plan_of_rows())


def test_a_plan_outlives_its_indices() -> None:
    indices = np.array([3, 1])
    before = sys.getrefcount(indices)
    plan = strew.plan_scatter_update(indices, 4)
    assert sys.getrefcount(indices) == before
    indices[:] = 1 << 40
    del indices
    gc.collect()
    assert plan.gather(np.arange(4)).tolist() == [3, 1]


def test_nothing_keeps_plans_and_operands() -> None:
    plan, data, rows = plan_of_rows(), ROWS.copy(), TWO.copy()
    alive = weakref.ref(plan)
    before = [sys.getrefcount(object) for object in (plan, data, rows)]
    for _ in range(10):
        plan.gather(data, out=rows)
        plan.scatter(data, rows, out=data)
        strew.gather_scatter(plan, ROWS, plan, data, rows, out=data)
        with pytest.raises(strew.Error):
            plan.scatter(rows, rows)
    assert before == [sys.getrefcount(object) for object in (plan, data, rows)]
    del plan
    assert alive() is None


def test_memory_is_freed() -> None:
    resource = pytest.importorskip("resource")
    indices = np.random.default_rng(1).integers(0, 1 << 18, 1 << 18)
    one = strew.plan_scatter_update(indices, 1 << 18).memory
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(64):
        strew.plan_scatter_update(indices, 1 << 18)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown << 10 < 16 * one


def test_extents_of_64_bits() -> None:
    far = [1 << 40, -1, 5]
    plan = strew.plan_scatter_update(far, 1 << 41)
    data = np.broadcast_to(np.int8(7), (1 << 41,))
    assert plan.gather(data).tolist() == [7, 7, 7]
    with pytest.raises(strew.Error, match="out of range .*2199023255551"):
        strew.plan_scatter_update([1 << 41], 1 << 41)
    plan = strew.plan_scatter_nd([[1 << 33, 1]], np.array([1 << 34, 2]))
    assert plan.gather(np.broadcast_to(np.arange(2), (1 << 34, 2))).tolist() == [1]
    assert plan.scatter(np.empty((1 << 34, 2, 0)), [[]]).size == 0


def test_eight_threads_share_a_plan() -> None:
    n, width = 20_000, 8
    indices = np.random.default_rng(1).integers(0, 1000, n)
    plan = strew.plan_scatter_update(indices, 1000)
    data, updates = random((1000, width), "f4", 2), random((n, width), "f4", 3)
    sums = strew.scatter_update(data, indices, updates, reduction="add")
    rows = data[indices]
    failures: list[Any] = []

    def work(seed: int) -> None:
        context = strew.Context(num_threads=1 + seed % 2) if threaded else None
        for _ in range(10):
            found = plan.scatter(data, updates, reduction="add", context=context)
            twice = strew.gather_scatter(plan, data, plan, data, context=context)
            if found.tobytes() != sums.tobytes() or plan.gather(data).tobytes() != rows.tobytes():
                failures.append(seed)
            if twice.tobytes() != together.tobytes():
                failures.append(seed)

    threaded = True
    try:
        strew.Context(num_threads=2)
    except strew.Error:
        threaded = False
    together = plan.scatter(data, rows, reduction="add")
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_documentation() -> None:
    assert all(name in strew.__all__ for name in ("Plan", "gather_scatter"))
    makers = [name for name in strew.__all__ if name.startswith("plan_")]
    assert len(makers) == 3
    for name in makers:
        text = getattr(strew, name).__doc__
        assert name.removeprefix("plan_") + "()" in text and "Raises strew.Error" in text
    for function in (strew.gather_scatter, strew.Plan.scatter, strew.Plan.gather):
        text = function.__doc__
        assert re.search(r"^ +output", text, re.M) and "Raises strew.Error" in text
        assert max(map(len, text.splitlines()[1:])) <= 100
    assert "zeros" in inspect.getdoc(strew.Plan.gather)
