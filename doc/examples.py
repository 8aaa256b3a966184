# SPDX-License-Identifier: Apache-2.0
"""One small call of every operator, and which update goes where by the formula of strew.h; and one
of every function that uses a plan.

test/doc/examples_test.py compares the results with those of the library.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Any

Place = tuple[int, ...]
Array = list[Any]  # nested lists


@dataclasses.dataclass(frozen=True)
class Write:
    """The purpose of one element of the updates.

    named_by  the place in the indices, or that in the slice, which sends it there
    """

    destination: Place
    source: Place
    named_by: Place


@dataclasses.dataclass(frozen=True)
class Example:
    """A call of strew_<function>(); names of operands and attributes are those of the header."""

    function: str
    caption: str
    operands: dict[str, Array]
    attributes: dict[str, Any]
    writes: Callable[[Example], Iterator[Write]]

    def operand(self, *names: str) -> Array:
        return next(self.operands[name] for name in names if name in self.operands)

    @property
    def data(self) -> Array:
        return self.operand("data", "past_cache")

    @property
    def updates(self) -> Array:
        return self.operand("updates", "update")


@dataclasses.dataclass(frozen=True)
class PlanExample:
    """A call of strew_<function>() with plans that strew_plan_scatter_update() makes for axis 0.

    plans  the indices of each plan, by its name in the header
    """

    function: str
    caption: str
    plans: dict[str, Array]
    operands: dict[str, Array]
    attributes: dict[str, Any]

    def extent(self, plan: str) -> int:
        """The number of rows that the plan chooses from."""
        is_source = plan == "from" or "data" not in self.operands
        return len(self.operands["source" if is_source else "data"])


def shape_of(array: Array) -> Place:
    return (len(array), *shape_of(array[0])) if isinstance(array, list) else ()


def places(shape: Place) -> Iterator[Place]:
    return itertools.product(*map(range, shape))


def at(array: Array, place: Place) -> Any:
    return at(array[place[0]], place[1:]) if place else array


def put(array: Array, place: Place, value: Any) -> None:
    at(array, place[:-1])[place[-1]] = value


def scatter_elements(example: Example) -> Iterator[Write]:
    indices, axis = example.operand("indices"), example.attributes["axis"]
    length = shape_of(example.data)[axis]
    for place in places(shape_of(indices)):
        index = at(indices, place) % length
        yield Write((*place[:axis], index, *place[axis + 1 :]), place, place)


def scatter_nd(example: Example) -> Iterator[Write]:
    indices, shape = example.operand("indices"), shape_of(example.data)
    *outer, count = shape_of(indices)
    for t in places(tuple(outer)):
        named = tuple(index % dim for index, dim in zip(at(indices, t), shape))
        for rest in places(shape[count:]):
            yield Write((*named, *rest), (*t, *rest), t)


def scatter_update(example: Example) -> Iterator[Write]:
    indices, axis = example.operand("indices"), example.attributes["axis"]
    shape = shape_of(example.data)
    for t in places(shape_of(indices)):
        index = at(indices, t) % shape[axis]
        for before in places(shape[:axis]):
            for behind in places(shape[axis + 1 :]):
                yield Write((*before, index, *behind), (*before, *t, *behind), t)


def slice_scatter(example: Example) -> Iterator[Write]:
    """The slice of one axis."""
    ((axis,), *ends) = (example.attributes[name] for name in ("axes", "start", "stop", "step"))
    bounds = slice(*(end for (end,) in ends))
    positions = range(shape_of(example.data)[axis])[bounds]
    for source in places(shape_of(example.updates)):
        j = source[axis]
        destination = (*source[:axis], positions[j], *source[axis + 1 :])
        yield Write(destination, source, (j,))


def tensor_scatter(example: Example) -> Iterator[Write]:
    """With STREW_CACHE_CIRCULAR, which is as linear where no position is beyond the end."""
    axis, length = example.attributes["axis"], shape_of(example.data)[example.attributes["axis"]]
    for source in places(shape_of(example.updates)):
        batch = source[:1]
        position = (at(example.operand("write_indices"), batch) + source[axis]) % length
        yield Write((*source[:axis], position, *source[axis + 1 :]), source, batch)


def result(example: Example) -> Array:
    output = [list(row) for row in example.data]
    for write in example.writes(example):
        update = at(example.updates, write.source)
        if example.attributes.get("reduction") == "ADD":
            update += at(output, write.destination)
        put(output, write.destination, update)
    return output


def rows_of_updates(example: PlanExample) -> Array:
    """The updates, which strew_plan_gather_scatter() never makes."""
    if "updates" in example.operands:
        return example.operands["updates"]
    places = example.plans.get("from", example.plans.get("plan"))
    weights = example.operands.get("weights", [[1]] * len(places))
    source = example.operands["source"]
    return [[w * x for x in source[place]] for place, (w,) in zip(places, weights, strict=True)]


def result_of_plans(example: PlanExample) -> Array:
    rows = rows_of_updates(example)
    if "data" not in example.operands:
        return rows
    output = [list(row) for row in example.operands["data"]]
    for place, row in zip(example.plans.get("to", example.plans.get("plan")), rows, strict=True):
        output[place] = [old + new for old, new in zip(output[place], row, strict=True)]
    return output


MATRIX = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]

EXAMPLES = (
    Example(
        "scatter_elements",
        "Each row has indices of its own, for that row; -1 is the last column.",
        {
            "data": MATRIX,
            "indices": [[0, 2], [3, 1], [-1, 0]],
            "updates": [[20, 30], [40, 50], [60, 70]],
        },
        {"axis": 1},
        scatter_elements,
    ),
    Example(
        "scatter_nd",
        "A tuple of one index names a row, and the row is replaced.",
        {"data": MATRIX, "indices": [[2], [0]], "updates": [[20, 30, 40, 50], [60, 70, 80, 90]]},
        {},
        scatter_nd,
    ),
    Example(
        "scatter_nd",
        "A tuple of two indices names an element. Two tuples name the same one: both are added.",
        {"data": MATRIX, "indices": [[0, 1], [2, 3], [0, 1], [-2, 0]], "updates": [20, 30, 40, 50]},
        {"reduction": "ADD"},
        scatter_nd,
    ),
    Example(
        "slice_scatter_int64",
        "Every second column, backwards from the last one on: data[:, -1:0:-2].",
        {"data": MATRIX, "updates": [[20, 30], [40, 50], [60, 70]]},
        {"start": [-1], "stop": [0], "step": [-2], "axes": [1]},
        slice_scatter,
    ),
    Example(
        "scatter_update",
        "An index names a whole column.",
        {"data": MATRIX, "indices": [3, 0], "updates": [[20, 30], [40, 50], [60, 70]]},
        {"axis": 1},
        scatter_update,
    ),
    Example(
        "tensor_scatter",
        "Each batch entry is written from a position of its own on, and goes on at the beginning.",
        {
            "past_cache": [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]],
            "update": [[20, 30, 40], [50, 60, 70]],
            "write_indices": [1, 4],
        },
        {"axis": 1, "mode": "CACHE_CIRCULAR"},
        tensor_scatter,
    ),
)

PLAN_EXAMPLES = (
    PlanExample(
        "plan_scatter",
        "Rows are added at the places that the plan has. Here two entries name row 2.",
        {"plan": [2, 0, 2]},
        {"data": MATRIX[:3], "updates": [[20, 30, 40, 50], [60, 70, 80, 90], [1, 1, 1, 1]]},
        {"reduction": "ADD"},
    ),
    PlanExample(
        "plan_gather",
        "The way back: each row of output is the row of source that its entry names.",
        {"plan": [2, 0, 2]},
        {"source": MATRIX},
        {},
    ),
    PlanExample(
        "plan_gather_scatter",
        "Edges of a graph: edge e takes row from[e] of source, times weights[e], to row to[e] of"
        " output. Entries of from have the colour of their row of source, and those of to the colour"
        " of their row of output. The products are never in memory.",
        {"from": [0, 0, 2, 1], "to": [1, 2, 0, 1]},
        {
            "source": [[1, 2], [3, 4], [5, 6]],
            "weights": [[1], [2], [3], [4]],
            "data": [[0, 0], [0, 0], [0, 0]],
        },
        {"reduction": "ADD"},
    ),
)
