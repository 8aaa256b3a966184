# SPDX-License-Identifier: Apache-2.0
"""The pictures of doc/ show what the library computes."""

from __future__ import annotations

import ctypes
import pathlib
import sys
from typing import Any

import numpy as np
import pytest
import strew_ctypes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "doc"))

import examples

CONSTANTS = {"reduction": strew_ctypes.Reduction, "mode": strew_ctypes.CacheMode}


def attribute(name: str, value: Any) -> Any:
    return CONSTANTS[name][value] if name in CONSTANTS else value


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=lambda example: example.caption)
def test_results_are_those_of_the_library(example: examples.Example) -> None:
    operands = {name: np.array(array) for name, array in example.operands.items()}
    attributes = {name: attribute(name, value) for name, value in example.attributes.items()}
    found = getattr(strew_ctypes, example.function)(**operands, **attributes)
    assert found.tolist() == examples.result(example)


def call_with_plans(example: examples.PlanExample) -> np.ndarray:
    expected = np.array(examples.result_of_plans(example))
    arrays = {name: np.array(array) for name, array in example.operands.items()}
    tensors = {name: strew_ctypes.Tensor(array) for name, array in arrays.items()}
    output = strew_ctypes.Tensor(np.full_like(expected, -1))
    of = {name: tensor.handle for name, tensor in tensors.items()}
    of |= {name: plan_of_rows(rows, example.extent(name)) for name, rows in example.plans.items()}
    reduction = strew_ctypes.Reduction[example.attributes.get("reduction", "NONE")]
    arguments = {
        "plan_scatter": lambda: (of["plan"], of["data"], of["updates"], reduction),
        "plan_gather": lambda: (of["plan"], of["source"]),
        "plan_gather_scatter": lambda: (
            *(of[name] for name in ("from", "source", "weights", "to", "data")),
            reduction,
        ),
    }[example.function]()
    function = getattr(strew_ctypes.library, f"strew_{example.function}")
    assert function(None, *arguments, output.handle) == strew_ctypes.Status.OK
    for name in example.plans:
        strew_ctypes.library.strew_plan_destroy(of[name])
    return output.array


def plan_of_rows(rows: list[int], extent: int) -> ctypes.c_void_p:
    plan, indices = ctypes.c_void_p(), strew_ctypes.Tensor(np.array(rows))
    make = strew_ctypes.library.strew_plan_scatter_update
    assert make(None, indices.handle, 0, extent, ctypes.byref(plan)) == strew_ctypes.Status.OK
    return plan


@pytest.mark.parametrize("example", examples.PLAN_EXAMPLES, ids=lambda example: example.function)
def test_results_with_plans_are_those_of_the_library(example: examples.PlanExample) -> None:
    assert call_with_plans(example).tolist() == examples.result_of_plans(example)


def test_every_use_of_a_plan_has_an_example() -> None:
    named = {f"strew_{example.function}" for example in examples.PLAN_EXAMPLES}
    plans = {name for name in strew_ctypes.FUNCTIONS if name.startswith("strew_plan_")}
    makers = {f"strew_plan_{example.function}" for example in examples.EXAMPLES}
    about = {f"strew_plan_{name}" for name in ("destroy", "entries", "dropped", "memory")}
    assert named == plans - makers - about


def test_every_operator_has_an_example() -> None:
    named = {example.function for example in examples.EXAMPLES}
    scatters = {name for name in strew_ctypes.FUNCTIONS if "scatter" in name}
    operators = {name for name in scatters if "plan" not in name}
    # slice_scatter differs from slice_scatter_int64 in where it takes numbers from.
    assert {f"strew_{name}" for name in named} == operators - {"strew_slice_scatter"}
