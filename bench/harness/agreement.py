# SPDX-License-Identifier: Apache-2.0
"""The expected result of a workload, and the check of a contestant's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import ml_dtypes
import numpy as np

from .buffers import Buffers
from .scatter import Scatter

# Where floats may be added or multiplied in another order, the result may differ by this many units
# of rounding (the distance from 1 to the next number) of the sum or product of all magnitudes.
UNITS_OF_ROUNDING = 16

_ACCUMULATE = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def reference(scatter: Scatter) -> np.ndarray:
    """By NumPy, the updates one after the other in row-major order."""
    result = scatter.data.copy()
    flat = result.reshape(-1)
    places, updates = scatter.places().ravel(), scatter.updates.ravel()
    reduction, _, without_old = scatter.reduction.partition("|")
    if reduction == "none":
        flat[places] = updates
        return result
    if reduction == "mean":
        _set_means(flat, places, updates, bool(without_old))
        return result
    if without_old:
        flat[places] = _neutral(reduction, result.dtype)
    _ACCUMULATE[reduction].at(flat, places, updates)
    return result


def _set_means(
    flat: np.ndarray, places: np.ndarray, updates: np.ndarray, without_old: bool
) -> None:
    """Sums of integers are exact, those of floats of 16 bits and less are float32."""
    wide = np.int64 if flat.dtype.kind in "iu" else np.promote_types(flat.dtype, np.float32)
    sums = flat.astype(wide)
    if without_old:
        sums[places] = _neutral("add", sums.dtype)
    np.add.at(sums, places, updates.astype(wide))
    counts = np.bincount(places, minlength=flat.size)
    touched = counts > 0
    terms = (counts + (not without_old))[touched]
    sums = sums[touched]
    if sums.dtype.kind == "i":
        flat[touched] = sums // terms
        return
    parts = sums.view(sums.real.dtype).reshape(terms.size, -1)
    parts /= terms.astype(parts.dtype)[:, None]
    flat[touched] = sums


def _neutral(reduction: str, dtype: np.dtype) -> object:
    """What leaves every value as it is."""
    if reduction == "add":
        return {"f": -0.0, "V": -0.0, "c": complex(-0.0, -0.0)}.get(dtype.kind, 0)
    if reduction == "mul":
        return 1
    if is_float(dtype):
        return math.inf if reduction == "min" else -math.inf
    if dtype.kind == "b":
        return reduction == "min"
    limits = np.iinfo(dtype)
    return limits.max if reduction == "min" else limits.min


class Referee:
    """Judges results of a scatter, given while its data is as it was."""

    def __init__(self, scatter: Scatter) -> None:
        self._scatter = scatter
        self._expected = reference(scatter)

    def complaint(self, result: np.ndarray, exactly: bool) -> str | None:
        """A sentence where the result is wrong.

        Not exactly: floats may have been added or multiplied in another order, and of several
        updates of one element any may have replaced it.
        """
        if result.shape != self._expected.shape or result.dtype != self._expected.dtype:
            return f"made {result.dtype} {list(result.shape)}"
        different = (_bits(result) != _bits(self._expected)).ravel()
        count = int(np.count_nonzero(different))
        if count == 0 or not exactly and self._excused(result.ravel(), different):
            return None
        return f"{count} of {different.size} elements are wrong"

    def _excused(self, result: np.ndarray, different: np.ndarray) -> bool:
        if self._scatter.reduction == "none":
            return self._is_some_update(result, different)
        reduction = self._scatter.reduction.partition("|")[0]
        if reduction == "mean" and result.dtype.kind in "iu":
            return self._is_rounded_otherwise(result, different)
        inexact = is_float(result.dtype) or result.dtype.kind == "c"
        return reduction in ("add", "mul", "mean") and inexact and self._is_near(result, different)

    def _is_rounded_otherwise(self, result: np.ndarray, different: np.ndarray) -> bool:
        wide = result[different].astype(np.int64)
        return bool((np.abs(wide - self._expected.ravel()[different]) <= 1).all())

    def _is_some_update(self, result: np.ndarray, different: np.ndarray) -> bool:
        places, updates = self._scatter.places().ravel(), self._scatter.updates.ravel()
        asked = different[places]
        places, updates = places[asked], updates[asked]
        found = np.zeros(different.size, bool)
        found[places[_bits(updates) == _bits(result[places])]] = True
        return bool(found[different].all())

    def _is_near(self, result: np.ndarray, different: np.ndarray) -> bool:
        scatter = self._scatter
        reduction = scatter.reduction.partition("|")[0]
        magnitude = np.abs(scatter.data).ravel().astype(np.float64)
        updates = np.abs(scatter.updates).ravel().astype(np.float64)
        places = scatter.places().ravel()
        _ACCUMULATE["add" if reduction == "mean" else reduction].at(magnitude, places, updates)
        if reduction == "mean":
            magnitude /= np.maximum(1, np.bincount(places, minlength=magnitude.size))
        wide = np.complex128 if result.dtype.kind == "c" else np.float64
        error = result[different].astype(wide) - self._expected.ravel()[different]
        return bool((np.abs(error) <= tolerance(result.dtype) * magnitude[different]).all())


def differing(
    calls: Mapping[int, Callable[[], None]], buffers: Buffers, in_place: bool
) -> list[int]:
    """The calls, by their keys, that do not leave the very bytes that the first leaves."""
    expected, found = None, []
    for key, call in calls.items():
        buffers.restore_output(in_place)
        call()
        if expected is None:
            expected = _bits(buffers.output).copy()
        elif not np.array_equal(_bits(buffers.output), expected):
            found.append(key)
    buffers.restore_output(in_place)
    return found


def is_float(dtype: np.dtype) -> bool:
    return "float" in dtype.name


def tolerance(dtype: np.dtype) -> float:
    """The tolerance of a float, relative to the magnitudes that were added or multiplied."""
    return UNITS_OF_ROUNDING * float(ml_dtypes.finfo(dtype).eps)


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")
