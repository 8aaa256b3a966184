# SPDX-License-Identifier: Apache-2.0
"""The measured dtypes in NumPy, and random values of each."""

from __future__ import annotations

import functools
import math

import ml_dtypes  # noqa: F401  NumPy knows bfloat16 and float8 by name once this is imported
import numpy as np

from .agreement import tolerance

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
OPAQUE = tuple(f"opaque{width}" for width in range(1, 17))
DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX, "string", *OPAQUE)


@functools.cache
def as_numpy(dtype: str) -> np.dtype:
    """NumPy's dtype, or one of the same width."""
    if dtype == "string":
        return np.dtype(np.uintp)
    if dtype.startswith("opaque"):
        return np.dtype(f"V{dtype.removeprefix('opaque')}")
    return np.dtype(dtype)


def random_values(random: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Random bytes where any will do, magnitudes in [1/4, 1) for floats."""
    numpy_dtype = as_numpy(dtype)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype not in FLOATS + COMPLEX:
        content = random.bytes(math.prod(shape) * numpy_dtype.itemsize)
        return np.frombuffer(content, numpy_dtype).reshape(shape)
    values = random.uniform(0.25, 1, shape) * random.choice((-1, 1), shape)
    if dtype in COMPLEX:
        values = values + 1j * random.uniform(-1, 1, shape)
    return values.astype(numpy_dtype)


def unit_factors(random: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Random factors that do not change magnitudes, if the dtype has such factors."""
    if dtype not in FLOATS + COMPLEX:
        return random_values(random, dtype, shape)
    units = (1, -1, 1j, -1j) if dtype in COMPLEX else (1, -1)
    return random.choice(np.array(units), shape).astype(as_numpy(dtype))


def agree(result: np.ndarray, expected: np.ndarray) -> bool:
    """Equal bit for bit, or for floats within the rounding of sums in another order."""
    if result.dtype.name not in FLOATS + COMPLEX:
        return result.tobytes() == expected.tobytes()
    wide = np.complex128 if result.dtype.name in COMPLEX else np.float64
    exact = expected.astype(wide)
    most = tolerance(result.dtype) * np.abs(exact).max()
    return bool(np.allclose(result.astype(wide), exact, rtol=0, atol=most))
