# SPDX-License-Identifier: Apache-2.0
"""The comparisons of paths.py: each path of strew with its yardstick."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import workloads
from .buffers import SEED, Buffers, aligned
from .copies import Copies
from .library import CACHE_MODES, Library
from .scatter import strew_call
from .workloads import Shape

Call = Callable[[], object]
Entrant = tuple[str, int]  # a name and the number of threads

MEMCPY, MEMSET = "memcpy loop", "memset"
FILLER = 0x3C  # in all bytes of a value, so that memset can write it

BATCH, HEADS, LENGTH, ROW = 8, 16, 4096, 128
SLOTS = BATCH * LENGTH
STEPS_OF_ONE = 2048  # 64 MiB of places: more than the caches, so that no step finds one warm
WALKS = {"rows": "nd.rows", "last axis": "el.last", "first axis": "el.first"} | {
    "single elements": "nd.scalar"
}
DTYPES = ("float32", "float16", "int8", "int32")
OUT_OF_RANGE = ", 1 % out"
KEPT = ", scratch kept"


@dataclass(frozen=True)
class Section:
    """Comparisons that share a table. A figure is seconds times `scale`."""

    title: str
    unit: str
    scale: float
    yardstick: str


CACHES = Section("Cache writes, float16", "µs a call", 1e6, MEMCPY)
UPDATES = Section("scatter_update, float32 [64, 256, 1024]", "µs a call", 1e6, MEMCPY)
SLICES = Section("Broadcast slices, float32", "µs a call", 1e6, MEMSET)
REDUCTIONS = Section("Reductions in place", "ns an update", 1e9, "add")
POLICIES = Section("Index policies, float32 in place", "ns an update", 1e9, "error")


@dataclass(frozen=True)
class Comparison:
    """One row. `per` is the number of calls or updates within one call of an entrant.

    `alike` are groups of entrants that leave the same bytes in `output`. `prepare` sets up an
    entrant before its turn.
    """

    section: Section
    name: str
    calls: Mapping[Entrant, Call]
    output: np.ndarray
    alike: Sequence[Sequence[Entrant]]
    goals: Mapping[str, float] = field(default_factory=dict)
    per: int = 1
    prepare: Callable[[str], None] = lambda what: None


@dataclass(frozen=True)
class Libraries:
    """One library for each thread count and policy."""

    path: Path
    threads: Sequence[int]

    def each(self, policy: str = "error", wrap: bool = True) -> Iterator[tuple[int, Library]]:
        for count in self.threads:
            library = Library(self.path, count)
            library.set_index_policy(policy)
            library.set_negative_indices(wrap)
            yield count, library


def all_comparisons(libraries: Libraries) -> Iterator[Comparison]:
    """Yields the comparisons, and makes the buffers of each only when it is reached."""
    copies = Copies()
    yield from linear_and_circular(libraries, copies)
    yield from paged(libraries, copies)
    yield from scatter_updates(libraries, copies)
    yield from broadcasts(libraries, copies)
    yield from reductions(libraries, copies)
    yield from policies(libraries)


def linear_and_circular(libraries: Libraries, copies: Copies) -> Iterator[Comparison]:
    cache = noise((BATCH, HEADS, LENGTH, ROW), np.float16)
    for count in (1, 64):
        update = noise((BATCH, HEADS, count, ROW), np.float16)
        for name, mode, positions in cache_positions(count):
            calls = {(MEMCPY, 1): copies.to_cache(cache, update, positions)}
            for threads, library in libraries.each():
                code = CACHE_MODES[mode]
                call = copies.tensor_scatter(library, cache, update, positions, code)
                calls["strew", threads] = call
            title = f"{mode}, {count} new{name}"
            goals = {"strew": 1.15}
            yield Comparison(CACHES, title, calls, cache, [list(calls)], goals, len(positions))


def cache_positions(count: int) -> Iterator[tuple[str, str, np.ndarray]]:
    """The rest of the name, the mode, and for each step the first position of each entry."""
    first = 37 * np.arange(BATCH)
    steps = np.arange(STEPS_OF_ONE // count)[:, None]
    walking = first + count * steps
    yield ", next places", "linear", walking
    yield ", same places", "linear", first + 0 * steps
    turns = LENGTH * np.arange(BATCH)  # of a ring; those are no concern of the caller
    yield ", next places", "circular", walking + turns
    if count > 1:
        wrapping = np.where(np.arange(BATCH) % 2, walking, LENGTH - count // 2 + first % count // 4)
        yield ", half of the rows wrap", "circular", wrapping


def paged(libraries: Libraries, copies: Copies) -> Iterator[Comparison]:
    pages = noise((SLOTS, HEADS * ROW), np.float16)
    random = np.random.default_rng(SEED)
    for count in (BATCH, BATCH * 64):
        slots = random.permutation(SLOTS)[: STEPS_OF_ONE * BATCH].reshape(-1, count)
        slots[random.random(slots.shape) < 1 / 8] = -1
        update = noise((count, HEADS * ROW), np.float16)
        calls = {(MEMCPY, 1): copies.rows(pages, update, slots, 0)}
        for threads, library in libraries.each("drop", wrap=False):
            calls["strew", threads] = copies.scatter_update(library, pages, slots, update, 0)
        title = f"paged, {count} tokens, 1/8 skipped"
        yield Comparison(CACHES, title, calls, pages, [list(calls)], {"strew": 1.15}, len(slots))


def scatter_updates(libraries: Libraries, copies: Copies) -> Iterator[Comparison]:
    data = noise((64, 256, 1024), np.float32)
    random = np.random.default_rng(SEED)
    for axis, length in enumerate(data.shape):
        indices = random.permutation(length)[None, : length // 2]
        shape = tuple(length // 2 if i == axis else n for i, n in enumerate(data.shape))
        updates = noise(shape, np.float32)
        calls = {(MEMCPY, 1): copies.rows(data, updates, indices, axis)}
        for threads, library in libraries.each():
            calls["strew", threads] = copies.scatter_update(library, data, indices, updates, axis)
        yield Comparison(UPDATES, f"axis {axis}", calls, data, [list(calls)])


def broadcasts(libraries: Libraries, copies: Copies) -> Iterator[Comparison]:
    for data, columns, updates, name in (
        ((512, 512), 512, (1,), "one value into 1 MiB"),
        ((4096, 4096), 4096, (1,), "one value into 64 MiB"),
        ((4096, 4096), 1024, (1,), "one value into 1024 of 4096 columns"),
        ((4096, 4096), 4096, (4096,), "one row into 64 MiB"),
        ((4096, 4096), 4096, (4096, 1), "one column into 64 MiB"),
    ):
        yield broadcast(libraries, copies, data, columns, updates, name)


def broadcast(
    libraries: Libraries, copies: Copies, data: Shape, columns: int, updates: Shape, name: str
) -> Comparison:
    output, values = noise(data, np.float32), aligned(updates, np.float32)
    values.view(np.uint8)[...] = FILLER
    calls = {(MEMSET, 1): copies.fill(output, columns, FILLER)}
    bounds = ((0, 0), (data[0], columns), (1, 1), (0, 1))
    for threads, library in libraries.each():
        target, source = library.tensor(output), library.tensor(values)
        calls["strew", threads] = library.slice_scatter(target, source, *bounds, "none", target)
    return Comparison(SLICES, name, calls, output, [list(calls)])


def reductions(libraries: Libraries, copies: Copies) -> Iterator[Comparison]:
    listed = {workload.name: workload for workload in workloads.load_calls()}
    whats = ("add", "sub", "add|exclude_self", "mean", "mean|exclude_self")
    for name, walk in WALKS.items():
        bound = {"first axis": math.inf, "single elements": 4}.get(name, 2)
        goals = dict.fromkeys(("mean", "mean|exclude_self", "mean" + KEPT), bound)
        for dtype in DTYPES:
            workload = dataclasses.replace(listed[f"{walk}.add.inp"], dtype=dtype)
            buffers = Buffers(workload.operands())
            calls = {
                (what, threads): strew_call(library, buffers.scatter(what, in_place=True))
                for threads, library in libraries.each()
                for what in whats
            }
            for threads, library in libraries.each():
                copies.keep_scratch(library)
                call = strew_call(library, buffers.scatter("mean", in_place=True))
                calls["mean" + KEPT, threads] = call
            alike = [[entrant for entrant in calls if entrant[0] == what] for what in whats]
            alike.append([entrant for entrant in calls if entrant[0] in ("mean", "mean" + KEPT)])
            yield Comparison(
                REDUCTIONS,
                f"{name}, {dtype}",
                calls,
                buffers.output,
                alike,
                goals,
                math.prod(workload.updates),
                prepare=lambda what, of=buffers: of.restore_output(in_place=True),
            )


def policies(libraries: Libraries) -> Iterator[Comparison]:
    listed = {workload.name: workload for workload in workloads.load_calls()}
    for name, walk in WALKS.items():
        workload = listed[f"{walk}.none.inp"]
        buffers = Buffers(workload.operands())
        choice = IndexChoice(buffers)
        for reduction in ("none", "add"):
            calls: dict[Entrant, Call] = {}
            for policy in ("error", "drop", "clamp"):
                for threads, library in libraries.each(policy):
                    call = strew_call(library, buffers.scatter(reduction, in_place=True))
                    calls[policy, threads] = call
                    if policy != "error":
                        calls[policy + OUT_OF_RANGE, threads] = call
            yield Comparison(
                POLICIES,
                f"{name}, {reduction}",
                calls,
                buffers.output,
                alike_by_policy(calls),
                {"drop": 1.2, "clamp": 1.2},
                math.prod(workload.updates),
                prepare=choice.lay,
            )


def alike_by_policy(calls: Mapping[Entrant, Call]) -> list[list[Entrant]]:
    """If all indices are in range, all entrants agree; else only those of the same policy."""
    groups: dict[str, list[Entrant]] = {}
    for what, threads in calls:
        key = what if what.endswith(OUT_OF_RANGE) else "in range"
        groups.setdefault(key, []).append((what, threads))
    return list(groups.values())


class IndexChoice:
    """The indices of some buffers, all in range or one in a hundred beyond the axis."""

    def __init__(self, buffers: Buffers) -> None:
        self._buffers = buffers
        workload = buffers.workload
        self._inside = buffers.indices.copy()
        out = np.random.default_rng(SEED).random(self._inside.shape) < 0.01
        self._outside = np.where(out, self._inside + workload.data[workload.axis], self._inside)

    def lay(self, what: str) -> None:
        """Writes those that an entrant is given, and the data as it was."""
        outside = what.endswith(OUT_OF_RANGE)
        np.copyto(self._buffers.indices, self._outside if outside else self._inside)
        self._buffers.restore_output(in_place=True)


def noise(shape: Shape, dtype: type) -> np.ndarray:
    """Any bits, none of them read as a number."""
    array = aligned(shape, dtype)
    random = np.random.default_rng(SEED)
    array.reshape(-1).view(np.uint8)[...] = random.integers(0, 256, array.nbytes, np.uint8)
    return array
