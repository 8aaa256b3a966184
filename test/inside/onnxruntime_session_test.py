# SPDX-License-Identifier: Apache-2.0
"""strew inside ONNX Runtime: errors, memory, threads, and many sessions in one process."""

from __future__ import annotations

import concurrent.futures
import gc
import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument

import strew.onnxruntime
from arrays import assert_same_bytes
from onnxruntime_models import finish, model_of, options, run, run_bound, session

ROWS, WIDTH = 200_000, 32


def scatter_nd(dtype: type = np.float32) -> list[np.ndarray]:
    return [np.arange(8, dtype=dtype), np.array([[4], [-1]]), np.array([90, 91], dtype)]


def large(seed: int = 1) -> list[np.ndarray]:
    """So much work that strew wants all threads."""
    random = np.random.default_rng(seed)
    rows = random.integers(0, ROWS, (ROWS, 1))
    indices = np.ascontiguousarray(np.broadcast_to(rows, (ROWS, WIDTH)))
    return [np.zeros((ROWS, WIDTH), np.float32), indices, random.random((ROWS, WIDTH), np.float32)]


def large_model():
    return model_of("ScatterElements", large(), 18, axis=0, reduction="add")


BAD = {
    "ScatterElements": (
        [np.zeros((2, 4), np.float32), np.array([[0, 1], [5, 0]]), np.ones((2, 2), np.float32)],
        "indices[1,0] = 5 is out of range [-4, 3] for axis 1 of data, which has 4 elements",
        {"axis": 1},
    ),
    "ScatterND": (
        [np.zeros((2, 4), np.float32), np.array([[0, 1], [1, -5]]), np.ones(2, np.float32)],
        "indices[1,1] = -5 is out of range [-4, 3] for axis 1 of data, which has 4 elements",
        {},
    ),
    "TensorScatter": (
        [np.zeros((2, 4), np.float32), np.ones((2, 1), np.float32), np.array([0, 4])],
        "write_indices[1] = 4 is out of range",
        {"axis": 1},
    ),
}


@pytest.mark.parametrize("operator", BAD)
@pytest.mark.parametrize("in_place", [False, True])
def test_a_bad_index_is_an_exception_and_writes_nothing(operator: str, in_place: bool) -> None:
    arrays, sentence, attributes = BAD[operator]
    model = model_of(operator, arrays, 24, **attributes)
    made = session(model)
    data = arrays[0].copy()
    output = data if in_place else np.full_like(data, 7)
    before = output.copy()
    feeds = dict(zip("abc", [data, *(array.copy() for array in arrays[1:])]))
    with pytest.raises(InvalidArgument, match=re.escape(sentence)) as raised:
        made.run(None, feeds)
    assert "Name:'node'" in str(raised.value)
    # In runs with bound memory the Python package of the runtime makes a RuntimeError of all
    # errors.
    with pytest.raises(RuntimeError, match=re.escape(sentence)):
        run_bound(made, model, feeds, output)
    assert_same_bytes(output, before)
    # The session goes on with what is right.
    feeds["b" if operator != "TensorScatter" else "c"][...] = 0
    if operator == "ScatterElements":
        feeds["b"][:] = [[0, 1], [2, 3]]
    assert run_bound(made, model, feeds, output).any()


def free_model(rank: int):
    """ScatterND with all dims of data and updates left open."""
    shape = ["n" + str(axis) for axis in range(rank)]
    declared = [
        helper.make_tensor_value_info("a", TensorProto.FLOAT, shape),
        helper.make_tensor_value_info("b", TensorProto.INT64, [2, 1]),
        helper.make_tensor_value_info("c", TensorProto.FLOAT, shape),
    ]
    declared[2].type.tensor_type.shape.dim[0].dim_param = "updates"
    node = helper.make_node("ScatterND", list("abc"), ["output"], name="node")
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, shape)
    return finish([node], declared, [output], 18)


def test_shapes_that_do_not_fit() -> None:
    data, indices, updates = scatter_nd()
    with pytest.raises(InvalidArgument, match="updates"):
        session(free_model(1)).run(None, {"a": data, "b": indices, "c": updates[:1]})


def test_memory_that_is_not_aligned() -> None:
    data, indices, updates = scatter_nd()
    odd = np.frombuffer(bytes(1 + data.nbytes), np.float32, offset=1)
    feeds = {"a": odd, "b": indices, "c": updates}
    model = model_of("ScatterND", [data, indices, updates], 18)
    with pytest.raises(RuntimeError, match="not a multiple of 4, which float32 needs"):
        run_bound(session(model), model, feeds, data)


def test_shapes_change_from_run_to_run() -> None:
    indices, made = np.array([[4], [-1]]), session(free_model(2))
    for shape in ((8, 1), (8, 3), (9, 4), (5, 4)):
        data, updates = np.zeros(shape, np.float32), np.ones((2, *shape[1:]), np.float32)
        (result,) = made.run(None, {"a": data, "b": indices, "c": updates})
        data[[4, -1]] = 1
        assert_same_bytes(result, data)


