# SPDX-License-Identifier: Apache-2.0
"""The node tests of ONNX for the operators that strew has."""

from __future__ import annotations

import importlib

from onnx.backend.test.case import node as onnx_cases
from onnx.backend.test.case.test_case import TestCase

OPERATORS = ("Scatter", "ScatterElements", "ScatterND", "TensorScatter")
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


def _collect() -> list[TestCase]:
    # The cases of a module are made when it is imported; all modules would take seconds.
    for module in OPERATORS:
        importlib.import_module(f"{onnx_cases.__name__}.{module.lower()}")
    cases = onnx_cases._NodeTestCases
    return [case for case in cases if case.model.graph.node[0].op_type in OPERATORS]


CASES = _collect()
