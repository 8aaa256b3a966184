# SPDX-License-Identifier: Apache-2.0
"""Routes calls of aten's own CPU operators to strew; public in strew.torch."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch
from torch import Tensor

from strew._support import Error
from strew.torch import _routes
from strew.torch._calls import reraise

Reader = Callable[..., "_routes.Call | None"]

# The overloads that return a new tensor, write to self, and write to out; one function reads all.
_TABLE: tuple[tuple[Reader, str, str, str], ...] = (
    (_routes.scatter_src, "scatter.src", "scatter_.src", "scatter.src_out"),
    (_routes.scatter_value, "scatter.value", "scatter_.value", "scatter.value_out"),
    (_routes.scatter_src_reduce, "scatter.reduce", "scatter_.reduce", "scatter.reduce_out"),
    (_routes.scatter_add, "scatter_add", "scatter_add_", "scatter_add.out"),
    (_routes.scatter_reduce, "scatter_reduce.two", "scatter_reduce_.two", "scatter_reduce.two_out"),
    (_routes.index_add, "index_add", "index_add_", "index_add.out"),
    (_routes.index_copy, "index_copy", "index_copy_", "index_copy.out"),
    (_routes.index_reduce, "index_reduce", "index_reduce_", "index_reduce.out"),
    # index_put(), index_put_() and x[i] = y all call it.
    (_routes.index_put, "", "_index_put_impl_", ""),
)

_lock = threading.RLock()
# Kept once it is there: PyTorch frees a kernel that is taken back while other threads run it.
_library: torch.library.Library | None = None
_is_enabled = False
_entered = 0


class Enabled:
    """The result of enable(): leaving the with statement gives the calls back to aten."""

    def __enter__(self) -> Enabled:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        global _entered
        with _lock:
            _entered = max(_entered - 1, 0)
            if _entered == 0:
                disable()


def enable() -> Enabled:
    """Routes aten's scatters to strew, from now on or within a with statement.

    These are scatter, scatter_add, scatter_reduce, index_add, index_copy, index_reduce and
    index_put on the CPU, in all forms, on all threads of the process. Calls that strew would
    refuse, or whose results would differ, are left to aten. An index out of range raises
    IndexOutOfRange, and nothing is written. While a process calls this for the first time, no other
    thread may call these operators.
    """
    global _library, _is_enabled, _entered
    with _lock:
        _entered += 1
        if _library is None:
            _library = _routed()
        _is_enabled = True
    return Enabled()


def disable() -> None:
    """Returns all calls to aten, however often enable() was called.

    Calls that other threads have begun end in strew. From the first enable() on, a call that goes
    to aten passes through Python, which takes 4 us.
    """
    global _is_enabled, _entered
    with _lock:
        _entered = 0
        _is_enabled = False


def is_enabled() -> bool:
    """True if calls of aten go to strew."""
    return _is_enabled


def _routed() -> torch.library.Library:
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*[Oo]verriding a previously registered kernel")
        for read, functional, in_place, out in _TABLE:
            for name, output in ((functional, _new), (in_place, _self), (out, _given)):
                if name:
                    library.impl(name, _kernel(name, read, output), "CPU", with_keyset=True)
    return library


# ---- Where a call writes: None where only aten knows ----


def _new(data: Tensor, out: Tensor | None) -> Tensor | None:
    return torch.empty(data.shape, dtype=data.dtype)


def _self(data: Tensor, out: Tensor | None) -> Tensor | None:
    return data


def _given(data: Tensor, out: Tensor | None) -> Tensor | None:
    # aten resizes others, or refuses them.
    fits = out is not None and out.shape == data.shape and out.dtype == data.dtype and out.is_cpu
    return out if fits else None


def _kernel(
    name: str, read: Reader, output_of: Callable[[Tensor, Tensor | None], Tensor | None]
) -> Callable[..., Tensor]:
    kernel = torch.library.get_kernel(f"aten::{name}", "CPU")
    has_out = output_of is _given

    def routed(keyset: Any, data: Tensor, *arguments: Any, **options: Any) -> Tensor:
        if not _is_enabled:
            returned: Tensor = kernel.call_boxed(keyset, data, *arguments, **options)
            return returned
        out = options.pop("out") if has_out else None
        call = read(data, *arguments, **options)
        output = None if call is None else output_of(data, out)
        if call is not None and output is not None:
            try:
                call.write(
                    data, call.indices, call.updates, call.axis, call.code, output, call.wrap
                )
                return output
            except Error as error:
                # On every other status nothing was written, and aten raises its own exception.
                # It accepts any index into data without elements.
                is_index = error.status == "STREW_INDEX_OUT_OF_RANGE" and data.numel() > 0
                if is_index or error.status == "STREW_RUNNER_FAILED":
                    reraise(error)
        if has_out:
            options["out"] = out
        left: Tensor = kernel.call_boxed(keyset, data, *arguments, **options)
        return left

    return routed