@pytest.mark.parametrize("reduction", ["mean", "a word that is longer than all"])
def test_an_unknown_reduction_is_an_error_of_loading(reduction: str) -> None:
    model = model_of("ScatterND", scatter_nd(), 18)
    model.graph.node[0].attribute.append(helper.make_attribute("reduction", reduction))
    with pytest.raises(Exception, match="ScatterND: unknown reduction"):
        session(model)


def test_in_place_where_input_and_output_are_one() -> None:
    arrays = scatter_nd()
    model = model_of("ScatterND", arrays, 18)
    expected = run(model, arrays)
    assert_same_bytes(run(model, arrays, output=arrays[0]), expected)
    assert_same_bytes(arrays[0], expected)


@pytest.mark.parametrize("rows", [ROWS, "rows"])
def test_in_place_within_a_model(rows: int | str, tmp_path: Path) -> None:
    """One update of what another node made: a copy of 100 MB would take longer than the node that
    made it."""
    shape = [rows, WIDTH * 4]
    declared = [
        helper.make_tensor_value_info("a", TensorProto.FLOAT, shape),
        helper.make_tensor_value_info("b", TensorProto.INT64, [1, 1]),
        helper.make_tensor_value_info("c", TensorProto.FLOAT, [1, WIDTH * 4]),
    ]
    nodes = [
        helper.make_node("Exp", ["a"], ["made"], name="exp"),
        helper.make_node("ScatterND", ["made", "b", "c"], ["written"], name="write"),
        helper.make_node("ReduceSum", ["written"], ["output"], name="sum", keepdims=0),
    ]
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, [])
    model = finish(nodes, declared, [output], 18)
    made = options()
    made.enable_profiling = True
    made.profile_file_prefix = str(tmp_path / "profile")
    running = onnxruntime.InferenceSession(
        model.SerializeToString(), made, providers=["CPUExecutionProvider"]
    )
    feeds = {
        "a": np.zeros((ROWS, WIDTH * 4), np.float32),
        "b": np.array([[3]]),
        "c": np.full((1, WIDTH * 4), 2, np.float32),
    }
    for _ in range(3):
        running.run(None, feeds)
    events = json.loads(Path(running.end_profiling()).read_text())
    taken = {
        name: min(event["dur"] for event in events if event["name"] == f"{name}_kernel_time")
        for name in ("exp", "write")
    }
    assert taken["write"] * 10 < taken["exp"]


def threads_of_process() -> int:
    return len(os.listdir("/proc/self/task"))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no list of threads")
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_no_threads_beside_those_of_the_session(threads: int) -> None:
    model, arrays = large_model(), large()
    gc.collect()
    before = threads_of_process()
    made = session(model, threads)
    of_session = threads_of_process()
    assert of_session == before + threads - 1
    result = run_bound(made, model, dict(zip("abc", arrays)), np.empty_like(arrays[0]))
    assert threads_of_process() == of_session
    assert_same_bytes(result, run(model, arrays))


def test_one_node_on_several_threads_at_once() -> None:
    model = large_model()
    made = session(model, 2)
    inputs = [large(seed) for seed in range(6)]
    expected = [run(model, arrays) for arrays in inputs]

    def call(number: int) -> np.ndarray:
        for _ in range(3):
            (result,) = made.run(None, dict(zip("abc", inputs[number])))
        return result

    with concurrent.futures.ThreadPoolExecutor(len(inputs)) as pool:
        for result, right in zip(pool.map(call, range(len(inputs))), expected):
            assert_same_bytes(result, right)


def test_many_runs_of_one_session() -> None:
    """The number of threads is measured anew now and then."""
    arrays = scatter_nd()
    made = session(model_of("ScatterND", arrays, 18), 2)
    feeds = dict(zip("abc", arrays))
    results = {made.run(None, feeds)[0].tobytes() for _ in range(1100)}
    assert len(results) == 1


def test_sessions_come_and_go() -> None:
    model, arrays = model_of("ScatterND", scatter_nd(), 18), scatter_nd()
    shared = options()
    sessions = [
        onnxruntime.InferenceSession(model.SerializeToString(), shared) for _ in range(3)
    ]
    del shared
    for _ in range(20):
        sessions.append(session(model))
        sessions.pop(0)
        gc.collect()
        assert sessions[0].run(None, dict(zip("abc", arrays)))[0][4] == 90


def test_a_second_copy_of_the_library(tmp_path: Path) -> None:
    copy = shutil.copy(strew.onnxruntime.library(), tmp_path / "another.so")
    made = options(with_strew=False)
    made.register_custom_ops_library(str(copy))
    model, arrays = model_of("ScatterND", scatter_nd(np.float16), 18, reduction="add"), scatter_nd(
        np.float16
    )
    other = onnxruntime.InferenceSession(model.SerializeToString(), made)
    feeds = dict(zip("abc", arrays))
    assert_same_bytes(other.run(None, feeds)[0], session(model).run(None, feeds)[0])


def test_registering_twice_is_an_error_of_the_runtime() -> None:
    made = options()
    made.register_custom_ops_library(strew.onnxruntime.library())
    model = model_of("ScatterND", scatter_nd(), 18).SerializeToString()
    with pytest.raises(Exception, match="already"):
        onnxruntime.InferenceSession(model, made)
