# SPDX-License-Identifier: Apache-2.0
"""ONNX's operators by ONNX Runtime, in models of one node."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from onnx import helper

import strew_ctypes as strew
from arrays import assert_same_bytes
from differential import Rows, assert_refused, context, seen_in
from draw import BOOL, FLOATS, INTEGERS, LONG_FLOATS, SHORT_FLOATS, Draw, Operands
from strew_ctypes import CacheMode, IndexPolicy, Reduction, Status

IR_VERSION = 10
SILENT = 4  # no log: what is refused is reported by exceptions
ALL = [*BOOL, *INTEGERS, *FLOATS]
REDUCTIONS = {
    "none": (Reduction.NONE, ALL),
    "add": (Reduction.ADD, [*BOOL, *INTEGERS, *LONG_FLOATS]),
    "mul": (Reduction.MUL, [*BOOL, *INTEGERS, *LONG_FLOATS]),
    "min": (Reduction.MIN, [*INTEGERS, *LONG_FLOATS]),
    "max": (Reduction.MAX, [*INTEGERS, *LONG_FLOATS]),
}
MODES = {"linear": CacheMode.CACHE_LINEAR, "circular": CacheMode.CACHE_CIRCULAR}
OPTIONS = onnxruntime.SessionOptions()
OPTIONS.intra_op_num_threads = 1
OPTIONS.log_severity_level = SILENT

rows = Rows("onnx")


def dtype_of(array: np.ndarray) -> int:
    """ONNX's number of it."""
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def run(operator: str, opset: int, inputs: list[np.ndarray | None], **attributes) -> np.ndarray:
    """The output of the node for its inputs, of which None is left out."""
    names = [f"i{i}" if item is not None else "" for i, item in enumerate(inputs)]
    given = {name: np.array(item, order="C") for name, item in zip(names, inputs) if name}
    output = np.zeros_like(given["i0"])
    values = [
        helper.make_tensor_value_info(name, dtype_of(array), array.shape)
        for name, array in (*given.items(), ("output", output))
    ]
    node = helper.make_node(operator, names, ["output"], **attributes)
    graph = helper.make_graph([node], operator, values[:-1], values[-1:])
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), OPTIONS, providers=["CPUExecutionProvider"]
    )
    # Bound memory, because bfloat16 has no other way in and out.
    binding = session.io_binding()
    for name, array in given.items():
        binding.bind_input(name, "cpu", 0, dtype_of(array), array.shape, array.ctypes.data)
    binding.bind_output("output", "cpu", 0, dtype_of(output), output.shape, output.ctypes.data)
    session.run_with_iobinding(binding)
    return output


def inputs_of(case: Operands, draw: Draw) -> list[np.ndarray]:
    indices = case.indices.astype(draw.one_of([np.int32, np.int64]))
    return [case.data, indices, case.updates]


@rows.add("ScatterElements")
def scatter_elements(draw):
    name = draw.one_of(list(REDUCTIONS))
    reduction, dtypes = REDUCTIONS[name]
    # Without a reduction ONNX leaves duplicates undefined.
    case = draw.elements(dtypes, unique=name == "none", powers=name == "mul")
    inputs = inputs_of(case, draw)
    expected = run("ScatterElements", 18, inputs, axis=case.axis, reduction=name)
    return strew.scatter_elements(*inputs, case.axis, reduction), expected


@rows.add("ScatterND")
def scatter_nd(draw):
    name = draw.one_of(list(REDUCTIONS))
    reduction, dtypes = REDUCTIONS[name]
    case = draw.tuples(dtypes, unique=name == "none", powers=name == "mul")
    inputs = [case.data, case.indices, case.updates]
    expected = run("ScatterND", 18, inputs, reduction=name)
    return strew.scatter_nd(*inputs, reduction), expected


@rows.add("TensorScatter")
def tensor_scatter(draw):
    cache = draw.values(draw.one_of(ALL), draw.shape(draw.one_of([2, 3, 4])))
    axis = int(draw.rng.integers(1, cache.ndim)) - cache.ndim * int(draw.rng.integers(0, 2))
    longest = cache.shape[axis]
    length = int(draw.rng.integers(1, longest + 1))
    shape = [length if j == axis % cache.ndim else dim for j, dim in enumerate(cache.shape)]
    update = draw.values(cache.dtype, shape)
    mode = draw.one_of(list(MODES))
    end = longest - length + 1 if mode == "linear" else 2 * longest
    places = draw.rng.integers(0, end, len(cache))
    inputs = [cache, update, draw.one_of([places, places, None])]
    expected = run("TensorScatter", 24, inputs, axis=axis, mode=mode)
    return strew.tensor_scatter(*inputs, axis, MODES[mode]), expected


