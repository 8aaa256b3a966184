# SPDX-License-Identifier: Apache-2.0
"""The measurement of each constant of the tuning table, or the reason why it has none."""

from __future__ import annotations

from pathlib import Path

from .. import machine
from . import entries, others, plans
from .kinds import Family, Told

L1 = Path("/sys/devices/system/cpu/cpu0/cache/index0")

NOT_MEASURED = {
    "cache_bytes": "0 asks the CPU",
    "least_turns_of_part": "it bounds what a part does for nothing",
    "streams_parts": "-1 asks the CPU",
    "waits_for_stores": "-1 asks the CPU",
    "resolve_ns": "only its sum with write_ns is seen from outside",
    "select_ns": "only its sum with sort_ns is seen on two threads",
    "filter_stream_ns": "decides only where a filter and one thread are close",
    "far_entries_part": "decides only where a filter and one thread are close",
    "tasks_of_part": "decides only for three tasks and more",
    "worthwhile": "a margin for noise, not a property of the CPU",
    "page": "what systems call a page",
    "least_element_rows": "the calls here have no short rows of elements apart",
    "most_short_ranks": "more destinations than fit the memory here",
    "few_updates": "decides only for elements of more than 1 KiB",
    "strided_element_row": "the calls here have no strided updates",
    "most_fetched_box": "the calls here write no caches",
    "far_rows": "the calls here have no slices of rows that lie apart",
    "least_ordered_tasks": "decides only on CPUs of Intel",
    "least_equal_row": "the calls here have different indices",
    "least_equal_moves": "the calls here have different indices",
    "longest_equal_step": "the calls here have different indices",
    "least_replaced": "the calls here have fewer entries than destinations",
    "most_last_entries": "the calls here have fewer entries than destinations",
    "least_replaced_entry": "the calls here have fewer entries than destinations",
    "least_replaced_run": "the calls here have fewer entries than destinations",
    "tasks_of_passed_part": "decides only for three tasks and more",
    "least_group_run": "the calls here have no short runs with gaps between them",
    "least_group_run_bytes": "the calls here have no short runs with gaps between them",
    "most_sums_of_short_rows": "the calls here have sums that fit scratch",
    "near_sums_of_short_rows": "the calls here have sums that fit scratch",
    "least_sum_columns": "the calls here have no sums of a part of the columns",
    "most_column_entries": "the calls here have no sums of a part of the columns",
    "column_lines_of_entry": "the calls here have no sums of a part of the columns",
    "least_crossed_turns": "the calls here have short turns of slices",
    "least_crossed_streams": "the calls here have few columns of updates",
    "far_crossed_block": "the calls here have few columns of updates",
    "least_far_crossed_turns": "the calls here have few columns of updates",
    "short_row": "the calls here have no transposes around a loop",
    "least_near_turns": "the calls here have no transposes around a loop",
    "near_packed_indices": "the calls here have no operands that lie apart",
    "most_packed_tile": "the calls here have no operands that lie apart",
    "packed_tile_of_short_rows": "the calls here have no operands that lie apart",
    "short_packed_row": "the calls here have no operands that lie apart",
    "most_packed_row": "the calls here have no operands that lie apart",
    "least_divided_line": "the calls here have lines that are whole outputs",
    "most_given_row": "the calls here have no operands that lie apart",
    "filter_row_ns": "the calls here have no operands that lie apart",
    "filter_packed_ns": "the calls here have no operands that lie apart",
    "wake_ns": "decides only for many threads",
    "least_flat_tile": "the calls here have no operands that lie apart",
    "least_streamed_row": "arrays of NumPy begin within cache lines",
    "least_streamed_slice_of_parts": "the calls here have no slices 16 bytes behind a line",
    "walks.page": "what systems call a page",
}


# Bytes of the last-level cache that a call counts on at most: most_cache of the tuning table.
MOST_CACHE = 32 << 20


def families() -> list[Family]:
    levels = machine.caches()
    cache = min(levels[-1].bytes, MOST_CACHE) if levels else MOST_CACHE
    told = [Told("cache_way", _cache_way), Told("cache_ways", _cache_ways)]
    return [*entries.families(cache), *others.families(cache), *plans.families(cache), *told]


def _cache_ways() -> float | None:
    return _number("ways_of_associativity")


def _cache_way() -> float | None:
    """Bytes of one way of the L1 cache."""
    sets, line = _number("number_of_sets"), _number("coherency_line_size")
    return sets * line if sets and line else None


def _number(name: str) -> float | None:
    """The size of the nearest cache; None if the system does not report it."""
    try:
        return float((L1 / name).read_text())
    except (OSError, ValueError):
        return None
