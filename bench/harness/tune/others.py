# SPDX-License-Identifier: Apache-2.0
"""Families of calls of boxes, means, the walks of the kernels and several threads, and costs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ..scatter import Scatter
from ..workloads import Shape
from .entries import MIB, NO_FEW, at, switch
from .kinds import HUGE, Bench, Cost, Family, Sweep, Threshold
from .operands import elements, new_output, repeated, rows, rows_of, size, sliced, update, values

SMALL = (1 << 18,)  # elements that stay in the caches
FAR = (1 << 25,)
UPDATES = (1 << 20,)
WIDTHS = ("float32", "int64")
TILES = (16, 32, 128, 256)
LINES = (1024, 4096)  # float32


def families(cache: int) -> list[Family]:
    """`cache` is the size of the last one, in bytes, as far as a call counts on it."""
    return [*_boxes(), *_means(), *_walks(), *_threads(cache), *_costs()]


def _boxes() -> list[Family]:
    def transposed(dtype: str, columns: int = 2048) -> Scatter:
        rows = (1 << 22) // columns
        return sliced((columns, rows), values((rows, columns), dtype).T)

    def every_other(data: Shape, axis: int, step: int = 2) -> Scatter:
        """Every other place of an axis replaced, or with a step of 1 the first half."""
        updates = tuple(dim // 2 if a == axis else dim for a, dim in enumerate(data))
        return new_output(sliced(data, values(updates), axis, step))

    def half_of_lines(run: int) -> Scatter:
        """The first half of each line of so many bytes replaced, within a word."""
        count, run = 40 * MIB // run, run | 1
        return new_output(sliced((count, run), values((count, run // 2), "int8"), axis=1))

    def with_gaps(run: int) -> Scatter:
        """Rows of so many bytes, 8 bytes apart, that begin and end within words."""
        count, run = 40 * MIB // run, run | 1
        return sliced((count, run + 8), values((count, run), "int8"), axis=1)

    def adjacent(run: int) -> Scatter:
        """Rows of so many bytes without gaps, from data with gaps."""
        count, run = 40 * MIB // run, run | 1
        scatter = rows((count, run), 1, "none", "int8")
        data = values((count, run + 8), "int8")[:, :run]
        return replace(scatter, data=data)

    def columns(rows: int, run: int) -> Scatter:
        """The first `run` of the columns of a matrix, whose updates have gaps too."""
        return sliced((rows, 32), values((rows, 40))[:, :run], axis=1)

    return [
        Threshold(
            "small_copy",
            lambda size: new_output(rows(rows_of(size // 4, 16), 1, "none")),
            **at("small_copy", **NO_FEW),
        ),
        Threshold(
            "small_overlay",
            lambda size: new_output(
                sliced(rows_of(size // 4, 64), values(rows_of(size // 8, 64)), step=2)
            ),
            **at("small_overlay"),
        ),
        Sweep("transposed_tile", [partial(transposed, dtype) for dtype in WIDTHS], TILES),
        Sweep(
            "transposed_tile_bytes",
            [partial(transposed, dtype, columns) for dtype in WIDTHS for columns in (2, 5)],
            (1, 2048, 4096, 16384, 32768),
        ),
        Threshold(
            "long_line",
            lambda size: every_other(rows_of(1 << 18, size // 4), 1, 1),
            **switch("long_line", 4096, 1),
            most=4096,
        ),
        Threshold(
            "long_joined_line",
            half_of_lines,
            **switch("long_joined_line", 8192, 1, streamed_part=1e-9),
            most=8192,
        ),
        Sweep(
            "overlay_piece",
            [partial(every_other, (rows, 150), 1) for rows in (512, 4096, 65536)],
            (4096, 16384, 32768, 131072),
        ),
        Threshold(
            "most_cache",
            lambda size: new_output(sliced((size // 4,), values((24,)), 0)),
            **at("most_cache", cache_bytes=HUGE),
            size_of=lambda cache: cache / 2,  # streamed_part of it
            value_of=lambda size: 2 * size,
        ),
        Threshold(
            "lines_of_touched",
            lambda lines: new_output(elements((16 * MIB,), (MIB // lines,), 0, "none")),
            **switch("lines_of_touched", HUGE, 1, cache_bytes=HUGE),
            least=1,
        ),
        Threshold(
            "lines_of_touched_element",
            lambda lines: new_output(elements((4 * MIB,), (MIB // 4 // lines,), 0, "none")),
            **switch("lines_of_touched_element", HUGE, 1, streamed_part=1e-9),
            least=1,
        ),
        Threshold(
            "least_streamed_row_with_gaps",
            with_gaps,
            **at("least_streamed_row_with_gaps", streamed_part=1e-9),
        ),
        Threshold(
            "least_streamed_adjacent_row",
            adjacent,
            **at("least_streamed_adjacent_row", streamed_part=1e-9, **NO_FEW),
        ),
        Threshold(
            "short_run",
            lambda size: columns(1 << 15, size),
            **switch("short_run", HUGE, 0),
            least=1,
            most=33,
        ),
        Threshold(
            "many_rows",
            lambda size: columns(size, 2),
            **switch("many_rows", HUGE, 0),
            least=1,
        ),
        Sweep(
            "most_prefetched_line",
            [partial(every_other, rows_of(16 * MIB, line), 0) for line in LINES],
            (0, 1024, 2048, 4096, 16384),
        ),
        Sweep(
            "line_prefetch",
            [partial(every_other, rows_of(16 * MIB, line), 0) for line in LINES],
            (1, 4, 8),
        ),
    ]


def _means() -> list[Family]:
    def line(destinations: int, entries: int, dtype: str = "float32") -> Scatter:
        return elements((destinations,), (entries,), 0, "mean", dtype=dtype)

    def columns_of(rows: int, columns: int) -> Scatter:
        return elements((rows, columns), (rows, columns), 0, "mean")

    small_buckets = {"bucket_bytes": 32 << 10}
    of_small = 4096  # destinations of 8 bytes: the sum of a float32, and a count
    return [
        Sweep(
            "near_batch_sums",
            [lambda: elements((4096, 512), (4096, 512), 1, "mean")],
            (16 << 10, 32 << 10, 64 << 10, 256 << 10, 512 << 10),
        ),
        Sweep(
            "bucket_bytes",
            [lambda: line(1 << 22, 1 << 20), lambda: line(1 << 24, 1 << 21)],
            (64 << 10, 128 << 10, 256 << 10, 1 << 20),
        ),
        Sweep(
            "near_column_sums",
            [lambda: elements((1000, 1000), (1000, 1000), 0, "mean")],
            (256 << 10, 512 << 10, 1 << 20),
        ),
        Sweep(
            "most_column_passes",
            [partial(columns_of, rows, 6) for rows in (30000, 100000, 240000)],
            (1, 6, 100),
        ),
        Threshold(
            "least_column_destinations",
            lambda rows: columns_of(rows, 500),
            below={"least_column_destinations": HUGE},
            above={"least_column_destinations": 0},
            least=1000,
            most=30000,
        ),
        Threshold(
            "least_columns_of_pass",
            lambda columns: columns_of((2 << 20) // 8 // columns, 2 * columns + columns // 2),
            **switch("least_columns_of_pass", 0, HUGE),
            least=8,
            most=400,
        ),
        Sweep(
            "least_task_row",
            [partial(columns_of, 2000, columns) for columns in (30, 100, 200)],
            (0, 128, 512, 1024),
            threads=2,
        ),
        Sweep("far_batch_sums", [lambda: line(400000, 399000)], (1 << 20, 2 << 20, 8 << 20)),
        Sweep(
            "far_compact_sums",
            [lambda: line(900000, 899000, dtype="int8")],
            (4 << 20, 6 << 20, 16 << 20),
        ),
        Sweep(
            "far_sums_part",
            [lambda: line(1 << 20, 1 << 20), lambda: line(2 << 20, 2 << 20, dtype="int8")],
            (0, 0.25, 0.75, 1),
        ),
        Sweep(
            "repeated_far_sums_part",
            [lambda: line(1800000, 3600000), lambda: line(2400000, 9600000)],
            (0, 0.06, 0.25),
        ),
        Sweep(
            "least_strided_group",
            [
                lambda: update((16, 30000), 30000, 1, "mean"),
                lambda: update((100, 1000), 1000, 1, "mean"),
            ],
            (0, 16, 256),
        ),
        Threshold(
            "longest_summed_row",
            lambda row: update((20000, row), 20000, 0, "mean"),
            **switch("longest_summed_row", HUGE, 0, most_sums_of_short_rows=HUGE),
            most=9,
        ),
        Sweep(
            "sums_of_short_entry",
            [
                lambda: update((170000, 2), 70000, 0, "mean"),
                lambda: update((170000, 3), 130000, 0, "mean"),
            ],
            (2, 10),
        ),
        Sweep(
            "near_group_turns",
            [partial(update, (turns, 1000), 1000, 1, "mean") for turns in (1024, 4096)],
            (64, 128, 512, 1024),
        ),
        Threshold(
            "destinations_of_entry",
            lambda size: elements((256, 64 * size), (256, 64), 1, "mean"),
            below={"destinations_of_entry": HUGE},
            above={"destinations_of_entry": 1},
            least=1,
        ),
        Threshold(
            "destinations_of_uncounted_entry",
            lambda size: elements((256, 64 * size), (256, 64), 1, "add|wide", dtype="float16"),
            below={"destinations_of_uncounted_entry": HUGE},
            above={"destinations_of_uncounted_entry": 1},
            least=1,
        ),
        Threshold(
            "most_buckets",
            lambda size: line(size * of_small, size * 1024),
            **at("most_buckets", **small_buckets),
            steps=2,
            most=6000,
        ),
        Threshold(
            "least_of_bucket",
            lambda size: line(1 << 22, size * (1 << 22) // of_small),
            **switch("least_of_bucket", HUGE, 1, **small_buckets),
            least=0,
        ),
    ]


def _walks() -> list[Family]:
    streamed = {"least_streamed_row": 1, "streamed_part": 1e-9}

    def pitched(run: int) -> Scatter:
        """Runs of the given number of bytes, each on its own page."""
        return sliced((1 << 14, run // 4), values((1 << 14, 1024))[:, : run // 4])

    def rows_apart(run: int) -> Scatter:
        scatter = rows((1 << 13, run), 1 << 12, "none")
        return replace(scatter, updates=values((1 << 12, 2 * run))[:, ::2])

    def one_run(run: int) -> Scatter:
        shape = rows_of(1 << 18, max(1, run // 4))
        return sliced(shape, repeated(shape, (1, shape[1])))

    def column(run: int, step: int, span: int = 16 * MIB) -> Scatter:
        """Moves of runs of so many bytes, which lie `step` bytes apart. Only CPUs of Intel
        prefetch them, so on others the alternatives are the same."""
        shape = (span // step, step)
        return sliced(shape, values((shape[0], run), "uint8"), axis=1)

    columns = [lambda: column(48, 512), lambda: column(256, 1024), lambda: column(1024, 1536)]

    return [
        Sweep("walks.moved_ahead", columns, (1024, 2048, 8192, 16384)),
        Sweep("walks.moved_rows_ahead", columns, (4, 8, 32)),
        Threshold(
            "walks.longest_moved",
            lambda run: column(run, 2 * run),
            **switch("walks.longest_moved", HUGE, 0),
        ),
        Threshold(
            "walks.least_moved_step",
            lambda step: column(step // 2, step),
            **at("walks.least_moved_step"),
        ),
        Threshold(
            "walks.far_moved", lambda span: column(48, 128, span), **at("walks.far_moved")
        ),
        Threshold(
            "walks.least_read_ahead",
            lambda size: rows(rows_of(16 * MIB, size // 4), 32 * MIB // size, "none"),
            **at("walks.least_read_ahead", **streamed),
        ),
        Sweep(
            "walks.rows_ahead",
            [lambda: new_output(elements((2048, 4096), (2048, 4096)))],
            (2, 4, 8, 16, 24, 32),
        ),
        Threshold("walks.longest_of_page", pitched, **at("walks.longest_of_page"), most=4096),
        Threshold(
            "walks.longest_period",
            one_run,
            **switch("walks.longest_period", 4096, 0),
            most=4097,
        ),
        Sweep(
            "walks.most_fetched_of_row",
            [lambda: rows(rows_of(16 * MIB, 256), 1 << 14)],
            (128, 256, 512),
        ),
        Threshold(
            "walks.longest_inline",
            lambda size: rows(rows_of(1 << 16, size // 4), 1 << 12, "none"),
            **switch("walks.longest_inline", HUGE, 0),
            least=15,
        ),
        Threshold(
            "walks.longest_by_element",
            rows_apart,
            **switch("walks.longest_by_element", HUGE, 0),
            least=2,
            most=64,
        ),
    ]


def _threads(cache: int) -> list[Family]:
    ns_of_element = 1 + 2 * 4 / 32  # as the schedule estimates float32
    shared = {"worthwhile": HUGE}  # shared in any case, whatever the costs
    random = [lambda: elements(FAR, UPDATES)]

    def batches(nanoseconds: int) -> Scatter:
        shape = rows_of(round(nanoseconds / ns_of_element), 64)
        return elements(shape, shape, 1)

    return [
        Threshold(
            "least_task_ns",
            batches,
            below={"least_task_ns": HUGE},
            above={"least_task_ns": 1},
            size_of=lambda ns: 2 * ns,
            value_of=lambda size: size / 2,
            threads=2,
        ),
        Sweep(
            "least_joint_task_ns",
            [lambda: new_output(batches(100_000))],
            (1e3, 2e3, 1e4, 2e4, 4e4),
            threads=2,
        ),
        Sweep("parts_of_task", [lambda: batches(1 << 20)], (1, 2, 8, 16), threads=2),
        Threshold(
            "least_run_piece",
            lambda size: rows(rows_of(1 << 20, size // 4), 16 * MIB // size),
            below={"least_run_piece": HUGE},
            above={"least_run_piece": 1},
            size_of=lambda piece: 2 * piece,
            value_of=lambda size: size / 2,
            threads=2,
        ),
        Sweep("least_samples_of_range", random, (8, 16, 64, 128), shared, 2),
        Sweep("most_samples_of_range", random, (64, 128, 256, 1024), shared, 2),
        Sweep("entries_of_sample", random, (128, 256, 1024, 4096), shared, 2),
        Sweep(
            "checked_part",
            [lambda: elements((1 << 20,), (1 << 22,)), lambda: rows((1 << 16, 4), 1 << 22)],
            (128 << 10, 256 << 10, 512 << 10, 2 << 20, 4 << 20, 16 << 20),
        ),
        Threshold(
            "least_row_with_gaps",
            lambda size: rows(rows_of(MIB // 2, size // 4), 16 * MIB // size),
            **at("least_row_with_gaps", least_run_piece=HUGE),
            threads=2,
        ),
        Threshold(
            "streamed_part_of_tasks",
            lambda size: new_output(rows((size // 4096, 1024), 4, "none")),
            **switch("streamed_part_of_tasks", 1e9, 1e-9),
            size_of=lambda part: cache * part,
            value_of=lambda size: size / cache,
            threads=2,
        ),
    ]


def _costs() -> list[Family]:
    filtered = {"worthwhile": HUGE, "least_task_ns": 1, "filter_ns": 0, "select_ns": 1e9}
    sorted_ = {"worthwhile": HUGE, "least_task_ns": 1, "filter_ns": 1e9, "select_ns": 0}

    def one(bench: Bench, scatter: Scatter, threads: int = 1, **settings: float) -> float:
        """Nanoseconds per element of updates."""
        return bench.time(scatter, threads, settings) * 1e9 / size(scatter)

    def near(bench: Bench, reduction: str = "add", threads: int = 1, **settings: float) -> float:
        return one(bench, elements(SMALL, UPDATES, 0, reduction), threads, **settings)

    def own(bench: Bench) -> float:
        """The bytes of every element that each of two tasks writes."""
        return bench.library.in_use["write_ns"] / 2

    def of_byte(bench: Bench) -> float:
        shape = (64, 1024)
        updates = values(shape)
        return bench.time(sliced(shape, updates)) * 1e9 / (2 * updates.nbytes)

    def of_run(bench: Bench) -> float:
        """12 bytes of each run, and 12 bytes between them."""
        runs, run = 4096, 3
        seconds = bench.time(sliced((runs, run), values((runs, 2 * run))[:, :run]))
        moved = 4 * (run + run / 2)
        return seconds * 1e9 / runs - moved * bench.library.in_use["ns_of_byte"]

    def of_element(bench: Bench) -> float:
        count = 1 << 15
        return bench.time(sliced((count,), values((2 * count,))[::2])) * 1e9 / count

    def of_combining(bench: Bench) -> float:
        shape = (64, 1024)
        updates = values(shape, "float16")
        combined = sliced(shape, updates, reduction="add")
        return bench.time(combined) / bench.time(sliced(shape, updates))

    def of_touched(bench: Bench) -> float:
        without = elements(SMALL, UPDATES, 0, "add|exclude_self")
        return (one(bench, without) - near(bench)) * UPDATES[0] / SMALL[0]

    def of_sum(bench: Bench) -> float:
        """From rows of 4096 elements, of which 256 have an update."""
        scatter = elements((64, 4096), (64, 256), 1, "mean")
        entries = size(scatter) * bench.library.in_use["ns_of_batch_mean_entry"]
        return (bench.time(scatter) * 1e9 - entries) / (64 * 4096)

    def of_groups(bench: Bench, runs: int, run: int, axis: int) -> float:
        """Nanoseconds of means of one update for each of `runs` runs or strided columns."""
        shape = (runs, run) if axis == 0 else (run, runs)
        return bench.time(update(shape, runs, axis, "mean")) * 1e9

    def of_group_run(bench: Bench) -> float:
        runs, run = 10000, 8
        tuning = bench.library.in_use
        touched = runs * tuning["ns_of_touched"]
        moved = 2 * runs * run * 4 * tuning["ns_of_byte"]
        return (of_groups(bench, runs, run, 0) - touched - moved) / (2 * runs)

    def of_group_element(bench: Bench) -> float:
        columns, rows = 5, 40000
        return of_groups(bench, columns, rows, 1) / (2 * columns * rows)

    return [
        Cost("ns_of_byte", of_byte),
        Cost("ns_of_run", of_run),
        Cost("ns_of_strided_element", of_element),
        Cost("cost_of_combining", of_combining),
        Cost("ns_of_entry", near),
        Cost(
            "ns_of_batch_mean_entry",
            lambda bench: one(bench, elements((4096, 256), (4096, 256), 1, "mean")),
        ),
        Cost(
            "ns_of_bucket_mean_entry",
            lambda bench: one(bench, elements((1 << 22,), (1 << 22,), 0, "mean")),
        ),
        Cost("ns_of_begun_sum", of_sum),
        Cost("ns_of_group_run", of_group_run),
        Cost("ns_of_group_element", of_group_element),
        Cost("ns_of_touched", of_touched),
        Cost("write_ns", lambda bench: near(bench) - bench.library.in_use["resolve_ns"]),
        Cost(
            "heavy_write_ns",
            lambda bench: near(bench, "max") - bench.library.in_use["resolve_ns"],
        ),
        Cost("wait_ns", lambda bench: one(bench, elements(FAR, UPDATES)) - near(bench)),
        Cost("filter_ns", lambda bench: near(bench, "add", 2, **filtered) - own(bench), 2),
        Cost(
            "sort_ns",
            lambda bench: 2
            * (near(bench, "add", 2, **sorted_) - bench.library.in_use["select_ns"] - own(bench)),
            2,
        ),
    ]