test_row = rows.tests()

OPERATORS = {
    "ScatterElements": (strew.scatter_elements, np.array([0, 1, 2]), (0,)),
    "ScatterND": (strew.scatter_nd, np.array([[0], [1], [2]]), ()),
}


@seen_in("onnx")
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", ["min", "max"])
def test_nan_in_min_and_max(operator, name) -> None:
    """There an update replaces a NaN in data, but a NaN in updates replaces a number."""
    call, indices, axis = OPERATORS[operator]
    data, updates = np.array([np.nan, 1, 0], "f4"), np.array([1, np.nan, 5], "f4")
    there = run(operator, 18, [data, indices, updates], reduction=name)
    assert np.isnan(there).tolist() == [False, True, False]
    here = call(data, indices, updates, *axis, REDUCTIONS[name][0])
    assert np.isnan(here).tolist() == [True, True, False]
    assert there[2] == here[2]


@seen_in("onnx")
@pytest.mark.parametrize("operator", OPERATORS)
def test_zeros_in_min_and_max(operator) -> None:
    """There the update is taken."""
    call, indices, axis = OPERATORS[operator]
    data, updates = np.array([0.0, -0.0, 1], "f4"), np.array([-0.0, 0.0, 1], "f4")
    for name, sign in (("min", -0.0), ("max", 0.0)):
        assert_same_bytes(run(operator, 18, [data, indices, updates], reduction=name), updates)
        here = call(data, indices, updates, *axis, REDUCTIONS[name][0])
        assert_same_bytes(here, np.array([sign, sign, 1], "f4"))


@seen_in("onnx")
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", SHORT_FLOATS, ids=str)
def test_sums_of_16_bits(operator, dtype) -> None:
    """There they are refused."""
    call, indices, axis = OPERATORS[operator]
    inputs = [np.ones(3, dtype), indices, np.ones(3, dtype)]
    with pytest.raises(RuntimeError, match="not supported"):
        run(operator, 18, inputs, reduction="add")
    assert call(*inputs, *axis, Reduction.ADD).tolist() == [2, 2, 2]


@pytest.mark.parametrize("index", [3, -4])
@pytest.mark.parametrize("operator", OPERATORS)
def test_out_of_range(operator, index) -> None:
    call, indices, axis = OPERATORS[operator]
    inputs = [np.zeros(3, "f4"), np.full_like(indices, index), np.ones(3, "f4")]
    with pytest.raises(RuntimeError, match="out of data bounds|invalid indice"):
        run(operator, 18, inputs)
    assert_refused(Status.INDEX_OUT_OF_RANGE, lambda: call(*inputs, *axis))
    dropped = call(*inputs, *axis, context=context(index_policy=IndexPolicy.INDEX_DROP))
    assert dropped.tolist() == [0, 0, 0]


@seen_in("onnx")
@pytest.mark.parametrize("operator", OPERATORS)
def test_duplicates(operator) -> None:
    """The last one wins in both, though ONNX does not define it."""
    call, indices, axis = OPERATORS[operator]
    inputs = [np.zeros(3, "f4"), np.zeros_like(indices), np.array([1, 2, 3], "f4")]
    assert run(operator, 18, inputs).tolist() == [3, 0, 0]
    assert call(*inputs, *axis).tolist() == [3, 0, 0]


@pytest.mark.parametrize(
    ("mode", "place", "clamped"), [("linear", 3, 2), ("linear", -1, 0), ("circular", -1, 0)]
)
def test_places_in_a_cache_can_be_dropped_or_clamped(mode, place, clamped) -> None:
    """Without a policy both refuse them."""
    cache, update = np.zeros((2, 4), "f4"), np.array([[1, 2], [3, 4]], "f4")
    inputs = [cache, update, np.array([0, place])]
    with pytest.raises(RuntimeError, match="TensorScatter"):
        run("TensorScatter", 24, inputs, axis=1, mode=mode)
    attributes = (1, MODES[mode])
    assert_refused(
        Status.INDEX_OUT_OF_RANGE, lambda: strew.tensor_scatter(*inputs, *attributes)
    )
    for policy, second in (
        (IndexPolicy.INDEX_DROP, cache[1]),
        (IndexPolicy.INDEX_CLAMP, np.insert(cache[1, 2:], clamped, update[1])),
    ):
        made = context(index_policy=policy)
        actual = strew.tensor_scatter(*inputs, *attributes, context=made)
        assert actual.tolist() == [[1, 2, 0, 0], second.tolist()]
