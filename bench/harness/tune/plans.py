# SPDX-License-Identifier: Apache-2.0
"""Families of calls with plans, and what their creation costs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from ..library import Library
from ..workloads import Shape
from .entries import MIB, at, switch
from .kinds import HUGE, LEAST_TURNS, Bench, Cost, Family, Sweep, Threshold
from .library import TELL
from .operands import Planned, rows_of, uniform, values

LINE = 64
ENTRIES = 1 << 18
PLACES = 1 << 16  # which stay in the caches
ROW = 32  # float32
FLOAT = 4  # bytes
UPDATE = "scatter_update"


def families(cache: int) -> list[Family]:
    """`cache` is the size of the last one, in bytes, as far as a call counts on it."""
    return [*_costs(), *_gathers(), *_means(), *_passes(cache), *_element_order(cache)]


def scattered(
    indices: np.ndarray, data: np.ndarray, reduction: str, is_in_place: bool = True
) -> Planned:
    """Updates of rows of data."""

    def bind(library: Library) -> Callable[[], None]:
        plan = library.plan(UPDATE, library.tensor(indices), 0, data.shape[:1])
        target = library.tensor(data)
        updates = library.tensor(values((*indices.shape, *data.shape[1:]), data.dtype.name))
        output = target if is_in_place else library.tensor(np.empty_like(data))
        return library.plan_scatter(plan, target, updates, reduction, output)

    return Planned(bind)


def gathered(row: Shape) -> Planned:
    def bind(library: Library) -> Callable[[], None]:
        indices = library.tensor(uniform((ENTRIES,), PLACES))
        plan = library.plan(UPDATE, indices, 0, (PLACES,))
        source, output = values((PLACES, *row)), values((ENTRIES, *row))
        return library.plan_gather(plan, library.tensor(source), library.tensor(output))

    return Planned(bind)


def boxes(entries: int, row: Shape) -> Planned:
    """Gathers rows into every second element of longer ones."""

    def bind(library: Library) -> Callable[[], None]:
        indices = library.tensor(uniform((entries,), entries))
        plan = library.plan(UPDATE, indices, 0, (entries,))
        output = values((entries, *row[:-1], 2 * row[-1] + 1))[..., 1::2]
        source = values((entries, *row))
        return library.plan_gather(plan, library.tensor(source), library.tensor(output))

    return Planned(bind)


@dataclass
class Passage:
    """Entries from places of a source to those of a target, along one axis."""

    source: np.ndarray
    taken: np.ndarray  # indices
    target: np.ndarray
    put: np.ndarray  # indices
    axis: int = 0
    reduction: str = "add"
    weights: np.ndarray | None = None
    operator: str = UPDATE


def in_place(draw: Callable[[], Passage]) -> Planned:
    """gather_scatter of what is drawn."""

    def bind(library: Library) -> Callable[[], None]:
        passage = draw()
        axis = passage.axis
        sides = (passage.source, passage.taken), (passage.target, passage.put)
        plans = [
            library.plan(passage.operator, library.tensor(indices), axis, (array.shape[axis],))
            for array, indices in sides
        ]
        weights = None if passage.weights is None else library.tensor(passage.weights)
        source, target = library.tensor(passage.source), library.tensor(passage.target)
        return library.plan_gather_scatter(
            plans[0], source, weights, plans[1], target, passage.reduction, target
        )

    return Planned(bind)


def passed(
    operator: str, shape: Shape, axis: int, extent: int, row: Shape = (), is_weighted: bool = False
) -> Planned:
    """Sums from places to others of the same axis, at indices of this shape."""

    def draw() -> Passage:
        taken = np.random.default_rng(2).integers(0, extent, shape)
        data = (extent, *row)
        if operator == "scatter_elements":
            data = (*shape[:axis], extent, *shape[axis + 1 :])
        weights = values((*shape, *row)) if is_weighted else None
        put = uniform(shape, extent)
        return Passage(
            values(data), taken, values(data), put, axis, weights=weights, operator=operator
        )

    return in_place(draw)


def _sliced(slices: int, places: int, reduction: str = "add", repeats: int = 0) -> Planned:
    """gather_scatter of rows of `places` entries, from a permutation of the places: to random ones,
    or, with `repeats`, to ascending ones that have so many updates each."""

    def draw() -> Passage:
        shuffled = np.random.default_rng(2).permutation(places)
        to = np.arange(places) // repeats if repeats else uniform((places,), places)
        data = (slices, places)
        return Passage(values(data), shuffled, values(data), to, axis=1, reduction=reduction)

    return in_place(draw)


def _columns(entries: int, reduction: str = "add") -> Planned:
    """gather_scatter of few columns of rows of 32 to those of rows of 8."""

    def draw() -> Passage:
        some = np.arange(entries)
        source, target = values((400_000, 32)), values((400_000, 8))
        return Passage(source, some, target, some, axis=1, reduction=reduction)

    return in_place(draw)


def _apart(entries: int, run: int, reduction: str = "add") -> Planned:
    """gather_scatter of few entries of many short runs that lie apart in the source."""

    def draw() -> Passage:
        shape = (3, (1 << 19) // run, run)
        some = uniform((entries,), 3)
        source = values((*shape[:2], run + 1))[..., :run]
        return Passage(source, some, values(shape), some, reduction=reduction)

    return in_place(draw)


def _costs() -> list[Family]:
    def entry(bench: Bench, call: Planned, entries: int = ENTRIES) -> float:
        """Nanoseconds an entry."""
        return bench.time(call) * 1e9 / entries

    def of_byte(bench: Bench, call: Callable[[Shape], Planned]) -> float:
        return (entry(bench, call((2 * ROW,))) - entry(bench, call((ROW,)))) / (4 * ROW)

    def of_entry(bench: Bench, call: Callable[[Shape], Planned]) -> float:
        return entry(bench, call((ROW,))) - 4 * ROW * of_byte(bench, call)

    def grouped(row: Shape) -> Planned:
        return passed(UPDATE, (ENTRIES,), 0, PLACES, row)

    def divided(bench: Bench, row: int) -> float:
        """Nanoseconds a destination of rows whose sums become means."""
        indices = np.arange(ENTRIES) % PLACES
        mean, add = (
            bench.time(
                scattered(indices, values((PLACES, row)), reduction),
                settings={"least_divided_updates": 0},
            )
            for reduction in ("mean", "add")
        )
        return (mean - add) * 1e9 / PLACES

    def divided_element(bench: Bench) -> float:
        indices = np.random.default_rng(1).permutation(PLACES)
        mean, add = (
            bench.time(scattered(indices, values((PLACES,)), reduction))
            for reduction in ("mean", "add")
        )
        return (mean - add) * 1e9 / PLACES

    def divided_byte(bench: Bench) -> float:
        return (divided(bench, 2 * ROW) - divided(bench, ROW)) / (4 * ROW)

    return [
        Cost("ns_of_stored_place", lambda bench: stages(bench)[1] * 1e9 / ENTRIES),
        Cost("ns_of_ordered_entry", lambda bench: sum(stages(bench)[2:]) * 1e9 / ENTRIES),
        Cost("ns_of_gathered_entry", lambda bench: of_entry(bench, gathered)),
        Cost("ns_of_gathered_byte", lambda bench: of_byte(bench, gathered)),
        Cost("ns_of_grouped_entry", lambda bench: of_entry(bench, grouped)),
        Cost("ns_of_grouped_byte", lambda bench: of_byte(bench, grouped)),
        Cost("ns_of_passed_entry", lambda bench: entry(bench, grouped(()))),
        Cost(
            "ns_of_divided_group",
            lambda bench: divided(bench, ROW) - 4 * ROW * divided_byte(bench),
        ),
        Cost("ns_of_divided_byte", divided_byte),
        Cost("ns_of_divided_element", divided_element),
    ]


def _gathers() -> list[Family]:
    def of_entry(size: int) -> Planned:
        elements = max(size // 4, 8)
        return boxes(max(ENTRIES // elements, 1), (4, elements // 4))

    def transposed(size: int) -> Planned:
        """Slices of short rows, between whose elements those of others lie."""

        def bind(library: Library) -> Callable[[], None]:
            rows = max(size // 4 // 16 // 8, 2)
            plan = library.plan(UPDATE, library.tensor(uniform((16,), 16)), 0, (16,))
            source, output = values((8, rows, 16)).T, values((16, rows, 8))
            return library.plan_gather(plan, library.tensor(source), library.tensor(output))

        return Planned(bind)

    def short_rows(rows: int, row: int) -> Planned:
        """The same elements of each row."""

        def bind(library: Library) -> Callable[[], None]:
            plan = library.plan(UPDATE, library.tensor(uniform((row,), row)), 1, (row,))
            source, output = values((rows, row)), values((rows, row))
            return library.plan_gather(plan, library.tensor(source), library.tensor(output))

        return Planned(bind)

    def of_entries(size: int) -> Planned:
        return short_rows(max(size // 4, 1), 4)

    def of_bytes(size: int) -> Planned:
        return short_rows(1 << 14, max(size // FLOAT, 1))

    def apart(entries: int, run: int) -> Planned:
        """Runs of every second element, into such runs."""

        def bind(library: Library) -> Callable[[], None]:
            plan = library.plan(UPDATE, library.tensor(uniform((entries,), entries)), 0, (entries,))
            source, output = (values((entries, 2 * run))[:, ::2] for _ in range(2))
            return library.plan_gather(plan, library.tensor(source), library.tensor(output))

        return Planned(bind)

    def columns(run: int) -> Planned:
        """Runs of a transposed source."""

        def bind(library: Library) -> Callable[[], None]:
            entries = 1 << 10
            plan = library.plan(UPDATE, library.tensor(uniform((entries,), entries)), 0, (entries,))
            source, output = values((run, entries)).T, values((entries, run))
            return library.plan_gather(plan, library.tensor(source), library.tensor(output))

        return Planned(bind)

    def near_apart(run: int) -> Planned:
        return apart(1 << 10, run)

    def far_apart(run: int) -> Planned:
        return apart(1 << 17, run)

    def of_rows(count: int) -> Planned:
        """Elements along an axis of so many far rows."""

        def bind(library: Library) -> Callable[[], None]:
            shape = (2, 1 << 22)
            plan = library.plan(
                "scatter_elements", library.tensor(uniform(shape, count)), 0, (count, shape[1])
            )
            source, output = values((count, shape[1])), values(shape)
            return library.plan_gather(plan, library.tensor(source), library.tensor(output))

        return Planned(bind)

    def short_loops(shape: Shape, axis: int, transposes: bool = False) -> Planned:
        """Single elements of short rows."""

        def bind(library: Library) -> Callable[[], None]:
            indices = library.tensor(uniform(shape, shape[axis]))
            plan = library.plan("scatter_elements", indices, axis, (shape[axis],))
            source, output = values(shape), values(shape[::-1]).T if transposes else values(shape)
            return library.plan_gather(plan, library.tensor(source), library.tensor(output))

        return Planned(bind)

    def beside_axis(row: int) -> Planned:
        return short_loops((1 << 10, 8, row), 1)

    def along_axis(row: int) -> Planned:
        return short_loops((1 << 13, row), 1)

    def in_another_order(row: int) -> Planned:
        return short_loops((1 << 12, 2, row), 1, transposes=True)

    longest = switch("longest_shuffled_row", 0, HUGE, least_shuffled=0)
    return [
        Threshold("least_shuffled", of_entries, **at("least_shuffled"), least=8),
        Threshold("longest_shuffled_row", of_bytes, **longest, least=8),
        Threshold("least_gathered_box", of_entry, **at("least_gathered_box"), least=32),
        Threshold("longest_run_apart", near_apart, **switch("longest_run_apart", HUGE, 0), most=64),
        Threshold(
            "longest_far_run_apart", far_apart, **switch("longest_far_run_apart", HUGE, 0), most=64
        ),
        Threshold(
            "longest_run_of_elements", columns, **switch("longest_run_of_elements", HUGE, 0), most=64
        ),
        Threshold("near_gathered", transposed, **switch("near_gathered", HUGE, 0)),
        Threshold("most_gathered_rows", of_rows, **switch("most_gathered_rows", HUGE, 0), most=16),
        Threshold(
            "longest_gathered_loop",
            beside_axis,
            **switch("longest_gathered_loop", HUGE, 0),
            least=2,
            most=128,
        ),
        Threshold(
            "longest_gathered_line",
            along_axis,
            **switch("longest_gathered_line", HUGE, 0),
            least=1,
            most=32,
        ),
        Threshold(
            "most_gathered_apart",
            in_another_order,
            **switch("most_gathered_apart", HUGE, 0),
            size_of=lambda entries: entries / 2,
            value_of=lambda row: 2 * row,
            least=1,
            most=32,
        ),
    ]


def stages(bench: Bench) -> list[float]:
    """The seconds of the parts of a creation, each of which begins with a sentence: the check, the
    places, the order and the groups."""
    library = bench.library
    indices = library.tensor(uniform((ENTRIES,), PLACES))
    best = [math.inf] * 4
    times: list[float] = []
    tell = TELL(lambda *_: times.append(time.perf_counter()))
    library.tell(tell)
    deadline, turns = time.perf_counter() + bench.seconds, 0
    while turns < LEAST_TURNS or time.perf_counter() < deadline:
        turns += 1
        times.clear()
        library.plan(UPDATE, indices, 0, (PLACES,))
        times.append(time.perf_counter())
        best = [min(a, end - begin) for a, (begin, end) in zip(best, pairwise(times))]
    library.tell(None)
    bench.on_turn()
    return best


def _means() -> list[Family]:
    def touched(size: int, places: int = 1 << 14) -> Planned:
        """One update for so many bytes of accumulators, which have 8 for each destination."""
        updates = uniform((8 * places // size,), places)
        return scattered(updates, values((places,), "int8"), "mean")

    def ascending(size: int) -> Planned:
        """Ascending updates of destinations that have so many bytes of accumulators."""
        places = size // 8
        updates = np.sort(uniform((places,), places))
        return scattered(updates, values((places,), "int8"), "mean")

    def far_touched(size: int) -> Planned:
        return touched(size, PLACES)

    def sparse(size: int) -> Planned:
        """One of so many float32 is touched."""
        indices = np.random.default_rng(1).permutation(np.arange(0, PLACES, size))
        return scattered(indices, values((PLACES,)), "mean")

    def of_rows(size: int) -> Planned:
        """So many updates for each destination."""
        indices = np.random.default_rng(1).permutation(np.arange(size << 12) % (1 << 12))
        return scattered(indices, values((1 << 12, ROW)), "mean")

    def of_bytes(size: int, reduction: str = "mean") -> Planned:
        """Rows of so many bytes, with 1.5 updates for each of the destinations."""
        return scattered(uniform((3 << 13,), 1 << 14), values((1 << 14, size // 4)), reduction)

    def repeated(size: int, updates: int = 8 * MIB) -> Planned:
        """Rows of so many bytes, with 3 updates for each of the destinations."""
        rows = max(updates // size, 12)
        indices = uniform((rows,), max(rows // 3, 1))
        return scattered(indices, values((max(rows // 3, 1), size // 4)), "add")

    def far_repeated(size: int) -> Planned:
        return repeated(size, 64 * MIB)

    return [
        Threshold(
            "sum_bytes_of_plan_entry",
            touched,
            **switch("sum_bytes_of_plan_entry", HUGE, 0),
            least=1,
        ),
        Threshold(
            "sum_bytes_of_far_plan_entry",
            far_touched,
            **switch("sum_bytes_of_far_plan_entry", HUGE, 0),
            least=1,
        ),
        Threshold(
            "least_ascending_sums",
            ascending,
            **switch("least_ascending_sums", HUGE, 0),
            least=1 << 16,
        ),
        Threshold(
            "least_divided_updates",
            of_rows,
            **switch("least_divided_updates", 1 << 20, 0),
            least=0,
        ),
        Threshold(
            "destinations_of_divided_group",
            sparse,
            **switch("destinations_of_divided_group", HUGE, 1),
            least=1,
        ),
        Threshold("short_divided_row", of_bytes, **switch("short_divided_row", HUGE, 0), least=8),
        Threshold(
            "least_ordered_row",
            lambda size: of_bytes(size, "add|exclude_self"),
            **switch("least_ordered_row", HUGE, 0, short_ordered_row=HUGE, long_ordered_row=HUGE),
            least=8,
        ),
        Threshold(
            "short_ordered_row",
            repeated,
            **switch("short_ordered_row", HUGE, 0, long_ordered_row=HUGE, far_updates_part=1e9),
            least=64,
        ),
        Threshold(
            "long_ordered_row",
            far_repeated,
            **switch("long_ordered_row", HUGE, 0, short_ordered_row=0, far_updates_part=1e-9),
            least=64,
        ),
    ]


def _passes(cache: int) -> list[Family]:
    def far(size: int) -> Planned:
        places = size // 4
        return passed(UPDATE, (max(places // 4, 2 * size // LINE),), 0, places)

    def loops(size: int) -> Planned:
        shape = rows_of(ENTRIES, size)
        return passed("scatter_elements", shape, 1, size)

    def means(size: int) -> Planned:
        """With so many places for each update."""

        def draw() -> Passage:
            taken = np.random.default_rng(2).integers(0, 1000, PLACES // size)
            source, target = values((1000,), "int8"), values((PLACES,), "int8")
            put = uniform(taken.shape, PLACES)
            return Passage(source, taken, target, put, reduction="mean")

        return in_place(draw)

    return [
        Threshold(
            "far_pass_part",
            far,
            **switch("far_pass_part", 1e9, 1e-9),
            least=MIB,
            size_of=lambda part: cache * part / 2,  # of the source, and of the output
            value_of=lambda size: 2 * size / cache,
        ),
        Sweep(
            "pass_block",
            [
                lambda: passed("scatter_elements", (64, 20000), 0, 64),
                lambda: passed("scatter_elements", (1000, 2000), 0, 1000),
            ],
            (16 << 10, 32 << 10, 128 << 10, 256 << 10),
        ),
        Sweep(
            "slices_area",
            [
                lambda: _sliced(300, 20000),
                lambda: _sliced(400, 3000),
                lambda: _sliced(4000, 500),
            ],
            (1 << 22, 1 << 23, 1 << 25, 1 << 26),
            settings={"most_passed_slices": 0},
        ),
        Sweep("least_slices", [lambda: _sliced(100, 100000)], (1, 4, 16, 32)),
        Sweep("most_slices", [lambda: _sliced(20000, 64)], (32, 64, 256, 512)),
        Sweep(
            "least_sliced_elements",
            [
                *(partial(_columns, entries) for entries in (2, 3, 5, 8)),
                partial(_columns, 3, "mul"),
            ],
            (0, 256, 512, 1024, 4096, 1 << 20),
        ),
        Threshold(
            "short_group_run",
            lambda run: _apart(100, run),
            **at("short_group_run", few_run_elements=0),
            least=1,
        ),
        Threshold(
            "few_run_elements",
            lambda elements: _apart(max(elements // 6, 1), 6),
            **at("few_run_elements"),
            least=5,
        ),
        Threshold(
            "least_turn_of_task",
            lambda extent: _sliced((4 * MIB) // extent, extent),
            **at("least_turn_of_task"),
            least=4,
            size_of=lambda value: 2 * value / FLOAT,
            value_of=lambda extent: extent * FLOAT / 2,
            threads=2,
        ),
        Threshold(
            "most_passed_slices",
            lambda slices: _sliced(slices, 4000),
            **switch("most_passed_slices", HUGE, 0),
            least=1,
            most=256,
        ),
        Threshold(
            "most_passed_slices_of_moves",
            lambda slices: _sliced(slices, 20000, "none"),
            **switch("most_passed_slices_of_moves", HUGE, 0, most_passed_slices=HUGE),
            least=1,
            most=256,
        ),
        Threshold(
            "least_repeats_of_moves",
            lambda repeats: _sliced(5, 50000, "none", repeats),
            **switch("least_repeats_of_moves", HUGE, 0),
            least=1,
        ),
        Threshold(
            "most_passed_slices_of_repeats",
            lambda slices: _sliced(slices, 20000, "none", 8),
            **switch("most_passed_slices_of_repeats", HUGE, 0, most_passed_slices=HUGE),
            least=1,
            most=256,
        ),
        Threshold(
            "least_repeats_in_order",
            lambda repeats: _sliced(16, 50000, repeats=repeats),
            **switch("least_repeats_in_order", HUGE, 0),
            least=1,
        ),
        Threshold(
            "most_summed_elements",
            means,
            **switch("most_summed_elements", HUGE, 0),
            least=0,
            most=100,
        ),
        Threshold("longest_pass_loop", loops, **at("longest_pass_loop"), least=1),
        Threshold(
            "longest_passed_row",
            lambda row: passed(UPDATE, (ENTRIES,), 0, PLACES, (row,)),
            **switch("longest_passed_row", 256, 0),
            least=0,
            most=64,
        ),
        Threshold(
            "longest_passed_weighted_row",
            lambda row: passed(UPDATE, (ENTRIES,), 0, PLACES, (row,), is_weighted=True),
            **switch("longest_passed_weighted_row", 256, 0),
            least=1,
            most=64,
        ),
    ]


def _element_order(cache: int) -> list[Family]:
    """Sums of single elements, into an output of 4 caches unless that changes."""
    never = {"far_ordered_part": HUGE, "most_repeats_of_ordered_sums": 0}
    always = {
        "far_ordered_part": 0,
        "most_repeats_of_ordered_sums": HUGE,
        "bytes_of_ordered_group": HUGE,
        "ordered_updates_part": HUGE,
        "least_ordered_tasks": 1,
        "least_ordered_step": 0,
        "most_ordered_repeats": HUGE,
    }

    def sums(places: int, updates: int) -> Planned:
        return scattered(uniform((updates,), places), values((places,)), "add")

    def anew(lines: float) -> Planned:
        """So many lines of a new output for each update."""
        updates = int(cache / LINE * 4 / lines)
        return scattered(uniform((updates,), cache), values((cache,)), "add", is_in_place=False)

    def means(updates: int) -> Planned:
        """Each element has so many updates."""
        places = cache // 8
        return scattered(uniform((updates * places,), places), values((places,), "int32"), "mean")

    def repeated(updates: int) -> Planned:
        """Every 16th element has so many updates."""
        touched = cache // LINE
        indices = 16 * uniform((updates * touched,), touched)
        return scattered(indices, values((16 * touched,)), "add")

    def in_windows(size: int) -> Planned:
        """Places that are shuffled within windows of so many bytes."""
        window = max(size // 4, 2)
        indices = np.arange(cache // window * window).reshape(-1, window)
        return scattered(
            np.random.default_rng(2).permuted(indices, axis=1).ravel(), values((cache,)), "add"
        )

    def part(name: str, call: Callable[[int], Planned], below: dict, above: dict) -> Threshold:
        return Threshold(
            name,
            call,
            below,
            above,
            least=MIB,
            size_of=lambda part: cache * part,
            value_of=lambda size: size / cache,
        )

    return [
        part("far_ordered_part", lambda size: sums(size // 4, size // 32), never, always),
        part("ordered_updates_part", lambda size: sums(cache, size // 4), always, never),
        Threshold(
            "bytes_of_ordered_group",
            lambda size: sums(cache, 4 * cache // size),
            always,
            never,
            least=8,
            most=4096,
        ),
        Threshold("most_ordered_repeats", repeated, always, never, least=0, most=64),
        Threshold("most_repeats_of_ordered_sums", means, always, never, least=1, most=64),
        Threshold("least_ordered_step", in_windows, never, always, least=64),
        Sweep(
            "least_lines_of_copied_destination",
            [lambda: anew(0.7), lambda: anew(1.2)],
            (0, 2),
            settings=always,
        ),
        Sweep("ordered_prefetch", [lambda: sums(cache, cache // 4)], (32, 64, 192), settings=always),
    ]
