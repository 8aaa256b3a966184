# SPDX-License-Identifier: Apache-2.0
"""Calls of the extension with PyTorch's tensors, threads and errors."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import NoReturn

import torch
from torch.autograd import forward_ad
from torch.compiler import is_compiling

from strew._strew import TorchCalls
from strew._support import Error

REDUCTIONS = ("none", "add", "mul", "min", "max", "sub", "mean")
_CODES = {name: code for code, name in enumerate(REDUCTIONS)}
_EXCLUDE_SELF, _WIDE = 0x100, 0x200


class IndexOutOfRange(Error, IndexError, RuntimeError):
    """An index that strew refused: every type that PyTorch raises for one, and a strew.Error."""

    __module__ = "strew.torch"  # where it is public


def code_of(reduction: str, exclude_self: bool, wide: bool) -> int:
    """The number of a reduction in strew.h."""
    code = _CODES.get(reduction)
    if code is None:
        raise ValueError(f"reduction {reduction!r} is not one of: {', '.join(REDUCTIONS)}")
    return code | (_EXCLUDE_SELF if exclude_self else 0) | (_WIDE if wide else 0)


def reraise(error: Error) -> NoReturn:
    """Raises what strew refused as PyTorch would."""
    if error.status == "STREW_INDEX_OUT_OF_RANGE":
        raise IndexOutOfRange(str(error), error.status, error.position) from None
    raise error


def _address(library: ctypes.CDLL, name: str) -> int:
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    assert address is not None
    return address


def _calls() -> TorchCalls:
    # torch/csrc/stable/c/shim.h declares the functions. The library's name depends on the system.
    folder = Path(torch.__file__).parent / "lib"
    names = ("libtorch_cpu.so", "libtorch_cpu.dylib", "torch_cpu.dll")
    path = next((folder / name for name in names if (folder / name).exists()), None)
    if path is None:
        raise ImportError(f"strew.torch did not find PyTorch's library in {folder}")
    library = ctypes.CDLL(str(path))
    functions = ("torch_parallel_for", "torch_get_num_threads")
    return TorchCalls(torch.Tensor, *(_address(library, name) for name in functions))


CALLS = _calls()

# Looked up once: a call with three tensors uses all of these, which costs 0.9 us.
_Tensor = torch.Tensor
_grad_enabled = torch.is_grad_enabled
_modes = torch._C._len_torch_dispatch_stack
_function_modes = torch._C._is_torch_function_mode_enabled
_transforms = torch._C._functorch.peek_interpreter_stack
_tracing = torch._C._get_tracing_state


def are_recorded() -> bool:
    """True if a compiler, a tracer or a mode wants to see the operators that are called."""
    return bool(is_compiling() or _modes() or _function_modes() or _tracing() is not None)


def are_transformed() -> bool:
    """True if vmap or a function of torch.func is at work."""
    return _transforms() is not None


def are_plain(first: torch.Tensor, *others: torch.Tensor | None) -> bool:
    """True if a call on these tensors does not need the dispatcher, which saves 10 us.

    Then no gradient is recorded, nothing is traced or transformed, and the elements in memory are
    those of the tensor.
    """
    if is_compiling() or _modes() or _function_modes() or _transforms() is not None:
        return False
    if _tracing() is not None or forward_ad._current_level >= 0 or type(first) is not _Tensor:
        return False
    if not first.is_cpu or first.is_neg() or first.is_conj():
        return False
    records = _grad_enabled()
    for tensor in others:
        if tensor is None:
            continue
        if type(tensor) is not _Tensor or tensor.is_neg() or tensor.is_conj():
            return False
        if records and tensor.requires_grad:
            return False
    return not (records and first.requires_grad)


def refuse_gradients(*tensors: torch.Tensor | None) -> None:
    """As PyTorch refuses them for out=."""
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors):
        raise RuntimeError(
            "functions with out=... do not record gradients, but one of the arguments requires grad"
        )
