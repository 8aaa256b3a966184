# SPDX-License-Identifier: Apache-2.0
"""strew.torch.enable(): every sample that PyTorch has for the tests of these operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import strew.torch
import torch
from torch import Tensor
from torch.testing._internal.common_methods_invocations import op_db
from torch_same import require_same_outcome

OPERATORS = (
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "index_add",
    "index_copy",
    "index_reduce",
    "index_put",
)
ROUTED = [op for op in op_db if op.name in OPERATORS]


def forms(op: Any, sample: Any) -> Iterator[tuple[str, Callable[[], Tensor]]]:
    """The same call as a function, in place, and with out."""
    given, rest, options = sample.input, sample.args, sample.kwargs
    yield "functional", lambda: op(given, *rest, **options)
    in_place = getattr(torch.Tensor, f"{op.name}_")
    yield "in place", lambda: in_place(given.clone(), *rest, **options)
    if op.supports_out:
        yield "out", lambda: op(given, *rest, **options, out=torch.empty_like(given))
        yield "resized", lambda: op(given, *rest, **options, out=given.new_empty(0))
        yield "cast", lambda: op(given, *rest, **options, out=given.new_empty(0).double())


def test_the_operators_are_there() -> None:
    assert {op.name for op in ROUTED} == set(OPERATORS)


@pytest.mark.parametrize("op", ROUTED, ids=lambda op: f"{op.name}{op.variant_test_name}")
def test_every_sample(op: Any) -> None:
    count = 0
    for dtype in sorted(op.supported_dtypes("cpu"), key=str):
        for sample in op.sample_inputs("cpu", dtype, requires_grad=False):
            for form, call in forms(op, sample):
                require_same_outcome(call, (op.name, dtype, form, sample))
                count += 1
    assert count > 20


@pytest.mark.parametrize("op", ROUTED, ids=lambda op: f"{op.name}{op.variant_test_name}")
def test_gradients_of_every_sample(op: Any) -> None:
    def gradients(sample: Any) -> list[Tensor]:
        tensors = [t for t in (sample.input, *sample.args) if isinstance(t, Tensor)]
        wanted = [t for t in tensors if t.requires_grad]
        result = op(sample.input, *sample.args, **sample.kwargs)
        return [result, *torch.autograd.grad(result.sin().sum(), wanted, allow_unused=True)]

    if not op.supports_autograd:
        pytest.skip("PyTorch has no gradient")
    for sample in op.sample_inputs("cpu", torch.float64, requires_grad=True):
        expected = gradients(sample)
        with strew.torch.enable():
            found = gradients(sample)
        for one, other in zip(found, expected):
            assert (one is None) == (other is None)
            if one is not None:
                torch.testing.assert_close(one, other, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("op", ROUTED, ids=lambda op: f"{op.name}{op.variant_test_name}")
def test_errors_of_every_sample(op: Any) -> None:
    if op.error_inputs_func is None:
        pytest.skip("PyTorch lists no wrong inputs")
    for wrong in op.error_inputs("cpu"):
        sample = wrong.sample_input
        call = lambda: op(sample.input, *sample.args, **sample.kwargs)  # noqa: E731
        require_same_outcome(call, (op.name, sample))
