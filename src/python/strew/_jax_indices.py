# SPDX-License-Identifier: Apache-2.0
"""Index values in integers that JAX computes with."""

from __future__ import annotations

import jax.numpy as jnp

from strew._jax_native import Array

LARGEST = 2**31 - 1  # of int32


def widened(indices: Array, extent: int = 0) -> Array:
    """Indices of 32 bits at least, and of 64 for a larger extent: narrower ones may not hold it."""
    dtype = jnp.dtype(jnp.int32 if extent <= LARGEST else jnp.int64)
    return indices.astype(dtype) if indices.dtype.itemsize < dtype.itemsize else indices


def signed(indices: Array, extent: int) -> Array:
    """Indices of an axis as int32, or as int64 for a larger extent.

    Gathers of JAX convert indices to these types by their low bits. An index out of range is
    therefore replaced by -extent - 1 or extent first, which are out of range on the same side.
    """
    indices = widened(indices, extent)
    lowest = -extent - 1 if jnp.issubdtype(indices.dtype, jnp.signedinteger) else 0
    dtype = jnp.int32 if extent <= LARGEST else jnp.int64
    return jnp.clip(indices, lowest, extent).astype(dtype)
