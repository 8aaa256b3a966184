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

CONSTANTS = {"reduction": strew_ctypes.Reduction, "mode": strew_ctypes.CacheMode}


def attribute(name: str, value: Any) -> Any:
    return CONSTANTS[name][value] if name in CONSTANTS else value


@pytest.mark.parametrize("example", examples.EXAMPLES, ids=lambda example: example.caption)
def test_results_are_those_of_the_library(example: examples.Example) -> None:
    operands = {name: np.array(array) for name, array in example.operands.items()}
    attributes = {name: attribute(name, value) for name, value in example.attributes.items()}
    found = getattr(strew_ctypes, example.function)(**operands, **attributes)
    assert found.tolist() == examples.result(example)


def test_every_operator_has_an_example() -> None:
    named = {example.function for example in examples.EXAMPLES}
    scatters = {name for name in strew_ctypes.FUNCTIONS if "scatter" in name}
    operators = {name for name in scatters if "plan" not in name}
    # slice_scatter differs from slice_scatter_int64 in where it takes numbers from.
    assert {f"strew_{name}" for name in named} == operators - {"strew_slice_scatter"}
