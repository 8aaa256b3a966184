# SPDX-License-Identifier: Apache-2.0
"""The node tests of ONNX for Scatter, ScatterElements, ScatterND and TensorScatter."""

from __future__ import annotations

import importlib

import numpy as np
import onnx
import pytest
from onnx.backend.test.case import node as onnx_cases
from onnx.backend.test.case.test_case import TestCase

import strew_ctypes as strew
from arrays import assert_same_bytes
from strew_ctypes import CacheMode, Reduction

OPERATORS = ("Scatter", "ScatterElements", "ScatterND", "TensorScatter")
REDUCTIONS = {
    "none": Reduction.NONE,
    "add": Reduction.ADD,
    "mul": Reduction.MUL,
    "min": Reduction.MIN,
    "max": Reduction.MAX,
}
MODES = {b"linear": CacheMode.CACHE_LINEAR, b"circular": CacheMode.CACHE_CIRCULAR}
KNOWN = {
    "test_scatter_with_axis",
    "test_scatter_without_axis",
    "test_scatter_elements_with_axis",
    "test_scatter_elements_without_axis",
    "test_scatter_elements_with_negative_indices",
    "test_scatter_elements_with_duplicate_indices",
    "test_scatter_elements_with_reduction_max",
    "test_scatter_elements_with_reduction_min",
    "test_scatternd",
    "test_scatternd_add",
    "test_scatternd_multiply",
    "test_scatternd_max",
    "test_scatternd_min",
    "test_tensorscatter",
    "test_tensorscatter_3d",
    "test_tensorscatter_circular",
}


def collect() -> list[TestCase]:
    # The cases of a module are made when it is imported; all modules would take seconds.
    for module in OPERATORS:
        importlib.import_module(f"{onnx_cases.__name__}.{module.lower()}")
    cases = onnx_cases._NodeTestCases
    return [case for case in cases if case.model.graph.node[0].op_type in OPERATORS]


CASES = collect()


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
