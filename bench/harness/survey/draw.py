# SPDX-License-Identifier: Apache-2.0
"""Random calls, determined by the seed and the number of the call alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from ..workloads import Operator, Shape, Slice, Use
from .case import Case, Layout, Layouts, Pattern

Item = TypeVar("Item")

# Items and how often each is drawn, relative to the others.
Weights = Mapping[Item, float]

OPERATORS: Weights[Operator] = {
    Operator.SCATTER_ELEMENTS: 40,
    Operator.SCATTER_UPDATE: 30,
    Operator.SCATTER_ND: 18,
    Operator.SLICE_SCATTER: 12,
}
DTYPES: Weights[str] = {
    "float32": 28,
    "float64": 10,
    "float16": 8,
    "bfloat16": 8,
    "int32": 10,
    "int64": 10,
    "int16": 7,
    "int8": 7,
    "uint8": 3,
    "bool": 4,
    "complex64": 5,
}
REDUCTIONS: Weights[str] = {"none": 30, "add": 26, "mul": 8, "min": 8, "max": 12, "mean": 16}
SLICE_REDUCTIONS: Weights[str] = {"none": 75, "add": 15, "mul": 3, "min": 3, "max": 4}
PATTERNS: Weights[Pattern] = {
    Pattern.UNIFORM: 40,
    Pattern.SORTED: 18,
    Pattern.PERMUTED: 18,
    Pattern.ZIPF: 14,
    Pattern.EQUAL: 10,
}
INDEX_DTYPES: Weights[str] = {"int64": 62, "int32": 34, "int16": 2, "uint8": 2}
LAYOUTS: Weights[Layout] = {
    Layout.PLAIN: 1,
    Layout.EVERY_SECOND: 1,
    Layout.PITCHED: 1,
    Layout.TRANSPOSED: 1,
}
USES: Weights[Use] = {
    Use.CALL: 67,
    Use.SCATTER: 13,
    Use.GATHER: 8,
    Use.GATHER_SCATTER: 12,
}
STRIDED, BROADCAST, EXCLUDE_SELF = 0.12, 0.08, 0.15  # shares of the cases
WIDE, WEIGHTED = 0.35, 0.5  # of the sums and products of floats, of the plans that gather first
ROUNDED = ("float16", "bfloat16", "float32")  # float32 to check that WIDE costs nothing there

LEAST, MOST = 1e3, 3e7  # elements of data
MOST_UPDATES = 3 * 10**7
ODD = (5, 6, 7, 9, 10, 11, 12, 13, 17, 23, 25, 31, 33, 50, 64, 65, 100, 113, 127)


def draw(seed: int, number: int, threads: int = 1) -> Case:
    """Case `number` of the seed, on one thread or on `threads`."""
    return _Draw(np.random.default_rng((seed, number))).case(seed, number, threads)


class _Draw:
    def __init__(self, random: np.random.Generator) -> None:
        self._random = random

    def case(self, seed: int, number: int, threads: int) -> Case:
        operator = self._weighted(OPERATORS)
        dtype = self._weighted(DTYPES)
        data = self._shape()
        axis = int(self._random.integers(len(data)))
        common = {
            "name": f"case {number}",
            "seed": (seed, number),
            "operator": operator,
            "dtype": dtype,
            "reduction": self._reduction(operator, dtype),
            "data": data,
            "in_place": self._chance(0.5),
            "threads": int(self._random.integers(1, threads + 1)),
        }
        if operator is Operator.SLICE_SCATTER:
            return self._sliced(common)
        pattern = self._weighted(PATTERNS)
        if operator is Operator.SCATTER_ND:
            axis, indices, updates = 0, *self._tuples(data)
        elif operator is Operator.SCATTER_UPDATE:
            count = self._count(data[axis], math.prod(data) // data[axis])
            indices, updates = (count,), (*data[:axis], count, *data[axis + 1 :])
        else:
            indices = updates = self._elements(data, axis)
        case = Case(**common, axis=axis, indices=indices, updates=updates, pattern=pattern)
        places = math.prod(case.places) if operator is not Operator.SCATTER_ND else max(case.places)
        laid = self._laid(case, index_dtype=self._index_dtype(places))
        return self._planned(self._widened(laid))

    def _weighted(self, weights: Weights[Item]) -> Item:
        shares = np.array(list(weights.values()), float)
        return list(weights)[self._random.choice(len(shares), p=shares / shares.sum())]

    def _chance(self, share: float) -> bool:
        return bool(self._random.random() < share)

    def _one_of(self, items: Sequence[Item]) -> Item:
        return items[self._random.integers(len(items))]

    def _log_uniform(self, low: float, high: float) -> int:
        return round(math.exp(self._random.uniform(math.log(low), math.log(high))))

    def _reduction(self, operator: Operator, dtype: str) -> str:
        sliced = operator is Operator.SLICE_SCATTER
        reduction = self._weighted(SLICE_REDUCTIONS if sliced else REDUCTIONS)
        refused = dtype == "bool" and reduction == "mean"
        if refused or dtype == "complex64" and reduction in ("min", "max"):
            reduction = "add"
        without_old = self._chance(EXCLUDE_SELF) and reduction != "none" and not sliced
        return f"{reduction}|exclude_self" if without_old else reduction

    def _shape(self) -> Shape:
        """Draws a shape. Small dims such as 1, 2 and 3 are as likely as large ones, which share
        the remaining elements."""
        rank = int(self._random.integers(1, 5))
        left = float(self._log_uniform(LEAST, MOST))
        dims: list[int] = []
        large = int(self._random.integers(1, rank + 1))
        for _ in range(rank - large):
            small = self._one_of((1, 2, 3)) if self._chance(0.5) else self._one_of(ODD)
            dims.append(small if small < left else 1)
            left /= dims[-1]
        shares = self._random.dirichlet(np.ones(large))
        dims += [max(1, round(left**share)) for share in shares]
        return tuple(int(dim) for dim in self._random.permutation(dims))

    def _count(self, dim: int, width: int) -> int:
        """The number of indices along an axis of `dim`; each stands for `width` updates."""
        most = max(1, MOST_UPDATES // width)
        kind = self._one_of(("few", "any", "tenth", "half", "equal", "more"))
        count = {
            "few": self._one_of((1, 2, 3, 4, 5, 8, 10, 16)),
            "any": self._log_uniform(1, max(2, dim)),
            "tenth": dim // 10,
            "half": dim // 2,
            "equal": dim,
            "more": math.ceil(dim * self._random.uniform(1, 4)),
        }[kind]
        return min(max(1, count), most)

    def _elements(self, data: Shape, axis: int) -> Shape:
        """Mostly the whole lines, in some cases a part of them."""
        shape = [
            dim if self._chance(0.75) else int(self._random.integers(max(1, dim // 2), dim + 1))
            for dim in data
        ]
        shape[axis] = 1
        shape[axis] = self._count(data[axis], math.prod(shape))
        return tuple(shape)

    def _tuples(self, data: Shape) -> tuple[Shape, Shape]:
        """The shapes of indices and updates."""
        length = int(self._random.integers(1, len(data) + 1))
        count = self._count(math.prod(data[:length]), math.prod(data[length:]))
        return (count, length), (count, *data[length:])

    def _index_dtype(self, places: int) -> str:
        dtype = self._weighted(INDEX_DTYPES)
        return dtype if places <= np.iinfo(dtype).max else "int64"

    def _laid(self, case: Case, index_dtype: str) -> Case:
        """The case with operands of other layouts, in some of the cases."""
        layouts, still = Layouts(), None
        others = [axis for axis, dim in enumerate(case.updates) if axis != case.axis and dim > 1]
        elements = case.operator is Operator.SCATTER_ELEMENTS
        if self._chance(BROADCAST) and others:
            still = self._one_of(others)
            both = Layout.PLAIN, Layout.BROADCAST
            indices = self._one_of(both) if elements else Layout.PLAIN
            updates = self._one_of(both) if indices is Layout.BROADCAST else Layout.BROADCAST
            layouts = Layouts(Layout.PLAIN, indices, updates)
        elif self._chance(STRIDED):
            data, indices, updates = (self._weighted(LAYOUTS) for _ in range(3))
            layouts = Layouts(data, indices if elements else Layout.PLAIN, updates)
        return replace(case, index_dtype=index_dtype, layouts=layouts, still=still)

    def _widened(self, case: Case) -> Case:
        reduction = case.reduction
        can_be_wide = case.dtype in ROUNDED and reduction.startswith(("add", "mul"))
        if can_be_wide and self._chance(WIDE):
            return replace(case, reduction=f"{reduction}|wide")
        return case

    def _planned(self, case: Case) -> Case:
        """The case with a plan, in some of the cases. The written tensor is never broadcast."""
        use = self._weighted(USES)
        if use in (Use.CALL, Use.SCATTER):
            return replace(case, use=use)
        layouts = case.layouts
        if layouts.updates is Layout.BROADCAST:
            layouts = replace(layouts, updates=Layout.PLAIN)
        case = replace(case, use=use, layouts=layouts)
        if use is Use.GATHER:
            return replace(case, reduction="none", in_place=False)
        weights = self._weights(case) if self._chance(WEIGHTED) else None
        pattern, source = self._weighted(PATTERNS), self._source(case)
        most = np.iinfo(case.index_dtype).max
        if math.prod(case.places_in(source)) > most:
            source = case.data
        return replace(case, source=source, source_pattern=pattern, weights=weights)

    def _source(self, case: Case) -> Shape:
        """The shape of data, with a longer or shorter axis in half of the cases."""
        axis = 0 if case.operator is Operator.SCATTER_ND else case.axis
        if self._chance(0.5):
            return case.data
        row = math.prod(case.data) // case.data[axis]
        length = min(self._log_uniform(1, 4 * case.data[axis]), max(1, int(MOST) // row))
        return (*case.data[:axis], length, *case.data[axis + 1 :])

    def _weights(self, case: Case) -> Shape:
        """One for each entry, or for each element of updates."""
        if case.operator is Operator.SCATTER_ELEMENTS or self._chance(1 / 3):
            return case.updates
        axis = 0 if case.operator is Operator.SCATTER_ND else case.axis
        return tuple(dim if i == axis else 1 for i, dim in enumerate(case.updates))

    def _sliced(self, common: dict) -> Case:
        data = common["data"]
        count = min(len(data), self._one_of((1, 1, 1, 2, 2, 3)))
        axes = sorted(int(axis) for axis in self._random.permutation(len(data))[:count])
        entries = [self._slice(data[axis]) for axis in axes]
        updates = list(data)
        for axis, (_, _, _, length) in zip(axes, entries):
            updates[axis] = length
        start, stop, step, _ = zip(*entries)
        cut = Slice(tuple(axes), start, stop, step)
        case = Case(
            **common, indices=(), updates=tuple(updates), slice=cut, pattern=Pattern.SLICE, axis=-1
        )
        return self._laid(case, index_dtype="int64")

    def _slice(self, dim: int) -> tuple[int, int, int, int]:
        """start, stop, step and how many places they name."""
        step = self._one_of((1, 1, 1, 1, 2, 3, -1, -2)) if dim > 4 else 1
        stride = abs(step)
        room = dim - 1 if step < 0 else dim  # so that no stop is before the axis
        most = (room - 1) // stride + 1
        length = self._one_of((most, max(1, most // 2), self._log_uniform(1, max(2, most))))
        length = min(length, most)
        span = (length - 1) * stride
        low = dim - room + int(self._random.integers(room - span))
        if step > 0:
            return low, low + span + 1, step, length
        return low + span, low - 1, step, length
