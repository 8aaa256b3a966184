# SPDX-License-Identifier: Apache-2.0
"""Families of calls of single elements and of rows: few updates, prefetch, staging and tiles."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..scatter import Scatter
from .kinds import HUGE, Family, Sweep, Threshold
from .operands import elements, in_columns, new_output, repeated, rows, rows_of, update, values

NO_FEW = {"few_indices": -1}
IN_ROWS = {"few_turns": 0, "narrow_row": 0, "narrow_batch": 0}  # whatever their shape
MIB = 1 << 20


def switch(name: str, low: float, high: float, **others: float) -> dict[str, dict[str, float]]:
    """The settings with the constant at both extremes, and fixed values of others."""
    return {"below": {**others, name: low}, "above": {**others, name: high}}


def at(name: str, **others: float) -> dict[str, dict[str, float]]:
    """Settings for which every size is below the threshold, and for which none is."""
    return switch(name, HUGE, 0, **others)


def sorted_elements(data: tuple[int], updates: tuple[int]) -> Scatter:
    indices = np.sort(np.random.default_rng(1).integers(0, data[0], updates))
    return elements(data, updates, indices=indices)


def equal_in_rows(data: tuple[int, int], axis: int) -> Scatter:
    """The indices of each row are one number."""
    indices = np.random.default_rng(1).integers(0, data[axis], (data[0], 1))
    return elements(data, data, axis, indices=np.ascontiguousarray(np.broadcast_to(indices, data)))


def families(cache: int) -> list[Family]:
    """`cache` is the size of the last one, in bytes, as far as a call counts on it."""
    some = [*_few(), *_drafts(cache), *_prefetch(cache), *_staged()]
    return [*some, *_tiles(), *_slices(cache)]


def _few() -> list[Family]:
    always = {"few_indices": 64, "most_few_updates": HUGE, "most_few_bytes": HUGE}
    return [
        Threshold(
            "few_indices",
            lambda size: elements((1000,), (size,)),
            below=always,
            above=NO_FEW,
            most=65,
        ),
        Threshold(
            "most_few_updates",
            lambda size: rows((64, size // 7), 7, dtype="int8"),
            **at("most_few_updates", most_few_bytes=HUGE),
        ),
        Threshold(
            "most_few_bytes",
            lambda size: rows((64, size // 56), 7, dtype="float64"),
            **at("most_few_bytes", most_few_updates=HUGE),
        ),
        Threshold(
            "least_constant_batches",
            lambda size: equal_in_rows(rows_of(1 << 18, size), 0),
            **at("least_constant_batches"),
        ),
    ]


def _drafts(cache: int) -> list[Family]:
    def histogram(bins: int, indices: int) -> Scatter:
        """A call with the given number of bytes of indices."""
        counted = elements((bins,), (indices // 8,))
        return replace(counted, updates=repeated(counted.updates.shape, (1,)))

    return [
        Threshold(
            "least_drafted",
            lambda size: histogram(256, size),
            **at("least_drafted"),
            size_of=lambda part: cache * part,
            value_of=lambda size: size / cache,
            steps=2,
        ),
        Threshold(
            "most_draft",
            lambda size: histogram(size // 4, 2 * cache),
            **switch("most_draft", HUGE, 0),
            most=2 * MIB,
        ),
        Threshold(
            "most_draft_of_short_indices",
            lambda size: elements((size // 8,), (cache // 4,), dtype="float64"),
            **switch("most_draft_of_short_indices", HUGE, 0),
            most=2 * MIB,
        ),
        Sweep(
            "least_long_indices",
            [lambda: elements((1 << 20,), (cache // 4,), dtype="int8")],
            (0, 10),
        ),
        Sweep(
            "drafted_part",
            [partial(histogram, bins, 2 * cache) for bins in (256, 1 << 16)],
            (32 << 10, 64 << 10, 256 << 10, 512 << 10),
        ),
    ]


def _prefetch(cache: int) -> list[Family]:
    far = 16 * MIB  # elements

    def fetched_moves(name: str, below: float, above: float, **others: float) -> Threshold:
        return Threshold(
            name,
            lambda size: elements((size // 4,), (1 << 18,), reduction="none"),
            **switch(name, below, above, near_part=1, most_cache=HUGE, **others),
        )

    def rows_with_gaps(rows: int) -> Scatter:
        """Tiles of so many rows of 8, each of which the output continues by another row."""
        tiles = far // 8 // (rows + 1)
        return elements((tiles, rows + 1, 8), (tiles, rows, 8), 2)

    def ascending(step: int) -> Scatter:
        return sorted_elements((far,), (4 * far // step,))

    def near_reads(name: str, **others: float) -> Threshold:
        return Threshold(
            name, lambda size: elements((4096,), (size // 12,)), **at(name, **others)
        )

    return [
        Threshold(
            "near_part",
            lambda size: rows(rows_of(size // 4, 16), 1 << 16),
            **switch("most_cache", HUGE, 1, cache_bytes=HUGE),
            size_of=lambda part: cache / part,
            value_of=lambda size: cache / size,
        ),
        fetched_moves("least_fetched_moves", HUGE, 0, most_fetched_moves=HUGE, waits_for_stores=0),
        fetched_moves(
            "least_fetched_moves_that_wait", HUGE, 0, most_fetched_moves=HUGE, waits_for_stores=1
        ),
        fetched_moves("most_fetched_moves", HUGE, 0, least_fetched_moves=0, waits_for_stores=0),
        Sweep(
            "element_prefetch",
            [lambda: elements((far,), (1 << 20,)), lambda: elements((far,), (1 << 20,), 0, "max")],
            (8, 16, 32, 64, 96, 192, 255),
        ),
        Threshold(
            "dense_step",
            ascending,
            **at("dense_step", near_part=1 << 20),
        ),
        Threshold(
            "unfetched_step",
            ascending,
            **switch("unfetched_step", HUGE, 1, waits_for_stores=0),
        ),
        Threshold(
            "fetched_step",
            ascending,
            **at("fetched_step", unfetched_step=1, waits_for_stores=0),
        ),
        Sweep(
            "ascending_prefetch",
            [lambda: sorted_elements((far,), (far // 8,))],
            (8, 16, 64, 128),
            {"fetched_step": 0, "waits_for_stores": 0},
        ),
        Threshold(
            "unfetched_row",
            lambda size: elements((4 * far // size, size // 4), (4 * far // size, size // 4), 1),
            **at("unfetched_row", unfetched_step=1, waits_for_stores=0),
        ),
        Sweep(
            "row_prefetch_bytes",
            [lambda: rows(rows_of(far, 80), 1 << 15), lambda: rows(rows_of(far, 256), 1 << 14)],
            (512, 1024, 2048, 8192, 16384),
        ),
        Sweep(
            "least_row_prefetch",
            [lambda: rows(rows_of(far, 1024), 1 << 13), lambda: rows(rows_of(far, 4096), 1 << 11)],
            (1, 4, 8, 16),
        ),
        Sweep(
            "visit_prefetch",
            [lambda: elements((far,), (1 << 18,), 0, "mean")],
            (1, 4, 8, 32, 64),
            {"most_buckets": 0},
        ),
        Sweep(
            "strip_prefetch",
            [lambda: elements((2048, 2048), (2048, 2048), 0, "max")],
            (0, 8, 16, 64, 128),
        ),
        Threshold(
            "least_kept_row",
            lambda size: elements((far // 32, 32), (far // 32, max(size // 4, 4)), 1),
            **at("least_kept_row", near_part=1 << 20, least_vector_row=HUGE),
        ),
        Threshold(
            "least_vector_row",
            lambda size: elements((1 << 15, 6), (1 << 15, size), 1),
            **at("least_vector_row"),
            least=2,
        ),
        Threshold(
            "least_kept_tile",
            lambda size: rows_with_gaps(max(size // 32, 1)),
            **at("least_kept_tile", near_part=1 << 20, least_vector_row=HUGE),
        ),
        Sweep(
            "unresolved_tile",
            [lambda: elements((1024, 4096), (1024, 4096), 1)],
            (1 << 11, 1 << 12, 1 << 16),
        ),
        Sweep(
            "read_ahead",
            [lambda: elements((1024, 4096), (1024, 4096), 1)],
            (128, 256, 384, 768, 1024, 2048),
        ),
        Sweep(
            "row_read_ahead",
            [lambda: rows((1000, 64), 1 << 17), lambda: rows((1000, 200), 1 << 16)],
            (512, 1024, 2048, 8192, 16384),
        ),
        Threshold(
            "least_row_read_ahead",
            lambda size: rows((1000, size // 4), 64 * MIB // size),
            **at("least_row_read_ahead", far_updates_part=1e-9, most_draft=0),
        ),
        Threshold(
            "far_updates_part",
            lambda size: rows((1000, 64), size // 256),
            **switch("far_updates_part", 1e9, 1e-9),
            size_of=lambda part: cache * part,
            value_of=lambda size: size / cache,
        ),
        near_reads("near_reads", waits_for_stores=0),
        near_reads("near_reads_that_wait", waits_for_stores=1),
        Threshold(
            "streamed_part",
            lambda size: new_output(rows((size // 4096, 1024), 4, "none")),
            **switch("streamed_part", 1e9, 1e-9),
            size_of=lambda part: cache * part,
            value_of=lambda size: size / cache,
        ),
        Threshold(
            "streamed_part_of_elements",
            lambda size: new_output(elements((size // 4,), (size // 64,), 0, "none")),
            **switch("streamed_part_of_elements", 1e9, 1e-9, streamed_part=1e-9),
            size_of=lambda part: cache * part,
            value_of=lambda size: size / cache,
        ),
        Threshold(
            "least_streamed_row_of_parts",
            lambda size: rows(rows_of(16 * MIB, size // 4), 32 * MIB // size, "none"),
            **at("least_streamed_row_of_parts", streamed_part=1e-9, streams_parts=0),
        ),
        Threshold(
            "least_streamed_identities",
            lambda size: rows(rows_of(16 * MIB, size // 4), 32 * MIB // size, "max|exclude_self"),
            **at(
                "least_streamed_identities",
                streamed_part=1e-9,
                streams_parts=1,
                least_replaced_row=HUGE,
            ),
        ),
        Threshold(
            "least_replaced_row",
            lambda size: rows(rows_of(8 * MIB, size // 4), 8 * MIB // size, "add|exclude_self"),
            **at("least_replaced_row"),
        ),
    ]


def _staged() -> list[Family]:
    def lines(total: int, line: int) -> Scatter:
        count, length = rows_of(total // 4, line // 4)
        return new_output(elements((count, length), (count, max(1, length // 2)), 1))

    def one_of_lines(size: int) -> Scatter:
        """A row of so many cache lines for each update."""
        rows = MIB // size
        return new_output(elements((rows, 16 * size), (rows, 1), 1))

    def short_axis(size: int) -> Scatter:
        axis = max(2, size // 512)  # each element of it brings batch_columns of float32
        return elements((axis, 4001), (axis, 4001))

    def long_axis(size: int) -> Scatter:
        return elements((5000, size // 4), (5000, size // 4))

    def small(shape: tuple[int, int]) -> Scatter:
        """Elements of one byte."""
        scatter = elements(shape, shape)
        target = scatter.data.astype("int8")
        updates = scatter.updates.astype("int8")
        return replace(scatter, data=target, updates=updates, output=target)

    def apart(shape: tuple[int, int, int]) -> Scatter:
        """Data and updates transposed, indices not."""
        return in_columns(elements(shape, shape, 2))

    return [
        Threshold(
            "least_in_pieces",
            lambda size: lines(size, 16 << 10),
            **at("least_in_pieces", cache_bytes=HUGE, most_cache=HUGE),
        ),
        Threshold(
            "most_piece",
            lambda size: lines(64 * MIB, size),
            **at("most_piece", least_in_pieces=0),
            most=32 * MIB,
        ),
        Threshold(
            "lines_of_touched_piece",
            one_of_lines,
            **switch("lines_of_touched_piece", HUGE, 1, least_in_pieces=0),
        ),
        Sweep(
            "piece_bytes",
            [lambda: lines(32 * MIB, 256), lambda: lines(32 * MIB, 16 << 10)],
            (32 << 10, 64 << 10, 128 << 10, 512 << 10, 1 << 20),
        ),
        Threshold("near_strip", short_axis, **at("near_strip", near_row=0)),
        Threshold("near_row", long_axis, **at("near_row", near_strip=0)),
        Sweep(
            "strip_bytes",
            [lambda: elements((4096, 2048), (4096, 2048))],
            (64, 128, 192, 256, 512, 768, 1024),
        ),
        Threshold(
            "least_strip",
            lambda size: elements((4096, 8, 400), (4096, 8, size // 4)),
            **at("least_strip"),
            most=385,
        ),
        Threshold(
            "axis_elements_of_row",
            lambda size: elements((8 * size, 1024), (512, 1024)),
            below={"axis_elements_of_row": HUGE},
            above={"strip_bytes": 0},
            size_of=lambda most: 64 * most,
            value_of=lambda size: size / 64,
        ),
        Sweep(
            "batch_columns",
            [lambda: elements((33, 30001), (33, 30001)), lambda: elements((8, 99999), (8, 99999))],
            (16, 32, 64, 256, 512),
        ),
        Sweep(
            "most_batch_columns",
            [lambda: elements((4, 99999), (8, 99999)), lambda: elements((12, 30001), (12, 30001))],
            (128, 256, 1024),
        ),
        Sweep(
            "batch_bytes",
            [lambda: small((12, 195_345)), lambda: small((33, 30_001))],
            (128, 256, 1024),
        ),
        Threshold(
            "most_undivided_columns",
            lambda size: apart((size, 30, 4)),
            **at("most_undivided_columns"),
        ),
        Sweep(
            "near_columns",
            [lambda: apart((17556, 49, 2)), lambda: apart((30000, 4, 20))],
            (128, 256, 1024, 2048),
        ),
    ]


def _tiles() -> list[Family]:
    def matrix(total: int, columns: int) -> Scatter:
        shape = rows_of(total, columns)
        return elements(shape, shape, 1)

    def blocks(turns: int) -> Scatter:
        """Rows of 32, in blocks with gaps in data, so that only the turns of a block matter."""
        rows = max(1, turns // 32)
        count = (1 << 18) // (32 * rows)
        return elements((count, rows + 1, 32), (count, rows, 32), 2)

    def pitched(entry: int, run: int, total: int = 16 * MIB) -> Scatter:
        """Updates of `entry` bytes in runs with gaps between."""
        shape = total // entry, max(2, entry // (4 * run)), run
        padded = update((*shape[:2], run + 1), shape[0], 0, "none")
        updates, target = padded.updates[..., :run], values(shape)
        return replace(padded, data=target, output=target, updates=updates)

    def cube(columns: int) -> tuple[int, int, int]:
        """Batches with too many turns for few_turns to matter."""
        return (1 << 11) // columns, 128, columns

    return [
        Threshold(
            "few_turns",
            blocks,
            **at("few_turns", narrow_row=0, least_vector_row=HUGE),
        ),
        Threshold(
            "narrow_row",
            lambda size: matrix(1 << 18, size),
            **at("narrow_row", few_turns=0, least_vector_row=HUGE),
        ),
        Threshold(
            "narrow_batch",
            lambda size: elements(cube(size), cube(size), 1),
            **at("narrow_batch", few_turns=0, least_vector_row=HUGE),
        ),
        Sweep(
            "least_unresolved_row",
            [lambda: matrix(1 << 18, 24), lambda: matrix(1 << 18, 300)],
            (100, 1000),
        ),
        Threshold(
            "element_row",
            lambda size: rows((3000, size), 100_000),
            **at("element_row", **NO_FEW),
            least=2,
        ),
        Threshold(
            "least_box",
            lambda size: pitched(size, 16),
            **at("least_box"),
            least=128,
        ),
        Threshold(
            "least_box_of_runs",
            lambda size: pitched(size, 5),
            **at("least_box_of_runs", least_box=HUGE),
            least=32,
        ),
        Threshold(
            "short_run_of_box",
            lambda run: pitched(480, run, 1 << 18),
            **at("short_run_of_box", least_box=HUGE),
            least=1,
            most=40,
        ),
        Threshold(
            "far_run_of_box",
            lambda run: pitched(480, run),
            **at("far_run_of_box", least_box=HUGE),
            least=1,
            most=40,
        ),
        Threshold(
            "least_flat_entries",
            lambda size: matrix(size, 4),
            **switch("least_flat_entries", HUGE, 0, **NO_FEW),
            least=8,
        ),
        *_few_entries_in_short_loops(),
        Threshold(
            "least_folded",
            lambda size: equal_in_rows(rows_of(1 << 18, size), 1),
            **switch("least_folded", HUGE, 1, **IN_ROWS),
        ),
    ]


def _few_entries_in_short_loops() -> list[Family]:
    def tiles(count: int, rows_of_tile: int = 4, columns: int = 3) -> Scatter:
        updates = (count, rows_of_tile, columns)
        return elements((count, 8, columns + 2), updates, 1)

    def scattered(columns: int) -> Scatter:
        scatter = tiles(16, 2, columns)
        return replace(scatter, indices=np.asfortranarray(scatter.indices))

    few = {**NO_FEW, "least_flat_entries": HUGE}
    return [
        Threshold("many_tiles", tiles, **at("many_tiles", **few), least=1, most=64),
        Threshold(
            "small_tile",
            lambda size: tiles(16, 4, size // 4),
            **at("small_tile", narrow_columns=0, **few),
            least=8,
        ),
        Threshold(
            "small_packed_tile",
            lambda size: scattered(size // 2),
            **at("small_packed_tile", small_tile=0, **few),
            least=4,
        ),
        Threshold(
            "least_of_small_tiles",
            lambda size: tiles(max(size // 6, 3), 2, 3),
            **at("least_of_small_tiles", **few),
            least=8,
        ),
        Threshold(
            "narrow_columns",
            lambda size: elements((40, size + 1), (40, size)),
            **at("narrow_columns", **few),
            least=2,
        ),
        Threshold(
            "least_of_narrow_columns",
            lambda size: elements((size // 4, 6), (size // 4, 4)),
            **at("least_of_narrow_columns", **few),
            least=16,
        ),
    ]


def _slices(cache: int) -> list[Family]:
    several = {**NO_FEW, "few_slices": 64}

    def lines(turns: int) -> Scatter:
        """Thirty of each of many lines, of which a block has so many."""
        length = (16 << 10) // 4 // turns
        return update((max(2 * turns, (1 << 20) // length), length), 30, 1)

    def transposed(axis: int, rows: int, columns: int) -> Scatter:
        """Ten slices of data that is transposed, of updates that are not."""
        scatter = update((axis, rows, columns), 10, 0)
        target = np.asfortranarray(scatter.data)
        return replace(scatter, data=target, output=target)

    def crossed(turns: int) -> Scatter:
        """Five slices of so many matrices, which are columns of the updates."""
        scatter = update((turns, 4, 8), 5, 2)
        return replace(scatter, updates=np.asfortranarray(scatter.updates))

    return [
        Threshold(
            "few_slices",
            lambda size: update((20000, 2), size, 1),
            below={**NO_FEW, "few_slices": 64},
            above={**NO_FEW, "few_slices": 0},
            most=65,
        ),
        Threshold(
            "least_slice",
            lambda size: update((size, 2), 6, 1),
            **at("least_slice", least_slice_block=0, **several),
        ),
        Sweep(
            "slice_block",
            [lambda: update((67040, 2), 6, 1), lambda: update((16760, 8), 6, 1)],
            (4 << 10, 8 << 10, 32 << 10, 64 << 10),
        ),
        Threshold(
            "least_slice_block",
            lines,
            **at("least_slice_block", **several),
        ),
        Sweep(
            "slice_rows",
            [lambda: transposed(20, 4000, 40), lambda: transposed(3, 100_000, 13)],
            (64, 128, 512, 1024),
        ),
        Sweep(
            "slice_run_block",
            [lambda: rows((5, 794306), 50, equal=True)],
            (256 << 10, 512 << 10, 2 << 20, 4 << 20),
        ),
        Threshold(
            "few_slice_rows",
            lambda size: update((4000, 8, 32), size, 1),
            **at("few_slice_rows", **several),
        ),
        Threshold(
            "longest_slice_run",
            lambda size: update((max(1, (1 << 17) // size), 8, size // 4), 3, 1),
            **at("longest_slice_run", **several),
        ),
        Threshold(
            "far_slices_part",
            lambda size: update((size // (23 * 4), 23), 2, 1),
            **switch("far_slices_part", HUGE, 0, **several),
            least=MIB,
            size_of=lambda part: cache * part,
            value_of=lambda size: size / cache,
        ),
        Threshold(
            "far_slice_blocks_part",
            lambda size: update((size // ((6 + 20) * 4), 6), 20, 1),
            **switch("far_slice_blocks_part", HUGE, 0, **several),
            least=MIB,
            size_of=lambda part: cache * part,
            value_of=lambda size: size / cache,
        ),
        Threshold(
            "near_crossed_part",
            lambda size: crossed(size // ((32 + 20) * 4)),
            **switch("near_crossed_part", HUGE, 0),
            least=MIB,
            size_of=lambda part: cache * part,
            value_of=lambda size: size / cache,
        ),
        Sweep(
            "crossed_block",
            [lambda: crossed(3000), lambda: crossed(30_000)],
            (8 << 10, 16 << 10, 48 << 10, 96 << 10),
        ),
        Threshold(
            "longest_far_run",
            lambda size: update((2 * cache // (23 * size), 23, size // 4), 6, 1),
            **at("longest_far_run", far_slices_part=0, **several),
            least=4,
        ),
    ]
