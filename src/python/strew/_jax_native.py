# SPDX-License-Identifier: Apache-2.0
"""Registers the handlers of src/jax with XLA, and translates the values of their attributes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

try:
    import jax
except ImportError as error:
    raise ImportError("strew.jax needs JAX: pip install 'strew[jax]'") from error

if TYPE_CHECKING:
    from strew._strew import DuplicatePolicy, IndexPolicy, Reduction

# Arrays of JAX, or tracers of them.
Array = Any

LIBRARY = Path(__file__).with_name("libstrew_jax.so")
TARGETS = (
    "gather_scatter",
    "plan",
    "plan_gather",
    "scatter_elements",
    "scatter_nd",
    "scatter_update",
    "slice_scatter",
    "slice_scatter_int64",
    "tensor_scatter",
)

# In the order of their values in strew.h.
REDUCTIONS = ("none", "add", "mul", "min", "max", "sub", "mean")
EXCLUDE_SELF, WIDE = 0x100, 0x200
INDEX_POLICIES = ("error", "drop", "clamp")
DUPLICATE_POLICIES = ("last", "error")
CACHE_MODES = ("linear", "circular")


def _register() -> ctypes.CDLL:
    if not LIBRARY.is_file():
        raise ImportError(
            "strew was built without strew.jax, because the headers of jaxlib were not there: "
            "pip install 'jaxlib>=0.10', then install strew again from its sources"
        )
    handlers = ctypes.CDLL(str(LIBRARY))
    for name in TARGETS:
        handler = jax.ffi.pycapsule(getattr(handlers, f"strew_jax_{name}"))
        jax.ffi.register_ffi_target(f"strew_{name}", handler, platform="cpu")
    return handlers


drop_plan = _register().strew_jax_drop_plan
drop_plan.argtypes = [ctypes.c_int64]
drop_plan.restype = None


# JAX's dtypes of less than a byte, which strew lacks.
_PARTS_OF_BYTES = {"int1", "int2", "int4", "uint1", "uint2", "uint4", "float4_e2m1fn"}


def choice(what: str, names: tuple[str, ...], name: str) -> int:
    """The value of a name in strew.h."""
    if name not in names:
        raise ValueError(f"{what} {name!r} is none of {', '.join(names)}")
    return names.index(name)


class How(NamedTuple):
    """The settings of a call, which are fixed when it is traced."""

    reduction: Reduction = "none"
    exclude_self: bool = False
    wide: bool = False
    index_policy: IndexPolicy = "error"
    negative_indices: bool = True
    duplicate_policy: DuplicatePolicy = "last"

    def code(self) -> np.int64:
        """The reduction in strew.h."""
        kind = choice("reduction", REDUCTIONS, self.reduction)
        return np.int64(kind | EXCLUDE_SELF * self.exclude_self | WIDE * self.wide)

    def attributes(self, axis: int, mode: int | None = None) -> dict[str, Any]:
        """The attributes of a handler with indices; one with a mode has no reduction."""
        numbers = {
            "axis": axis,
            "reduction": self.code() if mode is None else mode,
            "index_policy": choice("index_policy", INDEX_POLICIES, self.index_policy),
            "negative_indices": int(self.negative_indices),
            "duplicate_policy": choice(
                "duplicate_policy", DUPLICATE_POLICIES, self.duplicate_policy
            ),
        }
        return {name: np.int64(value) for name, value in numbers.items()}


def call(target: str, data: Array, *others: Array, **attributes: Any) -> Array:
    """The handler's result, in the memory of data if XLA no longer needs that."""
    for operand in (data, *others):
        if operand.dtype.name in _PARTS_OF_BYTES:
            raise TypeError(f"strew has no dtype {operand.dtype.name}")
    result = jax.ShapeDtypeStruct(data.shape, data.dtype)
    function = jax.ffi.ffi_call(
        f"strew_{target}", result, input_output_aliases={0: 0}, vmap_method="sequential"
    )
    return function(data, *others, **attributes)


def numbers(values: Sequence[int]) -> np.ndarray[Any, Any]:
    """An attribute of several numbers."""
    return np.array(values, np.int64)
