# SPDX-License-Identifier: Apache-2.0
"""Comparisons of calls of PyTorch with and without strew.torch.enable()."""

from __future__ import annotations

from collections.abc import Callable

import strew.torch
import torch
from torch import Tensor


def bits(tensor: Tensor) -> Tensor:
    """The bytes, with one NaN for all, of which neither side promises the payload."""
    real = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
    real = real.detach().contiguous()
    if real.dtype.is_floating_point:
        real = real.masked_fill(real.isnan(), float("nan"))
    return real.reshape(-1).view(torch.uint8)


def require_same(found: Tensor, expected: Tensor, what: object) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape, what
    assert found.stride() == expected.stride(), what
    assert torch.equal(bits(found), bits(expected)), (what, found, expected)


def outcome(call: Callable[[], Tensor]) -> Tensor | Exception:
    try:
        return call()
    except Exception as error:
        return error


def require_same_outcome(call: Callable[[], Tensor], what: object) -> None:
    expected = outcome(call)
    with strew.torch.enable():
        found = outcome(call)
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected)), (what, expected, found)
        if not isinstance(found, strew.torch.IndexOutOfRange):
            assert str(found) == str(expected), what
        return
    assert isinstance(found, Tensor), (what, found)
    require_same(found, expected, what)
