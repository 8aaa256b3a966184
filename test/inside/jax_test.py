# SPDX-License-Identifier: Apache-2.0
"""strew.jax against strew itself, and against what JAX makes of its own scatters."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from itertools import product
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_cases import CASES, REDUCTIONS, SLICES, bind, random, same

import strew
import strew.jax as sj

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64"
DTYPES = f"{DTYPES} complex64 complex128 float8_e4m3fn float8_e5m2".split()
INDEX_DTYPES = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()


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


REFUSED = (ValueError, jax.errors.JaxRuntimeError)


def test_slices_by_arrays_refuse_other_shapes_when_traced() -> None:
    """A gradient of updates that were broadcast would have to be summed over unknown dims."""
    data, ends = jnp.zeros((3, 2, 4)), (jnp.array([1, 0]), jnp.array([3, 2]))
    write = partial(sj.slice_scatter, axes=(0, -1))
    for shape in ((), (2,), (2, 2), (1, 2, 2, 2)):
        with pytest.raises(ValueError, match=rf"updates has rank {len(shape)}, but data has rank 3"):
            write(data, jnp.ones(shape), *ends)
    with pytest.raises(ValueError, match="updates has extent 1 on axis 1, but data has 2"):
        write(data, jnp.ones((2, 1, 2)), *ends)
    with pytest.raises(ValueError, match="updates has extent 5 on axis 2, but data has 4"):
        write(data, jnp.ones((2, 2, 5)), *ends)
    with pytest.raises(ValueError, match="updates has extent 1 on axis 0, but data has 0"):
        sj.slice_scatter(jnp.zeros(0), jnp.ones(1), jnp.array(0), 1)
    with pytest.raises(ValueError, match="updates has rank 2"):
        jax.grad(lambda updates: write(data, updates, *ends).sum())(jnp.ones((2, 2)))
    with pytest.raises(ValueError, match="updates has rank 2, but data has rank 3"):
        jax.vmap(lambda updates: write(data, updates, *ends))(jnp.ones((5, 2, 2)))


@pytest.mark.parametrize("dtype", INDEX_DTYPES)
def test_slices_by_arrays_refuse_other_shapes_when_run(dtype) -> None:
    data = np.zeros((3, 2))
    given = jnp.from_dlpack(data)
    start, stop = jnp.array([1], dtype), jnp.array([3], dtype)
    fault = re.escape("updates has shape [1,2], but the slice has [2,2]")
    gradient = jax.grad(lambda u: sj.slice_scatter(given, u, start, stop).sum())
    for call in (lambda u: sj.slice_scatter(given, u, start, stop), gradient):
        with pytest.raises(REFUSED, match=fault):
            call(jnp.ones((1, 2))).block_until_ready()
    assert not data.any()
    assert gradient(jnp.ones((2, 2))).tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("size", range(4))
def test_slices_by_arrays_have_the_shape_of_python(size) -> None:
    lowest, largest = -(2**63), 2**63 - 1
    data, ends = jnp.zeros(size), (lowest, -4, -2, -1, 0, 1, 2, 4, largest)
    for start, stop, step in product(ends, ends, (lowest, -2, -1, 1, 2, largest)):
        expected = np.zeros(size)
        expected[start:stop:step] = 1
        places = [jnp.array([end]) for end in (start, stop, step)]
        count = int(expected.sum())
        same(sj.slice_scatter(data, jnp.ones(count), *places), expected)
        if count != 1 and size > 0:
            with pytest.raises(REFUSED, match=rf"shape \[1\], but the slice has \[{count}\]"):
                sj.slice_scatter(data, jnp.ones(1), *places).block_until_ready()


def test_other_errors_of_slices_by_arrays() -> None:
    data, one = jnp.zeros((3, 2)), jnp.array([1])

    def write(start, stop, step=None, axes=None) -> None:
        sj.slice_scatter(data, jnp.ones((1, 2)), start, stop, step, axes).block_until_ready()

    with pytest.raises(REFUSED, match=r"step\[0\] = 0, but a step must not be 0"):
        write(one, one, one - 1)
    with pytest.raises(REFUSED, match=r"= 2 is out of range \[-2, 1\] for data of rank 2"):
        write(one, one + 1, axes=[2])
    with pytest.raises(REFUSED, match="a second time"):
        write(jnp.array([1, 0]), jnp.array([2, 2]), axes=[0, -2])
    with pytest.raises(REFUSED, match="stop"):
        write(one, jnp.array([2, 2]))
    with pytest.raises(REFUSED, match="axes"):
        write(one, one + 1, axes=[0, 1])
    with pytest.raises(REFUSED, match="start .*integer"):
        write(jnp.array([1.0]), one + 1)
    largest = jnp.array([2**64 - 1], "uint64")
    expected = np.zeros((3, 2))
    expected[2] = 1
    same(sj.slice_scatter(data, jnp.ones((1, 2)), one + 1, largest, largest), expected)


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


def test_numbers_lists_and_updates_that_are_broadcast() -> None:
    data = jnp.zeros((3, 2))
    row, ones = jnp.array([1.0, 2.0]), [[1, 1], [1, 1], [0, 0]]
    assert sj.scatter_update(data, [0, 1], 1).tolist() == ones
    assert sj.scatter_update(data, [0, 1], row).tolist() == [[1, 2], [1, 2], [0, 0]]
    assert sj.scatter_elements(data, [[0, 1]], 1.5).tolist() == [[1.5, 0], [0, 1.5], [0, 0]]
    assert sj.scatter_nd(data, [[0], [1]], 1).tolist() == ones
    assert sj.scatter_nd(data, [0, 1], [4]).tolist() == [[0, 4], [0, 0], [0, 0]]
    assert sj.scatter_update(jnp.zeros(2, jnp.bfloat16), [1], [0.5]).tolist() == [0, 0.5]
    total = lambda u: (sj.scatter_update(data, [0, 0], u, reduction="add") ** 2).sum()
    assert jax.grad(total)(row).tolist() == [8, 16]
    assert jax.grad(total)(3.0).tolist() == 48
    with pytest.raises(ValueError, match="updates has dtype float.*, but data has dtype int32"):
        jax.eval_shape(sj.scatter_update, jnp.zeros(3, "int32"), jnp.array([0]), 0.5)


def test_lists_with_traced_ends_of_slices() -> None:
    write = jax.jit(lambda first: sj.slice_scatter(jnp.zeros(6), jnp.ones(2), [first], [first + 2]))
    assert write(3).tolist() == [0, 0, 0, 1, 1, 0]


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
    with pytest.raises(TypeError, match="no dtype int4"):
        sj.scatter_update(jnp.zeros(4, jnp.int4), jnp.array([1]), jnp.ones(1, jnp.int4))
    with pytest.raises(TypeError, match="extent is one number"):
        sj.plan_scatter_elements([0], (3, 4))
    with pytest.raises(TypeError, match="integers"):
        sj.slice_scatter(data, data, 0.5, 1)
    with pytest.raises(TypeError):
        sj.scatter_update(data, [0], jnp.zeros((1, 3)), 0, "add")


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
