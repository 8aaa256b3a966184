# SPDX-License-Identifier: Apache-2.0
"""The expected result of a workload, and the check of a contestant's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property

import ml_dtypes
import numpy as np

from .buffers import Buffers
from .gather import GatherScatter
from .scatter import Scatter

# If floats may be added or multiplied in another order, the result may differ by this many units
# of rounding (the distance from 1 to the next number) of the sum or product of all magnitudes.
UNITS_OF_ROUNDING = 16

_ACCUMULATE = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def reference(scatter: Scatter) -> np.ndarray:
    """The result by NumPy, with the updates one after the other in row-major order."""
    result = scatter.data.copy()
    flat = result.reshape(-1)
    places, updates = scatter.places().ravel(), scatter.updates.ravel()
    how = scatter.how
    if how.name == "none":
        flat[places] = updates
    elif how.name == "mean":
        _set_means(flat, places, updates, how.without_old)
    else:
        wide = np.promote_types(flat.dtype, np.float32) if _rounds_once(scatter) else flat.dtype
        values = flat.astype(wide, copy=False)
        terms = places, updates.astype(wide, copy=False)
        if how.without_old and how.name == "mul" and values.dtype.kind == "c":
            terms = _after_first(values, *terms)
        elif how.without_old:
            values[places] = _neutral(how.name, values.dtype)
        _ACCUMULATE[how.name].at(values, *terms)
        if values is not flat:
            flat[places] = values[places].astype(flat.dtype)
    return result


def _after_first(
    values: np.ndarray, places: np.ndarray, updates: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Replaces old values by their first updates, and returns the others.

    No complex number is a neutral factor: each changes the sign of some zero.
    """
    reached, first = np.unique(places, return_index=True)
    values[reached] = updates[first]
    others = np.ones(places.size, bool)
    others[first] = False
    return places[others], updates[others]


def _rounds_once(scatter: Scatter) -> bool:
    return scatter.how.wide and scatter.how.name in ("add", "mul") and is_float(scatter.data.dtype)


def _set_means(
    flat: np.ndarray, places: np.ndarray, updates: np.ndarray, without_old: bool
) -> None:
    """Sums of integers are exact; sums of floats of at most 16 bits are in float32."""
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
    """The element that leaves every value as it is."""
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

    def __init__(self, work: Scatter | GatherScatter) -> None:
        self._work = work
        self._expected = np.empty(work.output.shape, work.output.dtype)
        for where, scatter in work.parts():
            self._expected[where] = reference(scatter)

    def complaint(self, result: np.ndarray, exactly: bool) -> str | None:
        """A sentence if the result is wrong.

        The check is not exact: floats may have been added or multiplied in another order, and any
        of several updates of one element may have replaced it.
        """
        return _complaint(result, self._expected, None if exactly else self._excused)

    def _excused(self, result: np.ndarray, different: np.ndarray) -> bool:
        name = self._work.how.name
        if name == "none":
            return all(
                _is_some_update(scatter, result[where], different[where])
                for where, scatter in self._work.parts()
            )
        found, expected = result[different], self._expected[different]
        if name == "mean" and result.dtype.kind in "iu":  # rounded otherwise
            return bool((np.abs(found.astype(np.int64) - expected) <= 1).all())
        inexact = is_float(result.dtype) or result.dtype.kind == "c"
        if name not in ("add", "mul", "mean") or not inexact:
            return False
        error = found.astype(np.complex128 if result.dtype.kind == "c" else np.float64) - expected
        most = tolerance(result.dtype) * self._magnitudes[different]
        return bool((np.abs(error) <= most).all())

    @cached_property
    def _magnitudes(self) -> np.ndarray:
        """The sums or products of the magnitudes of all terms of an element."""
        magnitudes = np.empty(self._expected.shape)
        for where, scatter in self._work.parts():
            magnitudes[where] = _magnitudes(scatter)
        return magnitudes


class ExactReferee:
    """Judges work with exactly one valid result."""

    def __init__(self, expected: np.ndarray) -> None:
        self._expected = expected

    def complaint(self, result: np.ndarray, exactly: bool) -> str | None:
        return _complaint(result, self._expected, None)


def _complaint(
    result: np.ndarray,
    expected: np.ndarray,
    excused: Callable[[np.ndarray, np.ndarray], bool] | None,
) -> str | None:
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return f"made {result.dtype} {list(result.shape)}"
    different = _bits(result) != _bits(expected)
    count = int(np.count_nonzero(different))
    if count == 0 or excused and excused(result, different):
        return None
    return f"{count} of {different.size} elements are wrong"


def _is_some_update(scatter: Scatter, result: np.ndarray, different: np.ndarray) -> bool:
    """True if some update of each element is its result."""
    result, different = result.ravel(), different.ravel()
    places, updates = scatter.places().ravel(), scatter.updates.ravel()
    asked = different[places]
    places, updates = places[asked], updates[asked]
    found = np.zeros(different.size, bool)
    found[places[_bits(updates) == _bits(result[places])]] = True
    return bool(found[different].all())


def _magnitudes(scatter: Scatter) -> np.ndarray:
    name = scatter.how.name
    magnitudes = np.abs(scatter.data).astype(np.float64)
    flat, places = magnitudes.reshape(-1), scatter.places().ravel()
    updates = np.abs(scatter.updates).ravel().astype(np.float64)
    _ACCUMULATE["add" if name == "mean" else name].at(flat, places, updates)
    if name == "mean":
        flat /= np.maximum(1, np.bincount(places, minlength=flat.size))
    return magnitudes


def differing(
    calls: Mapping[int, Callable[[], None]], buffers: Buffers, in_place: bool
) -> list[int]:
    """The keys of the calls whose bytes differ from those of the first."""
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
