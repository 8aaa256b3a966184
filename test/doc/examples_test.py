# SPDX-License-Identifier: Apache-2.0
"""The pictures of doc/ show what the library computes."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import numpy as np
import pytest
import strew_ctypes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "doc"))

import examples
import pictures

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
    arrays = {name: np.array(array) for name, array in example.operands.items()}
    plans = {
        name: strew_ctypes.Plan("scatter_update", np.array(rows), 0, example.extent(name))
        for name, rows in example.plans.items()
    }
    reduction = strew_ctypes.Reduction[example.attributes.get("reduction", "NONE")]
    out = np.full_like(np.array(examples.result_of_plans(example)), -1)
    if example.function == "plan_scatter":
        return plans["plan"].scatter(arrays["data"], arrays["updates"], reduction, out)
    if example.function == "plan_gather":
        return plans["plan"].gather(arrays["source"], out)
    from_operands = plans["from"], arrays["source"], arrays["weights"]
    to_operands = plans["to"], arrays["data"]
    return strew_ctypes.gather_scatter(*from_operands, *to_operands, reduction, out)


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


def test_the_picture_of_the_readme_is_that_of_its_example() -> None:
    (example,) = [e for e in examples.EXAMPLES if e.attributes == {"reduction": "ADD"}]
    root = pathlib.Path(__file__).resolve().parents[2]
    drawn = pictures.picture(example)
    assert (root / "doc" / f"{example.function}.svg").read_text() == drawn
    assert f"](doc/{example.function}.svg)" in (root / "README.md").read_text()
