# SPDX-License-Identifier: Apache-2.0
"""The node tests of ONNX for Scatter, ScatterElements, ScatterND and TensorScatter."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx.backend.test.case.test_case import TestCase

import strew_ctypes as strew
from arrays import assert_same_bytes
from onnx_nodes import CASES, KNOWN
from strew_ctypes import CacheMode, Reduction

REDUCTIONS = {
    "none": Reduction.NONE,
    "add": Reduction.ADD,
    "mul": Reduction.MUL,
    "min": Reduction.MIN,
    "max": Reduction.MAX,
}
MODES = {b"linear": CacheMode.CACHE_LINEAR, b"circular": CacheMode.CACHE_CIRCULAR}


def run(node: onnx.NodeProto, inputs: list[np.ndarray]) -> np.ndarray:
    attributes = {field.name: onnx.helper.get_attribute_value(field) for field in node.attribute}
    if node.op_type == "TensorScatter":
        axis, mode = attributes.pop("axis", -2), MODES[attributes.pop("mode", b"linear")]
        assert not attributes
        return strew.tensor_scatter(*inputs, axis, mode)
    reduction = REDUCTIONS[attributes.pop("reduction", b"none").decode()]
    if node.op_type == "ScatterND":
        assert not attributes
        return strew.scatter_nd(*inputs, reduction)
    axis = attributes.pop("axis", 0)
    assert not attributes
    return strew.scatter_elements(*inputs, axis, reduction)


def test_the_known_cases_are_there() -> None:
    assert KNOWN <= {case.name for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_node(case: TestCase) -> None:
    assert case.data_sets
    for inputs, (expected,) in case.data_sets:
        assert_same_bytes(run(case.model.graph.node[0], inputs), expected)
