# SPDX-License-Identifier: Apache-2.0
"""Index values in integers that JAX computes with."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from strew._jax_native import Array
from strew._support import IndexRangeError

LARGEST = 2**31 - 1  # of int32


def widened(indices: Array, extent: int = 0) -> Array:
    """Indices of at least 32 bits, or 64 bits if the extent needs them: fewer may not hold it."""
    dtype = jnp.dtype(jnp.int32 if extent <= LARGEST else jnp.int64)
    return indices.astype(dtype) if indices.dtype.itemsize < dtype.itemsize else indices


def signed(indices: Array, extent: int) -> Array:
    """Indices of an axis as int32, or as int64 for a larger extent.

    JAX's gathers convert indices to these types by their low bits. An index out of range is
    therefore replaced by -extent - 1 or extent first, which are out of range on the same side.
    """
    indices = widened(indices, extent)
    lowest = -extent - 1 if jnp.issubdtype(indices.dtype, jnp.signedinteger) else 0
    dtype = jnp.int32 if extent <= LARGEST else jnp.int64
    return jnp.clip(indices, lowest, extent).astype(dtype)


def fitted(name: str, indices: Any, policy: str, longest: int, period: int = 0) -> Any:
    """Indices that jnp.asarray() does not change, even without jax_enable_x64.

    Without it, JAX keeps only the low 32 bits of 64-bit integers: index 2**32 + 1 would become 1.
    Values of NumPy arrays, lists and numbers that do not fit into 32 bits are out of range if no
    axis has more than `longest` elements and int32 holds that number. They raise IndexRangeError
    with the true value if the policy is "error", because strew's own check would name another
    value. If it is "drop" or "clamp", they become the nearest 32-bit value, which is out of range
    on the same side. On longer axes they may be valid, and raise OverflowError.

    With a period, all indices >= 0 are valid and are reduced modulo the period. JAX arrays, and
    indices that are not integers, are returned unchanged.
    """
    if isinstance(indices, jax.Array) or jax.dtypes.canonicalize_dtype(np.int64) == np.int64:
        return indices
    array = _wide_array(indices)
    if array is None:
        return indices
    own = np.dtype(f"{array.dtype.kind}4")
    if period > 0 and not _fits(array, own):
        array = np.where(array < 0, array, array % period)
    for dtype in (own, np.dtype(np.uint32)):
        if _fits(array, dtype):
            return array.astype(dtype)
    if policy == "error" or longest > LARGEST:
        raise _error(name, array, own, longest)
    limits = np.iinfo(own)
    return array.clip(limits.min, limits.max).astype(own)


def _wide_array(indices: Any) -> NDArray[Any] | None:
    """Indices as a NumPy array, if NumPy makes 64-bit integers of them; else None."""
    leaves = jax.tree_util.tree_leaves(indices)
    if any(isinstance(leaf, jax.Array) or hasattr(leaf, "__jax_array__") for leaf in leaves):
        return None
    array = np.asarray(indices)
    is_wide = array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size > 0
    return array if is_wide else None


def _fits(array: NDArray[Any], dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return bool(limits.min <= int(array.min()) and int(array.max()) <= limits.max)


def _error(name: str, array: NDArray[Any], dtype: np.dtype[Any], longest: int) -> Exception:
    """The error of the first value that does not fit the dtype."""
    limits = np.iinfo(dtype)
    position = int(np.argmax((array < limits.min) | (array > limits.max)))
    place = ",".join(str(int(i)) for i in np.unravel_index(position, array.shape))
    text = f"{name}[{place}] = {int(array.flat[position])}"
    if longest > LARGEST:
        return OverflowError(
            f"{text} does not fit 32 bits, and the longest axis has {longest} elements: "
            "set jax_enable_x64 for indices of 64 bits"
        )
    elements = "1 element" if longest == 1 else f"{longest} elements"
    sentence = f"{text} is out of range: the longest axis has {elements}"
    return IndexRangeError(sentence, "STREW_INDEX_OUT_OF_RANGE", position)
