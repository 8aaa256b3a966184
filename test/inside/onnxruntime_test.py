# SPDX-License-Identifier: Apache-2.0
"""strew inside ONNX Runtime: results of all operators, types and opset versions."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx.backend.test.case.test_case import TestCase
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as Unknown

import strew
from arrays import assert_same_bytes
from onnx_nodes import CASES, KNOWN
from onnxruntime_models import TYPES, model_of, run, session

OPSETS = {
    "Scatter": (9, 10),
    "ScatterElements": (11, 13, 16, 18, 24),
    "ScatterND": (11, 13, 16, 18, 24),
    "TensorScatter": (24, 25),
}
# The dtypes of the package for what NumPy does not have.
ML_DTYPES = {"BFLOAT16": "bfloat16", "FLOAT8E4M3FN": "float8_e4m3fn", "FLOAT8E5M2": "float8_e5m2"}
REDUCTIONS = ("add", "mul", "min", "max")


def test_the_known_cases_are_there() -> None:
    assert KNOWN <= {case.name for case in CASES}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_node(case: TestCase, threads: int) -> None:
    """ONNX's own cases, by the models that it makes of them."""
    made = session(case.model, threads)
    names = [value.name for value in case.model.graph.input]
    for inputs, (expected,) in case.data_sets:
        (result,) = made.run(None, dict(zip(names, inputs)))
        assert_same_bytes(result, expected)


def operands(operator: str, dtype: str, index_dtype: str = "int64") -> list[np.ndarray]:
    """Data of random bytes, indices with negative ones and duplicates, and updates."""
    random = np.random.default_rng(7)

    def values(*shape: int) -> np.ndarray:
        if TYPES[dtype] is np.bool_:
            return random.integers(0, 2, shape).astype(bool)
        width = np.dtype(TYPES[dtype]).itemsize
        return random.integers(0, 256, (*shape, width), np.uint8).view(TYPES[dtype])[..., 0]

    if operator == "ScatterND":
        tuples = np.stack((random.integers(-6, 6, 20), random.integers(-5, 5, 20)), 1)
        return [values(6, 5, 9), tuples.astype(index_dtype), values(20, 9)]
    if operator == "TensorScatter":
        return [values(3, 7, 4), values(3, 2, 4), np.array([0, 5, 2])]
    return [values(6, 9), random.integers(-6, 6, (8, 9)).astype(index_dtype), values(8, 9)]


def of_package(
    operator: str, arrays: list[np.ndarray], dtype: str, reduction: str = "none"
) -> np.ndarray:
    """The result of the Python package, in the bytes of the operands."""
    data, updates = (arrays[0], arrays[1 if operator == "TensorScatter" else 2])
    if dtype in ML_DTYPES:
        import ml_dtypes

        kind = np.dtype(getattr(ml_dtypes, ML_DTYPES[dtype]))
        data, updates = data.view(kind), updates.view(kind)
    if operator == "TensorScatter":
        result = strew.tensor_scatter(data, updates, arrays[2], axis=1)
    elif operator == "ScatterND":
        result = strew.scatter_nd(data, arrays[1], updates, reduction=reduction)
    else:
        result = strew.scatter_elements(data, arrays[1], updates, axis=0, reduction=reduction)
    return result.view(arrays[0].dtype)


def attributes(operator: str) -> dict[str, int]:
    return {"TensorScatter": {"axis": 1}, "ScatterND": {}}.get(operator, {"axis": 0})


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("operator", "opset"), [(name, opset) for name, opsets in OPSETS.items() for opset in opsets]
)
def test_moves_every_type(operator: str, opset: int, dtype: str) -> None:
    for index_dtype in ("int64", "int32") if "ND" not in operator else ("int64",):
        arrays = operands(operator, dtype, index_dtype)
        if operator == "TensorScatter":
            arrays[2] = arrays[2].astype(np.int64)
        try:
            kind = getattr(TensorProto, dtype)
            model = model_of(operator, arrays, opset, kind, **attributes(operator))
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
            pytest.skip("not a type of the operator in this opset")
        assert_same_bytes(run(model, arrays), of_package(operator, arrays, dtype))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", [name for name in TYPES if "FLOAT8" not in name])
