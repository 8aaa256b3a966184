# SPDX-License-Identifier: Apache-2.0
"""Calls in which strew once was slower than a peer, each in place and with a new output.

Gathers have a new output only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..workloads import Operator, Shape, Slice, Use
from .case import Case, Layout, Layouts, Pattern

_TRANSPOSED = Layouts(updates=Layout.TRANSPOSED)
_TRANSPOSED_DATA = Layouts(data=Layout.TRANSPOSED)
_PITCHED = Layouts(data=Layout.PITCHED, indices=Layout.PITCHED)
ELEMENTS, ND = Operator.SCATTER_ELEMENTS, Operator.SCATTER_ND
UPDATE, SLICE = Operator.SCATTER_UPDATE, Operator.SLICE_SCATTER


@dataclass(frozen=True)
class Class:
    operator: Operator
    reduction: str
    dtype: str
    data: Shape
    updates: Shape
    axis: int = 0
    pattern: Pattern = Pattern.UNIFORM
    slice: Slice | None = None
    tuple_length: int = 0
    index_dtype: str = "int64"
    repeats: int | None = None  # an axis along which updates repeat, or what `layouts` broadcasts
    use: Use = Use.CALL
    source: Shape = ()
    weights: Shape | None = None
    layouts: Layouts = Layouts()


def _histogram(bins: int) -> Class:
    """Counts ten million keys."""
    keys = 10**7
    return Class(ELEMENTS, "add", "int32", (bins,), (keys,), index_dtype="int32", repeats=0)


def _slice(reduction: str, dtype: str, data: Shape, updates: Shape, where: Slice) -> Class:
    return Class(SLICE, reduction, dtype, data, updates, pattern=Pattern.SLICE, slice=where)


def _gathered(
    operator: Operator,
    reduction: str,
    data: Shape,
    updates: Shape,
    axis: int,
    weights: Shape | None,
) -> Class:
    """Takes the updates from a source with the shape of data."""
    plans = {"use": Use.GATHER_SCATTER, "source": data, "weights": weights}
    return Class(operator, reduction, "float32", data, updates, axis, **plans)


def _strided_gather(dtype: str, data: Shape, updates: Shape, axis: int) -> Class:
    """Gathers from every second element of data into every second element of updates."""
    strided = Layouts(data=Layout.EVERY_SECOND, updates=Layout.EVERY_SECOND)
    return Class(UPDATE, "none", dtype, data, updates, axis, use=Use.GATHER, layouts=strided)


CLASSES = (
    Class(UPDATE, "add", "float32", (2, 1, 6, 18675), (2, 3, 6, 18675), 1),
    Class(UPDATE, "none", "int32", (58792, 25, 1), (58792, 25, 3), 2),
    Class(UPDATE, "mean", "float32", (25, 23, 370, 10), (25, 23, 370, 10), 3, Pattern.SORTED),
    Class(ELEMENTS, "mean", "float32", (7149346,), (714934,), 0, Pattern.SORTED),
    Class(ELEMENTS, "mean", "float32", (631059,), (315529,), 0, Pattern.PERMUTED),
    Class(UPDATE, "add", "float32", (16760, 4, 2), (16760, 4, 6), 2),
    Class(UPDATE, "max", "float32", (13888, 12, 6), (13888, 1, 6), 1),
    Class(UPDATE, "max", "int16", (196, 1, 847, 2), (196, 1, 847, 5), 3),
    Class(ELEMENTS, "max", "float32", (1630, 118), (1584, 118), 1, Pattern.ZIPF),
    Class(ELEMENTS, "max", "float64", (243106,), (121553,), 0, Pattern.EQUAL),
    Class(ELEMENTS, "add", "float64", (7, 330392), (7, 208058), 0),
    Class(ELEMENTS, "mul", "bfloat16", (80, 3292, 3), (59, 3292, 2), 1),
    Class(ND, "add", "float32", (5, 5, 1, 794306), (50, 1, 794306), 0, Pattern.EQUAL, None, 2),
    _slice(
        "none", "int64", (119427, 113), (59714, 17), Slice((0, 1), (0, 48), (119427, 65), (2, 1))
    ),
    # An axis whose elements share cache lines; short axes beside many columns, of odd length
    # and at powers of two; updates that repeat along a run; means that are sorted into buckets.
    Class(ELEMENTS, "add", "float32", (7, 1632, 3), (7, 1632, 3), 2),
    Class(ELEMENTS, "add", "float32", (33, 30001), (33, 30001), 0),
    Class(ELEMENTS, "add", "float32", (32, 32768), (32, 32768), 0),
    Class(ND, "none", "float32", (1000, 4096), (500, 4096), tuple_length=1, repeats=1),
    Class(ELEMENTS, "mean", "float64", (30_000_000,), (3_000_000,), 0),
    *map(_histogram, (16, 256, 65536, 10**7)),
    _slice("none", "int32", (65, 1962, 31), (65, 1962, 11), Slice((2,), (0,), (31,), (3,))),
    _slice("none", "int16", (8916, 23), (4457, 11), Slice((0, 1), (6920, 20), (2463, 9), (-1, -1))),
    _slice("mul", "bfloat16", (9, 7033, 6), (9, 7032, 6), Slice((1,), (7032,), (0,), (-1,))),
    _slice(
        "mul", "float64", (4261, 27, 7), (2130, 27, 3), Slice((0, 2), (865, 0), (2995, 7), (1, 3))
    ),
    # Plans: means of single elements, gathers along short axes, rows and elements of a source;
    # and sums that are rounded once.
    Class(ELEMENTS, "mean", "float32", (16777216,), (4194304,), use=Use.SCATTER),
    Class(ELEMENTS, "none", "int8", (123826, 2), (123826, 8), 1, use=Use.GATHER),
    _gathered(UPDATE, "add", (200000, 16), (2000000, 16), 0, (2000000, 1)),
    _gathered(ELEMENTS, "max", (113, 50, 14), (113, 39, 13), 2, None),
    _gathered(ELEMENTS, "add", (20, 531784), (20, 426614), 0, (20, 426614)),
    _gathered(UPDATE, "add", (400, 9000), (400, 9000), 1, None),  # slices outside the entries
    _gathered(UPDATE, "max", (3000, 200), (3000, 500), 1, None),
    Class(UPDATE, "add|wide", "bfloat16", (20000, 64), (200000, 64)),
    # Few rows of an odd length; short rows with gaps behind them.
    Class(UPDATE, "mean", "float32", (1000, 20001), (300, 20001)),
    Class(ELEMENTS, "none", "int64", (389537, 2), (1444661, 2), 0, Pattern.ZIPF, layouts=_PITCHED),
    Class(ELEMENTS, "add", "int32", (10_000, 30), (10_000, 9), 1, layouts=_PITCHED),
    # Rows too short for a strip of whole cache lines; jumps within the caches in a large output.
    Class(ELEMENTS, "none", "float64", (20049, 157), (10024, 157), 0, Pattern.ZIPF),
    _gathered(ELEMENTS, "max", (8000, 2, 677), (8000, 2, 677), 1, (8000, 2, 677)),
    # Rows of a few elements, and sums that wait for each other.
    Class(UPDATE, "add", "float32", (500, 60, 3), (500, 40, 3), 1),
    Class(ND, "add", "int32", (3000, 2), (100000, 2), tuple_length=1),
    Class(ELEMENTS, "add", "bfloat16", (243106,), (121553,), 0, Pattern.EQUAL),
    Class(ELEMENTS, "add", "bfloat16", (243106,), (121553,), 0, Pattern.SORTED),
    # Few entries in a tile, unless its rows are a longer loop over batches.
    Class(ELEMENTS, "add", "float32", (46615, 3, 3), (46615, 3, 1), 2, layouts=_TRANSPOSED),
    Class(ELEMENTS, "add", "float32", (46615, 3, 3), (46615, 3, 2), 2, layouts=_TRANSPOSED),
    Class(ELEMENTS, "mul|exclude_self", "float32", (89860, 25, 2), (89860, 2, 2), 1),
    _gathered(ELEMENTS, "max", (50, 100000), (50, 100000), 0, None),
    # Short loops with strided updates; short rows of a copy with a slice laid over it.
    Class(ELEMENTS, "mean", "float32", (20000, 2, 2), (20000, 2, 1), 2, repeats=1),
    Class(ELEMENTS, "add", "float32", (20000, 2, 2), (20000, 2, 2), 1, repeats=0),
    _slice("none", "float64", (373951, 6), (373951, 3), Slice((1,), (1,), (4,), (1,))),
    # Indices that are all equal; random rows that end within cache lines.
    Class(ELEMENTS, "max", "float32", (4156203,), (14562657,), 0, Pattern.EQUAL),
    Class(UPDATE, "none", "float32", (100000, 24), (50000, 24)),
    Class(UPDATE, "none", "float64", (300000, 4), (100000, 4), use=Use.GATHER),
    # Sorted indices that repeat 100 times, as those of segments do.
    Class(ELEMENTS, "max", "float32", (10000,), (1000000,), 0, Pattern.SORTED),
    Class(ELEMENTS, "add", "bfloat16", (10000,), (1000000,), 0, Pattern.SORTED),
    Class(ELEMENTS, "mean", "float32", (10000,), (1000000,), 0, Pattern.SORTED),
    # Moves of rows of a few bytes; few entries of many short runs that one update repeats.
    Class(UPDATE, "none", "int8", (100_000, 3), (100_000, 3)),
    Class(ND, "none", "float32", (30_000, 2), (60_000, 2), tuple_length=1),
    Class(UPDATE, "add", "float64", (2700, 9, 4), (2700, 24, 4), 1, repeats=2),
    Class(UPDATE, "max", "float32", (20_000, 5, 5), (20_000, 9, 5), 1, repeats=2),
    # Means of which the sums of a few columns fit scratch at the same time.
    Class(ELEMENTS, "mean", "float32", (44695, 7), (22347, 7), 0),
    # Indices that are all equal, in rows with gaps between them.
    Class(ELEMENTS, "max", "float32", (10**5, 10), (10**5, 10), 1, Pattern.EQUAL, layouts=_PITCHED),
    # Indices that are all equal, in short rows; accumulators of strided turns that share indices.
    Class(ELEMENTS, "add", "float32", (2_000_000, 1), (2_000_000, 3), 1),
    Class(
        ELEMENTS,
        "mean",
        "float32",
        (27, 6, 2, 100),
        (27, 3, 2, 100),
        1,
        repeats=2,
        layouts=Layouts(indices=Layout.BROADCAST),
    ),
    # Moves of which later ones replace most.
    Class(UPDATE, "none", "float32", (50_000, 3, 40), (50_000, 5, 40), 1),
    Class(UPDATE, "none", "float32", (20_000, 64), (60_000, 64)),
    # Moves of rows with gaps between them.
    _slice("none", "int64", (80, 2535, 57), (80, 2535, 4), Slice((2,), (23,), (27,), (1,))),
    _slice("none", "float32", (7000, 370), (7000, 110), Slice((1,), (9,), (119,), (1,))),
    # Few slices of transposed data, whose updates share cache lines.
    Class(UPDATE, "max", "float32", (3, 50_000, 13), (11, 50_000, 13), layouts=_TRANSPOSED_DATA),
    # Few entries that are transposed matrices.
    Class(UPDATE, "max", "float64", (2, 256, 64), (6, 256, 64), layouts=_TRANSPOSED),
    # Extrema of floats into every second and third element.
    _slice("max", "float32", (2, 645735), (2, 199523), Slice((1,), (428744,), (29699,), (-2,))),
    _slice("min", "float64", (2000, 132), (2000, 44), Slice((1,), (0,), (132,), (3,))),
    # Gathers of one column, of entries with several loops, and of runs that share cache lines.
    _strided_gather("int8", (300_000, 8, 1), (300_000, 8, 1), 2),
    _strided_gather("float32", (600, 5, 17, 40), (600, 5, 17, 40), 1),
    Class(
        ND,
        "none",
        "int16",
        (5, 8, 1, 51642),
        (5, 8, 1, 51642),
        pattern=Pattern.PERMUTED,
        tuple_length=1,
        use=Use.GATHER,
        layouts=Layouts(data=Layout.TRANSPOSED, updates=Layout.EVERY_SECOND),
    ),
    # Rows of a few elements from a source, and an axis of one element, with plans.
    _gathered(UPDATE, "add", (100_000, 2), (300_000, 2), 0, None),
    _gathered(UPDATE, "add", (100_000, 3), (300_000, 3), 0, (300_000, 3)),
    _gathered(UPDATE, "max", (50_000, 16), (200_000, 16), 0, (200_000, 16)),
    Class(ELEMENTS, "max", "int16", (5_000_000, 1), (5_000_000, 1), 1, use=Use.SCATTER),
    Class(ELEMENTS, "none", "int16", (5_000_000, 1), (5_000_000, 1), 1, use=Use.GATHER),
    # Means of few updates in columns of which few fit near caches.
    Class(ELEMENTS, "mean", "uint8", (26967, 299), (2696, 299), 0),
    Class(ELEMENTS, "mean", "int16", (60410, 65), (30205, 65), 0, Pattern.SORTED),
    # Large new outputs that are copied in pieces; gathers from transposed sources.
    Class(ELEMENTS, "max", "float64", (1178, 6078), (1178, 1519), 1),
    Class(ELEMENTS, "none", "float32", (5000, 3000), (4500, 1500), 1),
    Class(UPDATE, "add", "int16", (1843, 8518), (1843, 532), 1),
    Class(
        UPDATE,
        "none",
        "float32",
        (2, 30_000, 3),
        (12, 30_000, 3),
        use=Use.GATHER,
        layouts=Layouts(data=Layout.TRANSPOSED),
    ),
    # Copies of transposed data, of which few columns are replaced.
    Class(UPDATE, "none", "float64", (5000, 984), (5000, 20), 1, layouts=_TRANSPOSED_DATA),
    # Copies of transposed data with few elements along the first and the last axis.
    Class(
        SLICE,
        "none",
        "float16",
        (4, 703, 17, 11),
        (2, 703, 10, 4),
        pattern=Pattern.SLICE,
        slice=Slice(start=(2, 16, 0), stop=(4, 6, 10), step=(1, -1, 3), axes=(0, 2, 3)),
        layouts=Layouts(data=Layout.TRANSPOSED),
    ),
    # Means of columns in several passes, and of more than 16 M destinations; reversed columns.
    Class(ELEMENTS, "mean", "int64", (240273, 3, 7), (240273, 3, 7), 0, Pattern.SORTED),
    Class(ELEMENTS, "mean", "float32", (100_000, 21), (400_000, 21), 0),
    Class(ELEMENTS, "mean", "float64", (25_048_864,), (25_048_864,), 0, Pattern.SORTED),
    _slice(
        "none",
        "float32",
        (1, 5_414_830, 2),
        (1, 2_707_414, 1),
        Slice(start=(4_492_809, 1), stop=(1_785_395, 2), step=(-1, 1), axes=(1, 2)),
    ),
    # Means of rows of two elements, of which there are many.
    Class(UPDATE, "mean", "float32", (250_000, 2), (500_000, 2), 0),
    # Weighted short rows in many slices, from a source.
    replace(
        _gathered(UPDATE, "none", (3, 812, 127, 9), (3, 812, 21, 9), 2, (1, 1, 21, 1)),
        dtype="int8",
    ),
    # Far rows on the last axis, and a far line: the CPU itself prefetches what ascends.
    Class(ELEMENTS, "none", "int64", (1000, 8000), (1000, 6000), 1, Pattern.SORTED),
    Class(ELEMENTS, "add", "float32", (195, 13183), (195, 6591), 1),
    Class(ELEMENTS, "none", "int64", (5_800_000,), (5_800_000,), 0, Pattern.SORTED),
    Class(ELEMENTS, "none", "float32", (457_000, 21), (457_000, 10), 1),
    # Maxima of floats that wait for each other.
    Class(ELEMENTS, "max", "float64", (2000, 300), (2000, 600), 1, Pattern.SORTED),
    # Few rows whose innermost loops are short and lie apart.
    replace(
        _gathered(UPDATE, "max", (2, 12990, 43, 2), (4, 12990, 43, 2), 0, (4, 12990, 43, 2)),
        dtype="int64",
        layouts=Layouts(data=Layout.PITCHED, updates=Layout.PITCHED),
    ),
    replace(
        _gathered(UPDATE, "add", (3, 30_000, 43, 3), (9, 30_000, 43, 3), 0, None),
        layouts=Layouts(data=Layout.PITCHED, updates=Layout.PITCHED),
    ),
    # One column, and a few columns, of many short rows from a source.
    _gathered(UPDATE, "mul", (434_590, 8), (434_590, 1), 1, None),
    _gathered(UPDATE, "add", (434_590, 8), (434_590, 4), 1, None),
    # Gathers of the same few elements of each row.
    Class(UPDATE, "none", "complex64", (192, 12, 129, 2), (192, 12, 129, 2), 3, use=Use.GATHER),
    Class(UPDATE, "none", "float32", (200_000, 3), (200_000, 3), 1, use=Use.GATHER),
    Class(UPDATE, "none", "int8", (300_000, 12), (300_000, 7), 1, use=Use.GATHER, layouts=_PITCHED),
    # Several columns of rows whose updates fill cache lines, beyond the caches.
    Class(UPDATE, "add", "float64", (200_000, 6), (200_000, 16), 1),
    Class(UPDATE, "add", "float64", (100_000, 16), (100_000, 16), 1),
    # Short rows in the caches; indices of which half are negative, in rows that end within vectors.
    Class(ELEMENTS, "add", "float32", (40_000, 10), (40_000, 10), 1),
    Class(ELEMENTS, "add", "float32", (25_000, 16), (25_000, 16), 1),
    Class(ELEMENTS, "none", "float32", (10_000, 30), (10_000, 30), 1, Pattern.SIGNED),
    Class(ND, "none", "float32", (1000, 1000), (200_000,), 0, Pattern.SIGNED, tuple_length=2),
    # Means of rows, and calls with plans, beyond the caches.
    Class(UPDATE, "mean", "float16", (100_000, 64), (200_000, 64)),
    Class(UPDATE, "mean", "float32", (20_000, 256), (20_000, 256)),
    Class(ELEMENTS, "add", "float32", (1 << 24,), (1 << 22,), use=Use.SCATTER),
    Class(ELEMENTS, "mean", "int32", (1 << 24,), (1 << 22,), use=Use.SCATTER),
    _gathered(UPDATE, "add", (100_000, 64), (1_000_000, 64), 0, (1_000_000, 1)),
    # Few entries of many short runs with a loop between: updates repeat along the last or last but
    # one axis.
    Class(UPDATE, "add", "int64", (33_229, 41, 2, 3), (33_229, 8, 2, 3), 1, repeats=2),
    Class(UPDATE, "add", "float32", (33_229, 41, 2, 3), (33_229, 8, 2, 3), 1, repeats=3),
    # Copies of two transposed columns; gathers and slices of runs whose elements lie apart.
    Class(
        SLICE,
        "none",
        "float32",
        (2, 4_000_000),
        (1, 2_000_000),
        pattern=Pattern.SLICE,
        slice=Slice(start=(1, 1_000_000), stop=(2, 3_000_000), step=(1, 1), axes=(0, 1)),
        layouts=_TRANSPOSED_DATA,
    ),
    Class(
        UPDATE,
        "none",
        "int64",
        (1_000_000, 2),
        (1_000_000, 2),
        pattern=Pattern.PERMUTED,
        use=Use.GATHER,
        layouts=Layouts(data=Layout.EVERY_SECOND, updates=Layout.EVERY_SECOND),
    ),
    _slice(
        "none",
        "float64",
        (2, 1930, 64, 45),
        (2, 1930, 32, 15),
        Slice(start=(63, 2), stop=(0, 45), step=(-2, 3), axes=(2, 3)),
    ),
    _slice(
        "add",
        "float32",
        (2, 1930, 64, 45),
        (2, 1930, 32, 15),
        Slice(start=(0, 2), stop=(64, 45), step=(2, 3), axes=(2, 3)),
    ),
    # Short rows of narrow places.
    Class(ELEMENTS, "add", "int32", (157_229, 13), (157_229, 13), 1, repeats=0, use=Use.SCATTER),
)
_NAME = "class"


def is_class(case: Case) -> bool:
    return case.name.startswith(_NAME)


def classes(threads: int) -> Iterator[Case]:
    """Their names end in .new and .inp."""
    for number, entry in enumerate(CLASSES, start=1):
        case = Case(
            name=f"{_NAME} {number}.new",
            seed=(0, number),
            operator=entry.operator,
            dtype=entry.dtype,
            reduction=entry.reduction,
            data=entry.data,
            indices=_indices(entry),
            updates=entry.updates,
            axis=entry.axis,
            slice=entry.slice,
            pattern=entry.pattern,
            index_dtype=entry.index_dtype,
            layouts=_layouts(entry),
            still=entry.repeats,
            threads=threads,
            use=entry.use,
            source=entry.source,
            weights=entry.weights,
        )
        yield case
        if entry.use is not Use.GATHER:
            yield replace(case, name=f"class {number}.inp", in_place=True)


def _layouts(entry: Class) -> Layouts:
    repeats_updates = entry.repeats is not None and entry.layouts == Layouts()
    return Layouts(updates=Layout.BROADCAST) if repeats_updates else entry.layouts


def _indices(entry: Class) -> Shape:
    if entry.operator is Operator.SCATTER_ND:
        return (entry.updates[0], entry.tuple_length)
    if entry.operator is Operator.SCATTER_UPDATE:
        return (entry.updates[entry.axis],)
    return entry.updates if entry.operator is Operator.SCATTER_ELEMENTS else ()
