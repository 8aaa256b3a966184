# SPDX-License-Identifier: Apache-2.0
"""OpenVINO's operators on the CPU, in models of one operator."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import openvino
import pytest
from openvino import opset3, opset4, opset12, opset15

import strew_ctypes as strew
from arrays import assert_same_bytes
from differential import Rows, assert_refused, context, seen_in
from draw import BOOL, FLOATS, SHORT_FLOATS, Draw
from strew_ctypes import IndexPolicy, Reduction, Status

CORE = openvino.Core()
OPTIONS = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
NARROW = [np.dtype(name) for name in ("int8", "int16", "int32", "uint8", "uint16")]
BFLOAT16 = SHORT_FLOATS[1]
# The CPU plugin computes these as int32, and float64 as float32: see test_wide_dtypes_are_narrowed.
WIDE = [np.dtype(name) for name in ("int64", "uint32", "uint64")]
REDUCTIONS = {
    "none": Reduction.NONE,
    "sum": Reduction.ADD,
    "prod": Reduction.MUL,
    "min": Reduction.MIN,
    "max": Reduction.MAX,
    "mean": Reduction.MEAN,
    "sub": Reduction.SUB,
}
# Makes an operator of parameters.
Make = Callable[..., openvino.Node]

rows = Rows("openvino")


def run(make: Make, *arrays: np.ndarray) -> np.ndarray:
    arrays = tuple(np.array(array, order="C") for array in arrays)
    output = np.zeros_like(arrays[0])
    parameters = [opset15.parameter(array.shape, type_of(array)) for array in arrays]
    model = openvino.Model([make(*parameters)], parameters, "one operator")
    request = CORE.compile_model(model, "CPU", OPTIONS).create_infer_request()
    for i, array in enumerate(arrays):
        request.set_input_tensor(i, tensor(array))
    request.set_output_tensor(0, tensor(output))
    request.infer(share_outputs=True)
    return output


def type_of(array: np.ndarray) -> openvino.Type:
    return openvino.Type.bf16 if array.dtype.name == "bfloat16" else openvino.Type(array.dtype)


def tensor(array: np.ndarray) -> openvino.Tensor:
    """The same memory."""
    if array.dtype.name == "bfloat16":
        return openvino.Tensor(array.view(np.uint16), array.shape, openvino.Type.bf16)
    return openvino.Tensor(array, shared_memory=True)


def update(axis: int = 0) -> Make:
    return lambda data, indices, updates: opset3.scatter_update(
        data, indices, updates, np.int64(axis)
    )


def elements_update_3(axis: int = 0) -> Make:
    return lambda data, indices, updates: opset3.scatter_elements_update(
        data, indices, updates, np.int64(axis)
    )


def elements_update(reduction: str = "none", use_init_val: bool = True, axis: int = 0) -> Make:
    return lambda data, indices, updates: opset12.scatter_elements_update(
        data, indices, updates, np.int64(axis), reduction, use_init_val
    )


def nd_update(reduction: str = "none") -> Make:
    return lambda data, indices, updates: opset15.scatter_nd_update(
        data, indices, updates, reduction
    )


def dtypes(draw: Draw, name: str) -> tuple[list[np.dtype], dict[str, bool]]:
    """The dtypes of one draw, and how to fill them.

    Means differ for negative integers and for bfloat16.
    """
    if name == "mean":
        return [*WIDE, *NARROW, *(dtype for dtype in FLOATS if dtype != BFLOAT16)], {"small": True}
    if draw.rng.integers(0, 4) == 0:
        return [*WIDE, *NARROW, *FLOATS], {"small": True}
    return [*BOOL, *NARROW, *FLOATS], {"powers": name == "prod"}


def first_of_slice(data: openvino.Node, updates: openvino.Node) -> openvino.Node:
    bounds = [np.array([number]) for number in (0, 1, 1, 0)]
    return opset15.slice_scatter(data, updates, *bounds)


def index_dtype(draw: Draw) -> np.dtype:
    return draw.one_of([np.dtype("int32"), np.dtype("int64")])


# Negative indices are against the letter of the operators of opset 3, and ScatterUpdate corrupts
# memory there; what is out of range does so in all of them: see test_out_of_range.
@rows.add("ScatterUpdate-3")
def scatter_update(draw):
    drawn, how = dtypes(draw, "none")
    case = draw.rows(drawn, unique=True, wrap=False, **how)
    inputs = (case.data, case.indices.astype(index_dtype(draw)), case.updates)
    return strew.scatter_update(*inputs, case.axis), run(update(case.axis), *inputs)


@rows.add("ScatterElementsUpdate-3")
def scatter_elements_update_3(draw):
    drawn, how = dtypes(draw, "none")
    case = draw.elements(drawn, unique=True, wrap=False, **how)
    inputs = (case.data, case.indices.astype(index_dtype(draw)), case.updates)
    expected = run(elements_update_3(case.axis), *inputs)
    letter = context(negative_indices=0)
    return strew.scatter_elements(*inputs, case.axis, context=letter), expected


@rows.add("ScatterElementsUpdate-12")
def scatter_elements_update_12(draw):
    name = draw.one_of(["none", "sum", "prod", "min", "max", "mean"])
    use_init_val = bool(draw.rng.integers(0, 2))
    drawn, how = dtypes(draw, name)
    case = draw.elements(drawn, unique=name == "none", **how)
    inputs = (case.data, case.indices.astype(index_dtype(draw)), case.updates)
    expected = run(elements_update(name, use_init_val, case.axis), *inputs)
    reduction = REDUCTIONS[name] | (0 if use_init_val else Reduction.EXCLUDE_SELF)
    return strew.scatter_elements(*inputs, case.axis, reduction), expected


@rows.add("ScatterNDUpdate-3")
def scatter_nd_update_3(draw):
    drawn, how = dtypes(draw, "none")
    case = draw.tuples(drawn, unique=True, wrap=False, **how)
    inputs = (case.data, case.indices.astype(index_dtype(draw)), case.updates)
    letter = context(negative_indices=0)
    return strew.scatter_nd(*inputs, context=letter), run(opset4.scatter_nd_update, *inputs)


@rows.add("ScatterNDUpdate-15")
def scatter_nd_update_15(draw):
    name = draw.one_of(["none", "sum", "sub", "prod", "min", "max"])
    drawn, how = dtypes(draw, name)
    if name == "sub":  # of bool: see test_differences_of_bool
        drawn = [dtype for dtype in drawn if dtype.kind != "b"]
    case = draw.tuples(drawn, unique=name == "none", **how)
    inputs = (case.data, case.indices.astype(index_dtype(draw)), case.updates)
    return strew.scatter_nd(*inputs, REDUCTIONS[name]), run(nd_update(name), *inputs)


@rows.add("SliceScatter-15")
def slice_scatter(draw):
    box = draw.box([*BOOL, *NARROW, *FLOATS])
    bounds = [np.array(numbers, index_dtype(draw)) for numbers in box.slices]
    expected = run(lambda d, u: opset15.slice_scatter(d, u, *bounds), box.data, box.updates)
    return strew.slice_scatter(box.data, box.updates, *bounds), expected


test_row = rows.tests()

ONE = np.ones(1, np.float32)


@seen_in("openvino")
@pytest.mark.parametrize("make", [elements_update_3(), opset4.scatter_nd_update])
def test_operators_of_opset_3_wrap_negative_indices(make) -> None:
    """By their letter -1 is an error."""
    data, nd = np.zeros(3, np.float32), make is opset4.scatter_nd_update
    indices = np.array([[-1]] if nd else [-1])
    assert run(make, data, indices, ONE).tolist() == [0, 0, 1]
    call = strew.scatter_nd if nd else lambda *inputs, **how: strew.scatter_elements(
        *inputs, 0, **how
    )
    assert call(data, indices, ONE).tolist() == [0, 0, 1]
    letter = context(negative_indices=0)
    assert_refused(
        Status.INDEX_OUT_OF_RANGE, lambda: call(data, indices, ONE, context=letter)
    )


# In a process of its own, since a later inference may crash after such an index. Nor is there an
# index below -dim for ScatterElementsUpdate, which writes there.
OUT_OF_RANGE = """
import os, sys, numpy, openvino_test
data, updates = numpy.ones((3, 2), "f4"), numpy.full((1, 2), 9, "f4")
openvino_test.run(openvino_test.{make}, data, numpy.array({indices}), updates)
print("no error")
sys.stdout.flush()
os._exit(0)
"""


@seen_in("openvino")
@pytest.mark.parametrize(
    ("make", "indices"),
    [
        ("update()", [7]),
        ("update()", [-1]),
        ("elements_update()", [[7, 7]]),
        ("nd_update()", [[7]]),
        ("nd_update()", [[-7]]),
    ],
)
def test_out_of_range(make, indices) -> None:
    """There no error is reported, and nothing is written."""
    child = subprocess.run(
        [sys.executable, "-c", OUT_OF_RANGE.format(make=make, indices=indices)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert child.stdout == "no error\n"
    data, updates = np.ones((3, 2), np.float32), np.full((1, 2), 9, np.float32)
    call, axis = {
        "update()": (strew.scatter_update, (0,)),
        "elements_update()": (strew.scatter_elements, (0,)),
        "nd_update()": (strew.scatter_nd, ()),
    }[make]
    letter = context(negative_indices=0)
    operands = (data, np.array(indices), updates, *axis)
    assert_refused(Status.INDEX_OUT_OF_RANGE, lambda: call(*operands, context=letter))


@seen_in("openvino")
@pytest.mark.parametrize(
    ("number", "dtype"), [(2**40 + 1, "int64"), (2**63 + 1, "uint64"), (1 + 2**-40, "float64")]
)
def test_wide_dtypes_are_narrowed(number, dtype) -> None:
    data, zero, updates = np.zeros(2, dtype), np.array([0]), np.array([number], dtype)
    for there in (
        run(update(), data, zero, updates),
        run(elements_update_3(), data, zero, updates),
        run(elements_update(), data, zero, updates),
        run(opset4.scatter_nd_update, data, zero[:, None], updates),
        run(nd_update(), data, zero[:, None], updates),
        run(first_of_slice, data, updates),
    ):
        assert there.tolist() == [1, 0]
    assert strew.scatter_elements(data, zero, updates, 0).tolist() == [number, 0]


@seen_in("openvino")
def test_large_uint32_are_negative() -> None:
    data, zero, updates = (np.array([number], np.uint32) for number in (0, 0, 2**32 - 1))
    assert run(elements_update("max"), data, zero.astype(int), updates).tolist() == [0]
    assert run(nd_update("max"), data, zero[:, None].astype(int), updates).tolist() == [0]
    assert strew.scatter_elements(data, zero, updates, 0, Reduction.MAX).tolist() == [2**32 - 1]


@seen_in("openvino")
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["min", "max"])
def test_nan_in_min_and_max(name, dtype) -> None:
    """There the old value stays where one of both is a NaN."""
    data, updates = np.array([np.nan, 1, 0], dtype), np.array([1, np.nan, 5], dtype)
    for there in (
        run(elements_update(name), data, np.arange(3), updates),
        run(nd_update(name), data, np.arange(3)[:, None], updates),
    ):
        assert np.isnan(there).tolist() == [True, False, False]
    here = strew.scatter_elements(data, np.arange(3), updates, 0, REDUCTIONS[name])
    assert np.isnan(here).tolist() == [True, True, False]


@seen_in("openvino")
def test_zeros_in_min_and_max() -> None:
    """There the old value stays."""
    data, updates = np.array([0.0, -0.0], np.float32), np.array([-0.0, 0.0], np.float32)
    for name, sign in (("min", -0.0), ("max", 0.0)):
        assert_same_bytes(run(elements_update(name), data, np.arange(2), updates), data)
        assert_same_bytes(run(nd_update(name), data, np.arange(2)[:, None], updates), data)
        here = strew.scatter_elements(data, np.arange(2), updates, 0, REDUCTIONS[name])
        assert_same_bytes(here, np.full(2, sign, np.float32))


@seen_in("openvino")
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_differences_of_bool(count) -> None:
    """Here they are xor; there numbers are subtracted, and only 0 is false."""
    data, indices, updates = np.zeros(1, bool), np.zeros((count, 1), int), np.ones(count, bool)
    assert run(nd_update("sub"), data, indices, updates).tolist() == [True]
    here = strew.scatter_nd(data, indices, updates, Reduction.SUB)
    assert here.tolist() == [count % 2 == 1]


@seen_in("openvino")
def test_excluded_values_are_replaced_by_finite_ones() -> None:
    data, indices, use = np.array([1], np.float32), np.array([0]), Reduction.EXCLUDE_SELF
    most = np.finfo(np.float32).max
    for name, update_value, there in (
        ("min", np.inf, most),
        ("max", -np.inf, -most),
        ("sum", -0.0, 0.0),
    ):
        updates = np.array([update_value], np.float32)
        result = run(elements_update(name, use_init_val=False), data, indices, updates)
        assert_same_bytes(result, np.array([there], np.float32))
        here = strew.scatter_elements(data, indices, updates, 0, REDUCTIONS[name] | use)
        assert_same_bytes(here, updates)


@seen_in("openvino")
@pytest.mark.parametrize("dtype", SHORT_FLOATS, ids=str)
def test_sums_of_16_bits(dtype) -> None:
    """There float16 is summed as float32; bfloat16 rounds every sum, as here."""
    largest, there = (2048, 2112) if dtype == np.float16 else (256, 256)
    data, indices, updates = np.full(1, largest, dtype), np.zeros(64, int), np.ones(64, dtype)
    assert run(elements_update("sum"), data, indices, updates).tolist() == [there]
    assert run(nd_update("sum"), data, indices[:, None], updates).tolist() == [there]
    here = strew.scatter_elements(data, indices, updates, 0, Reduction.ADD)
    assert here.tolist() == [largest]


@seen_in("openvino")
def test_means_of_integers() -> None:
    """There they round toward zero, and the sum wraps before it is divided."""
    data, indices = np.zeros(1, np.int8), np.zeros(2, int)
    for terms, there, here in (([-7, 0], -3, -4), ([100, 100], -28, 100)):
        updates = np.array(terms, np.int8)
        make = elements_update("mean", use_init_val=False)
        assert run(make, data, indices, updates).tolist() == [there]
        reduction = Reduction.MEAN | Reduction.EXCLUDE_SELF
        assert strew.scatter_elements(data, indices, updates, 0, reduction).tolist() == [here]


@seen_in("openvino")
def test_means_of_16_bits() -> None:
    """There the quotient is cut off; here it is rounded: 1/3 lies nearer to the upper one."""
    data, indices, updates = np.zeros(1, BFLOAT16), np.zeros(3, int), np.array([1, 0, 0], BFLOAT16)
    there = run(elements_update("mean", use_init_val=False), data, indices, updates)
    assert there.tolist() == [0.33203125]
    reduction = Reduction.MEAN | Reduction.EXCLUDE_SELF
    here = strew.scatter_elements(data, indices, updates, 0, reduction)
    assert here.tolist() == [0.333984375]


@seen_in("openvino")
@pytest.mark.parametrize("stop", [-12, -(2**31)])
def test_slices_backwards(stop) -> None:
    """Python's slice is empty; there it has the first element."""
    start, stops, step, axes = (np.array([number]) for number in (-9, stop, -1, 0))
    data = np.zeros(5, np.float32)
    there = run(lambda d, u: opset15.slice_scatter(d, u, start, stops, step, axes), data, ONE)
    assert there.tolist() == [1, 0, 0, 0, 0]
    assert data[slice(-9, stop, -1)].size == 0
    here = strew.slice_scatter(data, ONE[:0], start, stops, step, axes)
    assert_same_bytes(here, data)


@seen_in("openvino")
def test_updates_of_a_slice_are_broadcast_here() -> None:
    bounds = [np.array([number]) for number in (0, 2, 1, 0)]
    data, updates = np.zeros((3, 2), np.float32), np.array([[1, 2]], np.float32)
    with pytest.raises(RuntimeError, match="expected_updates_shape"):
        run(lambda d, u: opset15.slice_scatter(d, u, *bounds), data, updates)
    here = strew.slice_scatter(data, updates, *bounds)
    assert here.tolist() == [[1, 2], [1, 2], [0, 0]]


def test_out_of_range_can_be_dropped_or_clamped() -> None:
    data, indices, updates = np.zeros(3), np.array([1, 7]), np.array([8.0, 9])
    for policy, expected in (
        (IndexPolicy.INDEX_DROP, [0, 8, 0]),
        (IndexPolicy.INDEX_CLAMP, [0, 8, 9]),
    ):
        made = context(index_policy=policy)
        assert strew.scatter_elements(data, indices, updates, 0, context=made).tolist() == expected
