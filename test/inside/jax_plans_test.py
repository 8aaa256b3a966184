# SPDX-License-Identifier: Apache-2.0
"""Plans of strew.jax against those of strew."""

from __future__ import annotations

import copy
import gc
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import strew
import strew.jax as sj

jax.config.update("jax_enable_x64", True)

RANDOM = np.random.default_rng(20)
NODES, EDGES, WIDTH = 7, 12, 3
SOURCE = RANDOM.integers(-NODES, NODES, EDGES)
TARGET = RANDOM.integers(0, NODES, EDGES)

# The constructor, what it takes, the shape of data, and that of updates.
PLANS = {
    "update": ("plan_scatter_update", (SOURCE, NODES), (NODES, WIDTH), (EDGES, WIDTH)),
    "update of an axis": ("plan_scatter_update", (SOURCE, NODES, 1), (2, NODES), (2, EDGES)),
    "elements": ("plan_scatter_elements", (SOURCE.reshape(2, 6), NODES, 1), (2, NODES), (2, 6)),
    "nd": ("plan_scatter_nd", (SOURCE.reshape(6, 2) % 4, (4, 4)), (4, 4, 3), (6, 3)),
}


def random(*shape: int) -> np.ndarray:
    return RANDOM.integers(1, 9, shape).astype(np.float64)


def same(found: jax.Array, expected: np.ndarray) -> None:
    assert found.shape == expected.shape and np.asarray(found).tobytes() == expected.tobytes()


def pair() -> tuple[sj.Plan, sj.Plan, strew.Plan, strew.Plan]:
    return (
        sj.plan_scatter_update(SOURCE, NODES),
        sj.plan_scatter_update(TARGET, NODES),
        strew.plan_scatter_update(SOURCE, NODES),
        strew.plan_scatter_update(TARGET, NODES),
    )


@pytest.mark.parametrize("name", PLANS)
def test_gather(name) -> None:
    make, arguments, shape, updates = PLANS[name]
    source = random(*shape)
    plan = getattr(sj, make)(*arguments)
    expected = getattr(strew, make)(*arguments).gather(source)
    assert expected.shape == updates
    same(plan.gather(source), expected)
    same(jax.jit(lambda plan, source: plan.gather(source))(plan, source), expected)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max", "sub", "mean"])
@pytest.mark.parametrize("weights", [None, (EDGES, 1), (EDGES, WIDTH), (WIDTH,), ()])
def test_gather_scatter(reduction, weights) -> None:
    source_plan, target_plan, *package = pair()
    source, data = random(NODES, WIDTH), random(NODES, WIDTH)
    factors = None if weights is None else random(*weights)
    expected = strew.gather_scatter(
        package[0], source, package[1], data, factors, reduction=reduction
    )

    def call(source, data, factors):  # closes over the plans
        return sj.gather_scatter(
            source_plan, source, target_plan, data, factors, reduction=reduction
        )

    same(call(source, data, factors), expected)
    same(jax.jit(call)(source, data, factors), expected)


def test_dropped_entries() -> None:
    places = [0, 9, 2]
    plan = sj.plan_scatter_update(places, 3, index_policy="drop")
    package = strew.plan_scatter_update(places, 3, context=strew.Context(index_policy="drop"))
    source = random(3, 2)
    assert plan.gather(source)[1].tolist() == [0, 0]
    expected = strew.gather_scatter(package, source, package, source)
    same(sj.gather_scatter(plan, source, plan, source), expected)


@pytest.mark.parametrize("reduction", ["add", "sub"])
@pytest.mark.parametrize("weights", [None, (EDGES, 1), (EDGES, WIDTH), (WIDTH,), ()])
def test_gradients(reduction, weights) -> None:
    source_plan, target_plan, *_ = pair()
    operands = [random(NODES, WIDTH), random(NODES, WIDTH)]
    if weights is not None:
        operands.append(random(*weights))

    def call(source, data, *factors):
        return sj.gather_scatter(
            source_plan, source, target_plan, data, *factors, reduction=reduction
        )

    check_grads(call, operands, order=1, modes=["rev"], eps=1e-3)
    check_grads(jax.jit(call), operands, order=1, modes=["rev"], eps=1e-3)


def test_other_gradients_are_refused() -> None:
    plan = sj.plan_scatter_update([0, 1], 2)
    with pytest.raises(NotImplementedError, match="add"):
        jax.grad(lambda x: sj.gather_scatter(plan, x, plan, x, reduction="max").sum())(jnp.ones(2))
    with pytest.raises(NotImplementedError, match="gather"):
        jax.grad(lambda x: plan.gather(x).sum())(jnp.ones(2))


def test_a_plan_stays_in_its_process() -> None:
    plan = sj.plan_scatter_update([0, 1], 2)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(plan)
    assert copy.copy(plan) is plan and copy.deepcopy([plan])[0] is plan


def test_vmap() -> None:
    source_plan, target_plan, *package = pair()
    source, data = random(4, NODES, WIDTH), random(NODES, WIDTH)
    found = jax.vmap(lambda one: sj.gather_scatter(source_plan, one, target_plan, data))(source)
    expected = [strew.gather_scatter(package[0], one, package[1], data) for one in source]
    same(found, np.stack(expected))


def test_plans_outlive_their_calls() -> None:
    """XLA runs a program when its plan has gone from Python already."""
    source = random(NODES, WIDTH)
    expected = strew.plan_scatter_update(SOURCE, NODES).gather(source)
    gather = jax.jit(lambda plan, source: plan.gather(source))
    results = []
    for _ in range(200):
        results.append(gather(sj.plan_scatter_update(SOURCE, NODES), source))
        gc.collect(0)
    for found in results:
        same(found, expected)


def test_a_plan_that_is_gone() -> None:
    from strew._jax_native import drop_plan

    plan = sj.plan_scatter_update(SOURCE, NODES)
    drop_plan(int(np.asarray(plan._number).view(np.int64)[0]))
    with pytest.raises((ValueError, jax.errors.JaxRuntimeError), match="has been freed"):
        plan.gather(random(NODES, 1)).block_until_ready()


def test_errors() -> None:
    refused = (ValueError, jax.errors.JaxRuntimeError)
    with pytest.raises(refused, match=r"indices\[1\] = 9 is out of range"):
        sj.plan_scatter_update([0, 9], 3)
    with pytest.raises(refused, match="duplicate|earlier|twice|same"):
        sj.plan_scatter_update([0, 0], 3, duplicate_policy="error")
    with pytest.raises(refused, match="extents"):
        sj.plan_scatter_nd([[0, 1]], [3])
    plan = sj.plan_scatter_update([0, 1], 3)
    with pytest.raises(refused, match="source"):
        plan.gather(random(4, 2)).block_until_ready()
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(lambda indices: sj.plan_scatter_update(indices, 3))(jnp.array([0]))
