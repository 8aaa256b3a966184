# SPDX-License-Identifier: Apache-2.0
"""strew.jax against strew itself, and against what JAX makes of its own scatters."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

try:
    import jax

    import strew.jax as sj
except ImportError as error:
    pytest.skip(str(error), allow_module_level=True)

import jax.numpy as jnp
from jax.test_util import check_grads

import strew

jax.config.update("jax_enable_x64", True)

REDUCTIONS = ["none", "add", "mul", "min", "max", "sub", "mean"]
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64"
DTYPES = f"{DTYPES} complex64 complex128 float8_e4m3fn float8_e5m2".split()
INDEX_DTYPES = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
RANDOM = np.random.default_rng(20)

# Operator, shape of data, places, shape of updates and what stays when it is traced.
CASES = {
    "elements": ("scatter_elements", (4, 6), [[0, -1, 5], [2, 2, 2], [1, 0, 1], [-6, 3, 4]], (4, 3),
                 {"axis": 1}),
    "nd": ("scatter_nd", (4, 3, 5), [[0, 1], [3, -1], [0, 1], [2, 0], [1, 1]], (5, 5), {}),
    "nd elements": ("scatter_nd", (4, 3), [[0, 1], [3, -1], [0, 1]], (3,), {}),
    "nd whole": ("scatter_nd", (3, 2), [[], [], []], (3, 3, 2), {}),
    "update": ("scatter_update", (2, 5, 3), [[4, 0], [-5, 2]], (2, 2, 2, 3), {"axis": 1}),
    "update rows": ("scatter_update", (5, 3), [4, 0, 4], (3, 3), {}),
    "update scalar": ("scatter_update", (5, 3), 2, (3,), {}),
}


def random(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    return RANDOM.integers(1, 5, shape).astype(jnp.dtype(dtype))


def same(found: jax.Array, expected: np.ndarray) -> None:
    found = np.asarray(found)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


def bind(name: str, **more) -> tuple[Callable, Callable, tuple, np.ndarray, tuple]:
    """The operator of JAX and that of NumPy on data, indices and updates, and their shapes."""
    operator, shape, places, updates, how = CASES[name]
    how = how | more
    policies = {key: how.pop(key) for key in ("index_policy", "negative_indices") if key in how}
    indices = np.array(places, np.int32)
    ours = partial(getattr(sj, operator), **how, **policies)
    package = partial(getattr(strew, operator), **how, context=strew.Context(**policies))
    return ours, package, shape, indices, updates


def is_defined(dtype: str, reduction: str) -> bool:
    if dtype == "bool":
        return reduction != "mean"
    return not (dtype.startswith("complex") and reduction in ("min", "max"))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", CASES)
def test_all_dtypes(name, reduction) -> None:
    ours, package, shape, indices, updates = bind(name, reduction=reduction)
    for dtype in filter(lambda dtype: is_defined(dtype, reduction), DTYPES):
        data, values = random(shape, dtype), random(updates, dtype)
        before = data.copy()
        same(ours(data, indices, values), package(data, indices, values))
        assert data.tobytes() == before.tobytes()


@pytest.mark.parametrize("name", CASES)
def test_index_dtypes_and_policies(name) -> None:
    _, _, shape, indices, updates = bind(name)
    data, values = random(shape), random(updates)
    for dtype in INDEX_DTYPES:
        ours, package, *_ = bind(name, reduction="add")
        places = np.abs(indices).clip(0, 1).astype(dtype)
        same(ours(data, places, values), package(data, places, values))
    for policy in ("drop", "clamp"):
        for wrap in (True, False):
            ours, package, *_ = bind(name, index_policy=policy, negative_indices=wrap)
            places = indices * 3 - 4
            same(ours(data, places, values), package(data, places, values))


@pytest.mark.parametrize("how", [{"exclude_self": True}, {"wide": True}])
@pytest.mark.parametrize("name", CASES)
def test_exclude_self_and_wide(name, how) -> None:
    ours, package, shape, indices, updates = bind(name, reduction="add", **how)
    data, values = random(shape, "float16"), random(updates, "float16") / 3
    same(jax.jit(ours)(data, indices, values), package(data, indices, values))


SLICES = [
    ((7, 6), (3, 2), [1, -1], [5, 0], [2, -2], [1, 0]),
    ((7, 6), (7, 6), [-100], [2**40], None, None),
    ((7,), (3,), 2, 5, None, None),
]


@pytest.mark.parametrize("shape, updates, start, stop, step, axes", SLICES)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_slices(shape, updates, start, stop, step, axes, reduction) -> None:
    data, values = random(shape), random(updates)
    call = partial(sj.slice_scatter, reduction=reduction)
    expected = strew.slice_scatter(data, values, start, stop, step, axes, reduction=reduction)
    same(call(data, values, start, stop, step, axes), expected)
    traced = [None if ends is None else jnp.asarray(ends) for ends in (start, stop, step)]
    found = jax.jit(lambda *arrays: call(*arrays, axes))(data, values, *traced)
    same(found, expected)


def test_slices_broadcast_updates() -> None:
    data = random((4, 5))
    for updates in (random((5,)), random((1, 1)), np.float32(3)):
        expected = strew.slice_scatter(data, updates, 1, 3, reduction="add")
        same(sj.slice_scatter(data, updates, 1, 3, reduction="add"), expected)
    with pytest.raises(Exception, match="updates"):
        sj.slice_scatter(data, random((3, 5)), 1, 3).block_until_ready()


@pytest.mark.parametrize("mode, places", [("linear", [3, 0]), ("circular", [4, 9])])
def test_caches(mode, places) -> None:
    data, update = random((2, 5, 3), "bfloat16"), random((2, 2, 3), "bfloat16")
    expected = strew.tensor_scatter(data, update, places, mode=mode)
    same(sj.tensor_scatter(data, update, places, mode=mode), expected)
    same(sj.tensor_scatter(data, update), strew.tensor_scatter(data, update))


# ---- jit and donation ----


def test_donated_data_is_updated_in_place() -> None:
    add = jax.jit(partial(sj.scatter_update, reduction="add"), donate_argnums=0)
    data = jnp.zeros((1000, 100))
    memory = data.unsafe_buffer_pointer()
    for _ in range(3):
        data = add(data, jnp.array([1, 999]), jnp.ones((2, 100)))
    assert data.unsafe_buffer_pointer() == memory
    assert data.sum() == 600


def test_what_is_not_donated_stays() -> None:
    data = jnp.zeros(8)
    result = jax.jit(sj.scatter_update)(data, jnp.array([3]), jnp.ones(1))
    assert data.sum() == 0 and result.sum() == 1


def test_a_loop_updates_its_state_in_place() -> None:
    def step(data, index):
        return sj.scatter_update(data, index[None], jnp.ones(1), reduction="add"), None

    found, _ = jax.jit(lambda data: jax.lax.scan(step, data, jnp.arange(100) % 10))(jnp.zeros(10))
    assert found.tolist() == [10] * 10


# ---- errors ----


@pytest.mark.parametrize("is_donated", [False, True])
@pytest.mark.parametrize("name", ["elements", "nd", "update"])
def test_bad_indices(name, is_donated) -> None:
    ours, package, shape, indices, updates = bind(name, reduction="add")
    data, values = random(shape), random(updates)
    bad = indices.copy()
    bad[-1, 0] = 77
    with pytest.raises(strew.Error) as refused:
        package(data, bad, values)
    program = jax.jit(ours, donate_argnums=0 if is_donated else ())
    given = jnp.array(data)
    with pytest.raises((ValueError, jax.errors.JaxRuntimeError), match=re.escape(str(refused.value))):
        program(given, bad, values).block_until_ready()
    if not is_donated:
        same(given, data)
    same(program(jnp.array(data), indices, values), package(data, indices, values))


def test_nothing_is_written_before_an_error() -> None:
    """The array is that of the caller: a donated one would be gone."""
    data = np.zeros(64, np.float32)
    given = jnp.from_dlpack(data)
    with pytest.raises((ValueError, jax.errors.JaxRuntimeError), match="out of range"):
        sj.scatter_update(given, jnp.array([1, 64]), jnp.ones(2, "float32")).block_until_ready()
    assert not data.any()


def test_other_errors() -> None:
    data = jnp.zeros((2, 3))
    refused = (ValueError, jax.errors.JaxRuntimeError)
    with pytest.raises(refused, match="dtype"):
        sj.scatter_update(data, [0], jnp.zeros((1, 3), "float32")).block_until_ready()
    with pytest.raises(refused, match="updates"):
        sj.scatter_update(data, [0], jnp.zeros((2, 3))).block_until_ready()
    with pytest.raises(refused, match="axis"):
        sj.scatter_update(data, [0], jnp.zeros((1, 3)), 2).block_until_ready()
    with pytest.raises(refused, match="indices"):
        sj.scatter_update(data, [0, 0], data, duplicate_policy="error").block_until_ready()
    with pytest.raises(ValueError, match="reduction 'plus' is none of none, add"):
        sj.scatter_update(data, [0], jnp.zeros((1, 3)), reduction="plus")
    with pytest.raises(ValueError, match="same length"):
        sj.slice_scatter(data, data, [0, 0], 1)
    with pytest.raises(TypeError, match="integers"):
        sj.slice_scatter(data, data, 0.5, 1)
    with pytest.raises(TypeError):
        sj.scatter_update(data, [0], jnp.zeros((1, 3)), 0, "add")


# ---- gradients ----


def distinct(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Values in [1, 2) far enough apart for differences of 1e-3 to change no order."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    values = 1 + RANDOM.permutation(sum(sizes)) / sum(sizes)
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes)]


def differentiable(name: str, reduction: str, exclude_self: bool) -> tuple[Callable, tuple]:
    ours, _, shape, indices, updates = bind(name, reduction=reduction, exclude_self=exclude_self)
    return lambda data, values: ours(data, indices, values), distinct(shape, updates)


@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", CASES)
def test_gradients(name, reduction, exclude_self) -> None:
    if reduction == "sub" and exclude_self:
        return
    function, operands = differentiable(name, reduction, exclude_self)
    order = 2 if name in ("elements", "update rows") else 1
    check_grads(jax.jit(function), operands, order, modes=["rev"], eps=1e-3)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape, updates, start, stop, step, axes", SLICES)
def test_gradients_of_slices(shape, updates, start, stop, step, axes, reduction) -> None:
    operands = distinct(shape, updates)
    call = partial(sj.slice_scatter, reduction=reduction)
    check_grads(
        lambda *arrays: call(*arrays, start, stop, step, axes), operands, 1, modes=["rev"], eps=1e-3
    )
    ends = [None if end is None else jnp.asarray(end) for end in (start, stop, step)]
    check_grads(lambda *arrays: call(*arrays, *ends, axes), operands, 1, modes=["rev"], eps=1e-3)


@pytest.mark.parametrize("mode, places", [("linear", [3, 0]), ("circular", [4, 9])])
@pytest.mark.parametrize("policy", ["error", "drop", "clamp"])
def test_gradients_of_caches(mode, places, policy) -> None:
    operands = distinct((2, 5, 3), (2, 2, 3))
    if policy != "error":
        places = [-1, 3]
    call = partial(sj.tensor_scatter, mode=mode, index_policy=policy)
    check_grads(lambda *arrays: call(*arrays, places), operands, 1, modes=["rev"], eps=1e-3)


@pytest.mark.parametrize("policy", ["drop", "clamp"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ["elements", "nd", "update"])
def test_gradients_of_bad_indices(name, reduction, policy) -> None:
    ours, _, shape, indices, updates = bind(name, reduction=reduction, index_policy=policy)
    operands = distinct(shape, updates)
    function = lambda data, values: ours(data, indices * 3 - 4, values)  # noqa: E731
    check_grads(function, operands, order=1, modes=["rev"], eps=1e-3)


def test_gradients_of_ties_and_zeros() -> None:
    indices = jnp.array([0, 0, 0, 1, 1, 2])
    data = jnp.array([3.0, 0.0, 0.0, 1.0])
    updates = jnp.array([3.0, 3.0, 1.0, 0.0, 2.0, 5.0])

    def gradients(reduction: str) -> tuple[list[float], list[float]]:
        function = lambda *arrays: sj.scatter_update(  # noqa: E731
            arrays[0], indices, arrays[1], reduction=reduction
        ).sum()
        return tuple(g.tolist() for g in jax.grad(function, argnums=(0, 1))(data, updates))

    third = pytest.approx(1 / 3)
    assert gradients("max") == ([third, 0, 0, 1], [third, third, 0, 0, 1, 1])
    assert gradients("min") == ([0, 0.5, 1, 1], [0, 0, 1, 0.5, 0, 0])
    assert gradients("mul") == ([9, 0, 5, 1], [9, 9, 27, 0, 0, 0])
    assert gradients("none") == ([0, 0, 0, 1], [0, 0, 1, 0, 1, 1])


def test_forward_mode_is_refused() -> None:
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(lambda d: sj.scatter_update(d, [0], d[:1]), (jnp.ones(3),), (jnp.ones(3),))


# ---- batches ----


@pytest.mark.parametrize("which", range(1, 8))
@pytest.mark.parametrize("name", CASES)
def test_vmap(name, which) -> None:
    axes = tuple(0 if which & bit else None for bit in (1, 2, 4))
    ours, package, shape, indices, updates = bind(name, reduction="add", index_policy="drop")
    given = (random(shape), indices, random(updates))
    batches = [np.stack([one] * 3) if axis == 0 else one for one, axis in zip(given, axes)]
    for batch, axis, turn in zip(batches, axes, (1, 2, 3)):
        if axis == 0:
            batch += np.arange(3, dtype=batch.dtype).reshape(3, *[1] * (batch.ndim - 1)) * turn
    expected = [
        package(*(batch[i] if axis == 0 else batch for batch, axis in zip(batches, axes)))
        for i in range(3)
    ]
    same(jax.vmap(ours, axes)(*batches), np.stack(expected))
    same(jax.jit(jax.vmap(ours, axes))(*batches), np.stack(expected))


@pytest.mark.parametrize("name", ["elements", "nd", "update"])
def test_vmap_of_vmap_and_of_gradients(name) -> None:
    ours, package, shape, indices, updates = bind(name, reduction="none")
    data, values = random((2, 3, *shape)), random((2, 3, *updates))
    expected = [[package(data[i, j], indices, values[i, j]) for j in range(3)] for i in range(2)]
    twice = jax.vmap(jax.vmap(ours, (0, None, 0)), (0, None, 0))
    same(twice(data, indices, values), np.array(expected))

    def gradient(data, indices, values):
        return jax.grad(lambda *a: (ours(a[0], indices, a[1]) ** 2).sum(), argnums=(0, 1))(
            data, values
        )

    found = jax.vmap(gradient, (0, None, 0))(data[0], indices, values[0])
    for j in range(3):
        for whole, one in zip(found, gradient(data[0, j], indices, values[0, j])):
            same(whole[j], np.asarray(one))


def test_vmap_of_slices_and_caches() -> None:
    data, values = random((3, 7, 6)), random((3, 2, 6))
    expected = [strew.slice_scatter(data[i], values[i], 1, 3) for i in range(3)]
    same(jax.vmap(lambda *a: sj.slice_scatter(*a, 1, 3))(data, values), np.stack(expected))
    start, stop = jnp.array([1]), jnp.array([3])
    found = jax.vmap(lambda *a: sj.slice_scatter(*a, start, stop))(data, values)
    same(found, np.stack(expected))
    starts = jnp.arange(3)
    expected = [strew.slice_scatter(data[i], values[i], i, i + 2) for i in range(3)]
    found = jax.vmap(lambda d, v, at: sj.slice_scatter(d, v, at, at + 2))(data, values, starts)
    same(found, np.stack(expected))
    caches, update, places = random((3, 2, 5, 4)), random((3, 2, 1, 4)), np.array([4, 2])
    expected = [strew.tensor_scatter(caches[i], update[i], places) for i in range(3)]
    same(jax.vmap(sj.tensor_scatter, (0, 0, None))(caches, update, places), np.stack(expected))


# ---- the page ----

BLOCK = re.compile(r"^```python\n(.*?)^```$\n\n^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_page(capsys) -> None:
    page = Path(__file__).resolve().parents[2] / "doc" / "jax.md"
    names: dict[str, object] = {}
    for code, text in BLOCK.findall(page.read_text()):
        exec(compile(code, str(page), "exec"), names)
        assert capsys.readouterr().out == text


# ---- threads ----

LARGE = """
import os, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[1])])
import jax, numpy as np
import jax.numpy as jnp
import strew, strew.jax as sj
random = np.random.default_rng(1)
data, updates = random.random((40000, 64), "float32"), random.random((80000, 64), "float32")
indices = random.integers(0, 40000, 80000)
few = random.random(64, "float32")
expected = strew.scatter_update(data, indices, updates, reduction="add").tobytes()
add = jax.jit(lambda *a: sj.scatter_update(*a, reduction="add"))
for _ in range(3):
    assert np.asarray(add(data, indices, updates)).tobytes() == expected
# Several calls in one program, which XLA may run at the same time on its own threads.
def several(data, indices, updates):
    calls = [sj.scatter_update(data + i, indices, updates, reduction="add") for i in range(6)]
    return sum(jnp.sum(call) for call in calls)
first = jax.jit(several)(data, indices, updates)
for _ in range(5):
    assert jax.jit(several)(data, indices, updates) == first
"""


@pytest.mark.parametrize("cpus", ["1", "64"])
def test_large_calls_on_the_threads_of_xla(cpus) -> None:
    command = [sys.executable, "-c", LARGE, cpus]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
