# SPDX-License-Identifier: Apache-2.0
"""OpenVINO's models with strew's operations and without: both must give the same."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import onnx
import openvino as ov
import pytest
from onnx import TensorProto, helper
from openvino import opset3, opset4, opset12, opset15

import strew
import strew.openvino

RANDOM = np.random.default_rng(20)
REDUCTIONS = {"none": "none", "sum": "add", "sub": "sub", "prod": "mul", "min": "min", "max": "max"}
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
TWO_THREADS = {"INFERENCE_NUM_THREADS": 2, "NUM_STREAMS": 1}
ONE_THREAD = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}

Arrays = dict[str, np.ndarray]


def core() -> ov.Core:
    found = ov.Core()
    found.add_extension(strew.openvino.extension())
    return found


def random(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    return RANDOM.integers(1, 4, shape).astype(dtype)


def kinds(model: ov.Model) -> list[str]:
    return [node.get_type_name() for node in model.get_ordered_ops()]


class Case:
    """A model of one operation, and its operands; the other inputs are constants of the model."""

    def __init__(self, make: Any, operands: Arrays, constants: list[Any], **how: Any) -> None:
        self.make, self.operands, self.constants, self.how = make, operands, constants, how

    def model(self, is_dynamic: bool = False) -> ov.Model:
        parameters = [
            ov.opset13.parameter(
                [-1] * array.ndim if is_dynamic else array.shape, array.dtype, name=name
            )
            for name, array in self.operands.items()
        ]
        constants = [
            ov.opset13.constant(value if isinstance(value, np.ndarray) else np.array(value, np.int64))
            for value in self.constants
        ]
        return ov.Model([self.make(*parameters, *constants, **self.how)], parameters)

    def run(self, replace: bool, is_dynamic: bool = False) -> np.ndarray:
        model = self.model(is_dynamic)
        if replace:
            assert strew.openvino.replace(model) == 1
            assert any(kind.startswith("Strew") for kind in kinds(model))
        compiled = core().compile_model(model, "CPU", TWO_THREADS)
        return compiled(list(self.operands.values()))[0]

    def check(self, expected: np.ndarray | None = None) -> None:
        plain = self.run(False)
        for is_dynamic in (False, True):
            found = self.run(True, is_dynamic)
            assert found.dtype == plain.dtype and found.shape == plain.shape
            np.testing.assert_array_equal(found, plain if expected is None else expected)


def nd(dtype: str = "float32", reduction: str = "none", index: str = "int64") -> Case:
    indices = np.array([[0, 1], [3, -1], [0, 1], [2, 0]], index)
    if reduction == "none":  # OpenVINO leaves open which of several writers is the last
        indices[2] = 1
    operands = {"data": random((4, 3, 5), dtype), "indices": indices}
    operands["updates"] = random((4, 5), dtype)
    if reduction == "none":
        return Case(opset4.scatter_nd_update, operands, [])
    return Case(opset15.scatter_nd_update, operands, [], reduction=reduction)


def elements(dtype: str = "float32", reduction: str = "none", use_init_val: bool = True) -> Case:
    indices = np.array([[0, -1, 3], [2, 2, 2], [1, 0, 1], [-5, 3, 4]], np.int32)
    if reduction == "none":
        indices[1:3] = [[2, 1, 0], [1, 0, 2]]
    operands = {"data": random((4, 5), dtype), "indices": indices}
    operands["updates"] = random((4, 3), dtype)
    if reduction == "none":
        return Case(opset3.scatter_elements_update, operands, [1])
    how = {"reduction": reduction, "use_init_val": use_init_val}
    return Case(opset12.scatter_elements_update, operands, [1], **how)


def update(dtype: str = "float32") -> Case:
    operands = {"data": random((2, 5, 3), dtype), "indices": np.array([[4, 0], [1, 2]])}
    operands["updates"] = random((2, 2, 2, 3), dtype)
    return Case(opset3.scatter_update, operands, [1])


def slices(dtype: str = "float32") -> Case:
    operands = {"data": random((7, 6), dtype), "updates": random((3, 2), dtype)}
    return Case(opset15.slice_scatter, operands, [[1, -1], [5, 0], [2, -2], [1, 0]])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("make", [nd, elements, update, slices])
def test_replaced_operations(make, dtype) -> None:
    make(dtype).check()


@pytest.mark.parametrize("dtype", ["int32", "int8", "float32", "float16"])
@pytest.mark.parametrize("reduction", [*REDUCTIONS][1:])
def test_reductions_of_nd(reduction, dtype) -> None:
    nd(dtype, reduction).check()


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "int64"])
@pytest.mark.parametrize("reduction", ["sum", "prod", "min", "max", "mean"])
@pytest.mark.parametrize("use_init_val", [False, True])
def test_reductions_of_elements(reduction, use_init_val, dtype) -> None:
    case = elements(dtype, reduction, use_init_val)
    if reduction == "mean":
        arrays = case.operands
        case.check(
            strew.scatter_elements(
                arrays["data"], arrays["indices"], arrays["updates"], 1,
                reduction="mean", exclude_self=not use_init_val,
            )
        )  # fmt: skip
    else:
        case.check()


@pytest.mark.parametrize("dtype", [name for name in DTYPES if "int" in name])
@pytest.mark.parametrize("make", [elements, update])
def test_axis_dtypes(make, dtype) -> None:
    case = make()
    plain = case.run(False)
    case.constants = [np.array(1, dtype)]
    np.testing.assert_array_equal(case.run(True), plain)


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_index_dtypes(index) -> None:
    nd("float32", "sum", index).check()


def test_sums_of_booleans_are_logical() -> None:
    """The plugin keeps booleans as bytes; true and true is true, and not 2."""
    case = nd("bool", "sum")
    arrays = case.operands
    expected = strew.scatter_nd(
        arrays["data"], arrays["indices"], arrays["updates"], reduction="add"
    )
    np.testing.assert_array_equal(case.run(True), expected)


def test_integers_of_64_bits_are_those_of_the_plugin() -> None:
    """It computes in 32 bits, with strew and without."""
    case = nd("int64")
    case.operands["data"] += 2**33
    case.check()


def test_a_model_with_several_operations() -> None:
    data = ov.opset13.parameter([4, 3], np.float32, name="data")
    indices = ov.opset13.constant(np.array([[1], [2]]))
    updates = ov.opset13.parameter([2, 3], np.float32, name="updates")
    node = data
    for _ in range(3):
        node = opset15.scatter_nd_update(node, indices, updates, "sum")
    node.set_friendly_name("sum")
    model = ov.Model([ov.opset13.relu(node)], [data, updates])
    assert strew.openvino.replace(model) == 3
    assert strew.openvino.replace(model) == 0
    assert "sum" in [one.get_friendly_name() for one in model.get_ordered_ops()]
    found = core().compile_model(model, "CPU")([np.zeros((4, 3), "f"), np.ones((2, 3), "f")])[0]
    assert found.tolist() == [[0] * 3, [3] * 3, [3] * 3, [0] * 3]


def scatter_of(shapes: list[list[int]]) -> tuple[ov.Model, list[Any]]:
    dtypes = [np.float32, np.int64, np.float32]
    operands = [ov.opset13.parameter(shape, dtype) for shape, dtype in zip(shapes, dtypes)]
    return ov.Model([opset15.scatter_nd_update(*operands, "sum")], operands), operands


def test_a_condition() -> None:
    shapes = [[3], [2, 1], [2]]
    then, inner = scatter_of(shapes)
    other = ov.opset13.parameter([3], np.float32)
    otherwise = ov.Model([ov.opset13.relu(other)], [other])
    chosen = ov.opset13.parameter([], np.bool_, name="chosen")
    outer = scatter_of(shapes)[1]
    node = ov.opset13.if_op(chosen)
    node.set_then_body(then)
    node.set_else_body(otherwise)
    for given, own, of_other in zip(outer, inner, [other, None, None]):
        node.set_input(given.output(0), own, of_other)
    result = node.set_output(then.results[0], otherwise.results[0])
    model = ov.Model([result], [chosen, *outer])
    assert strew.openvino.replace(model) == 1
    operands = [np.zeros(3, "f"), np.array([[2], [2]]), np.ones(2, "f")]
    compiled = core().compile_model(model, "CPU", TWO_THREADS)
    assert compiled([np.array(True), *operands])[0].tolist() == [0, 0, 2]
    assert compiled([np.array(False), *operands])[0].tolist() == [0, 0, 0]


def test_a_loop() -> None:
    """Adds ones to the same places in each of four turns."""
    inner = scatter_of([[3], [2, 1], [2]])[1]
    goes_on = ov.opset13.constant(np.array(True))
    sums = opset15.scatter_nd_update(*inner, "sum")
    body = ov.Model([sums, goes_on], inner, "turn")
    outer = scatter_of([[3], [2, 1], [2]])[1]
    node = ov.opset13.loop(ov.opset13.constant(np.array(4)), goes_on)
    node.set_function(body)
    node.set_special_body_ports([-1, 1])
    node.set_merged_input(inner[0], outer[0].output(0), sums.output(0))
    for own, given in zip(inner[1:], outer[1:]):
        node.set_invariant_input(own, given.output(0))
    last = node.get_iter_value(sums.output(0), -1)
    model = ov.Model([last], outer)
    assert strew.openvino.replace(model) == 1
    assert strew.openvino.replace(model) == 0
    operands = [np.zeros(3, "f"), np.array([[2], [0]]), np.ones(2, "f")]
    found = core().compile_model(model, "CPU", TWO_THREADS)(operands)[0]
    assert found.tolist() == [4, 0, 4]


def test_a_saved_model(tmp_path) -> None:
    case = nd("float32", "sum")
    model = case.model()
    strew.openvino.replace(model)
    ov.save_model(model, tmp_path / "model.xml", compress_to_fp16=False)
    read = core().read_model(tmp_path / "model.xml")
    assert "StrewScatterNd" in kinds(read)
    found = core().compile_model(read, "CPU")(list(case.operands.values()))[0]
    np.testing.assert_array_equal(found, case.run(False))


# ---- ONNX ----

ONNX_CASES: dict[str, tuple[str, int, Arrays, dict[str, Any]]] = {}
for _reduction in ("none", "add", "mul", "min", "max"):
    _how = {} if _reduction == "none" else {"reduction": _reduction}
    ONNX_CASES[f"ScatterND {_reduction}"] = ("ScatterND", 18, {
        "d": random((4, 3)), "i": np.array([[1], [-1]]), "u": random((2, 3)),
    }, _how)  # fmt: skip
    ONNX_CASES[f"ScatterElements {_reduction}"] = ("ScatterElements", 18, {
        "d": random((4, 3)), "i": np.array([[1, -1], [0, 2]]), "u": random((2, 2)),
    }, {"axis": 1, **_how})  # fmt: skip
ONNX_CASES["Scatter"] = ("Scatter", 9, {
    "d": random((4, 3)), "i": np.array([[1, 0, 2]]), "u": random((1, 3)),
}, {})  # fmt: skip
CACHE = {"d": random((2, 4, 3)), "u": random((2, 2, 3)), "i": np.array([3, 0])}


def onnx_model(operator: str, opset: int, operands: Arrays, how: dict[str, Any]) -> bytes:
    values = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in operands.items()
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, operands["d"].shape)
    node = helper.make_node(operator, list(operands), ["y"], **how)
    graph = helper.make_graph([node], "scatter", values, [output])
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    onnx.checker.check_model(model)
    return model.SerializeToString()


@pytest.mark.parametrize("name", ONNX_CASES)
def test_onnx(name) -> None:
    operator, opset, operands, how = ONNX_CASES[name]
    content = onnx_model(operator, opset, operands, how)
    found = []
    for one in (ov.Core(), core()):
        model = one.read_model(content)
        found.append((kinds(model), one.compile_model(model, "CPU")(operands)[0]))
    (plain, expected), (with_strew, result) = found
    assert not any(kind.startswith("Strew") for kind in plain)
    assert any(kind.startswith("Strew") for kind in with_strew)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("has_places", [False, True])
def test_onnx_tensor_scatter(mode, has_places) -> None:
    """OpenVINO 2026.4 has no conversion of its own."""
    operands = CACHE if has_places else {key: CACHE[key] for key in "du"}
    if has_places and mode == "linear":
        operands = operands | {"i": np.array([2, 0])}
    content = onnx_model("TensorScatter", 24, operands, {"axis": 1, "mode": mode})
    one = core()
    found = one.compile_model(one.read_model(content), "CPU")(operands)[0]
    expected = strew.tensor_scatter(
        operands["d"], operands["u"], operands.get("i"), axis=1, mode=mode
    )
    np.testing.assert_array_equal(found, expected)


# ---- errors ----


def request(case: Case, config: dict[str, Any]) -> ov.InferRequest:
    model = case.model()
    strew.openvino.replace(model)
    made = core().compile_model(model, "CPU", config).create_infer_request()
    for name, array in case.operands.items():
        made.set_tensor(name, ov.Tensor(array))
    return made


def sentence_of(case: Case) -> str:
    arrays = case.operands
    with pytest.raises(strew.Error) as refused:
        strew.scatter_nd(arrays["data"], arrays["indices"], arrays["updates"])
    return str(refused.value)


def test_bad_indices() -> None:
    case = nd()
    case.operands["indices"][1, 0] = 9
    sentence = sentence_of(case)
    before = case.operands["data"].copy()
    bad = request(case, TWO_THREADS)
    for call in (bad.infer, lambda: (bad.start_async(), bad.wait())):
        with pytest.raises(RuntimeError) as refused:
            call()
        assert sentence in str(refused.value)
        assert strew.openvino.last_error() == sentence
        assert strew.openvino.last_error() == ""
    assert case.operands["data"].tobytes() == before.tobytes()
    case.operands["indices"][1, 0] = 3
    bad.set_tensor("indices", ov.Tensor(case.operands["indices"]))
    bad.infer()
    np.testing.assert_array_equal(bad.get_output_tensor().data, case.run(False))


def test_bad_indices_on_one_thread() -> None:
    """Synchronous calls drop exceptions, but the sentence is kept; others raise."""
    case = nd()
    case.operands["indices"][1, 0] = 9
    bad = request(case, ONE_THREAD)
    bad.start_async()
    with pytest.raises(RuntimeError, match="out of range"):
        bad.wait()
    strew.openvino.last_error()
    try:
        bad.infer()
    except RuntimeError:
        pass  # as it should
    assert strew.openvino.last_error() == sentence_of(case)


# ---- threads ----

LARGE = """
import numpy as np, openvino as ov, strew, strew.openvino
from openvino import opset15
random = np.random.default_rng(1)
data, updates = random.random((40000, 64), "f"), random.random((80000, 64), "f")
indices = random.integers(0, 40000, (80000, 1))
expected = strew.scatter_nd(data, indices, updates, reduction="add").tobytes()
core = ov.Core()
core.add_extension(strew.openvino.extension())
parameters = [ov.opset13.parameter(a.shape, a.dtype) for a in (data, indices, updates)]
model = ov.Model([opset15.scatter_nd_update(*parameters, "sum")], parameters)
strew.openvino.replace(model)
for threads, streams in ((1, 1), (2, 1), (2, 2), (0, 0)):
    config = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": streams} if threads else {}
    compiled = core.compile_model(model, "CPU", config)
    requests = [compiled.create_infer_request() for _ in range(3)]
    for _ in range(3):
        for one in requests:
            one.start_async([data, indices, updates])
        for one in requests:
            one.wait()
            assert one.get_output_tensor().data.tobytes() == expected
"""


def test_large_calls_on_the_threads_of_openvino() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LARGE], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