@pytest.mark.parametrize("operator", ["ScatterElements", "ScatterND"])
def test_reduces_every_type(operator: str, dtype: str, reduction: str) -> None:
    arrays = operands(operator, dtype)
    if dtype in ("FLOAT", "DOUBLE", "FLOAT16"):
        arrays[0], arrays[2] = (np.nan_to_num(array, posinf=1, neginf=1) for array in arrays[::2])
    kind = getattr(TensorProto, dtype)
    model = model_of(operator, arrays, 18, kind, reduction=reduction, **attributes(operator))
    assert_same_bytes(run(model, arrays), of_package(operator, arrays, dtype, reduction))


@pytest.mark.parametrize(
    ("operator", "reduction"),
    [
        ("TensorScatter", "none"),
        *((name, how) for name in ("ScatterElements", "ScatterND") for how in ("none", *REDUCTIONS)),
    ],
)
@pytest.mark.parametrize("dtype", [name for name in TYPES if "FLOAT8" not in name])
def test_has_the_bytes_of_the_kernels_it_replaces(operator, dtype: str, reduction: str) -> None:
    """But for NaN, of which the runtime's own min and max keep or drop some by their order."""
    arrays, words = operands(operator, dtype), attributes(operator)
    if operator != "TensorScatter":
        words["reduction"] = reduction
    if dtype in ("FLOAT", "DOUBLE", "FLOAT16"):
        arrays = [np.nan_to_num(array, posinf=1, neginf=1) for array in arrays]
    model = model_of(operator, arrays, 24, getattr(TensorProto, dtype), **words)
    result = run(model, arrays)
    try:
        expected = run(model, arrays, with_strew=False)
    except (Unknown, RuntimeError) as refused:
        assert dtype in ("FLOAT16", "BFLOAT16", "BOOL") and reduction != "none", refused
    else:
        assert_same_bytes(result, expected)


def test_the_write_indices_may_be_missing() -> None:
    past, update, _ = operands("TensorScatter", "FLOAT")
    model = model_of("TensorScatter", [past, update, None], 24, axis=-2)
    expected = past.copy()
    expected[:, :2] = update
    assert_same_bytes(run(model, [past, update, None]), expected)


STRINGS = np.array(["a", "", "c" * 40, "d\0d", "e"], object)


@pytest.mark.parametrize("reduction", ["none", "add"])
@pytest.mark.parametrize("operator", ["ScatterElements", "ScatterND"])
def test_strings(operator: str, reduction: str) -> None:
    updates = np.array(["new", "x" * 50, "", "last"], object)
    indices = np.array([1, -2, 0, 1])
    shaped = indices[:, None] if operator == "ScatterND" else indices
    model = model_of(operator, [STRINGS, shaped, updates], 18, reduction=reduction)
    (result,) = session(model).run(None, {"a": STRINGS, "b": shaped, "c": updates})
    expected = STRINGS.copy()
    for index, update in zip(indices, updates):
        expected[index] = update if reduction == "none" else expected[index] + update
    assert result.tolist() == expected.tolist()


def test_strings_of_a_cache() -> None:
    past, update = STRINGS.reshape(1, 5, 1), np.array([[["x"], ["y"]]], object)
    index = np.array([4])
    model = model_of("TensorScatter", [past, update, index], 24, mode="circular")
    (result,) = session(model).run(None, {"a": past, "b": update, "c": index})
    assert result.ravel().tolist() == ["y", *STRINGS[1:4], "x"]


def test_strings_have_no_product() -> None:
    arrays = [STRINGS, np.array([0]), np.array(["x"], object)]
    model = model_of("ScatterElements", arrays, 18, reduction="mul")
    with pytest.raises(Exception, match="reduction mul is not defined on string"):
        session(model).run(None, dict(zip("abc", arrays)))


@pytest.mark.parametrize("operator", ["ScatterElements", "ScatterND"])
def test_empty(operator: str) -> None:
    data = np.arange(4, dtype=np.float32)
    shape = (0,) if operator == "ScatterElements" else (0, 1)
    arrays = [data, np.zeros(shape, np.int64), np.zeros(0, np.float32)]
    (result,) = session(model_of(operator, arrays, 18)).run(None, dict(zip("abc", arrays)))
    assert_same_bytes(result, data)


def test_half_sums_that_the_runtime_refuses() -> None:
    """Every update is rounded, as ONNX's reference does."""
    arrays = [np.zeros(1, np.float16), np.zeros(3000, np.int64), np.ones(3000, np.float16)]
    model = model_of("ScatterElements", arrays, 18, reduction="add")
    feeds = dict(zip("abc", arrays))
    with pytest.raises(Exception, match="not supported"):
        session(model, with_strew=False).run(None, feeds)
    assert session(model).run(None, feeds)[0].tolist() == [2048]
