# SPDX-License-Identifier: Apache-2.0
"""Draws the calls of examples.py as SVG: equal colours are one index and what it sends where."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from examples import (
    Array,
    Example,
    Place,
    PlanExample,
    places,
    result,
    result_of_plans,
    rows_of_updates,
    shape_of,
)

CELL_WIDTH, CELL_HEIGHT, GAP, TITLE = 32, 28, 22, 22
WIDEST = 340  # fits a phone of 360 pixels with a margin
# Fills of the groups on white and on black; the text is dark on the first and light on the others.
FILLS = (
    ("#ffd8a8", "#8a4b08"),
    ("#a5d8ff", "#1458a0"),
    ("#b2f2bb", "#1f6b32"),
    ("#fcc2d7", "#94234f"),
    ("#d0bfff", "#5b3bb0"),
    ("#ffec99", "#6b5a00"),
)
PRODUCTS = "weights[e] * source[from[e]]"  # of strew_plan_gather_scatter()
ORDER = ("source", "from", "weights", PRODUCTS, "to", "data", "plan", "updates", "output")
STYLE = """
text { font: 14px ui-monospace, monospace; text-anchor: middle; fill: #16191d }
.title { font: italic 14px system-ui, sans-serif; text-anchor: start }
rect { fill: #fff; stroke: #868e96 }
"""
DARK_STYLE = """
text { fill: #f1f3f5 }
rect { fill: #1d2126; stroke: #868e96 }
"""


@dataclasses.dataclass(frozen=True)
class Grid:
    """An array of rank 1 or 2 under its name; groups tells the colour of some places."""

    title: str
    array: Array
    groups: dict[Place, int]

    @property
    def rows(self) -> Array:
        return self.array if isinstance(self.array[0], list) else [self.array]

    @property
    def width(self) -> int:
        return max(CELL_WIDTH * len(self.rows[0]), 8 * len(self.title))

    @property
    def height(self) -> int:
        return TITLE + CELL_HEIGHT * len(self.rows)

    def cells(self, left: int, top: int) -> Iterator[str]:
        yield f'<text class="title" x="{left}" y="{top + 15}">{self.title}</text>'
        is_flat = self.rows is not self.array
        for row, column in places((len(self.rows), len(self.rows[0]))):
            group = self.groups.get((column,) if is_flat else (row, column))
            x, y = left + CELL_WIDTH * column, top + TITLE + CELL_HEIGHT * row
            kind = "" if group is None else f' class="g{group}"'
            size = f'width="{CELL_WIDTH}" height="{CELL_HEIGHT}"'
            yield f'<rect x="{x}" y="{y}" {size}{kind}/>'
            text = str(self.rows[row][column]).replace("-", "\N{MINUS SIGN}")
            yield f'<text x="{x + CELL_WIDTH // 2}" y="{y + 19}">{text}</text>'


def grids(example: Example | PlanExample) -> list[Grid]:
    is_plan = isinstance(example, PlanExample)
    return grids_of_plans(example) if is_plan else grids_of_operator(example)


def grids_of_plans(example: PlanExample) -> list[Grid]:
    """Entries have the colour of the row that they name, which each plan numbers anew."""
    entries: dict[str, list[int]] = {}
    before = 0
    for name, rows in example.plans.items():
        entries[name] = [(before + row) % len(FILLS) for row in rows]
        before += example.extent(name)
    first, last = ("from", "to") if "from" in entries else ("plan", "plan")
    by_entry = dict(enumerate(entries[first]))
    by_row = {name: dict(zip(example.plans[name], entries[name])) for name in entries}

    colours = {name: dict(enumerate(groups)) for name, groups in entries.items()}
    colours |= dict.fromkeys(("weights", PRODUCTS, "updates"), by_entry)
    colours |= {"source": by_row[first], "data": {}}
    colours["output"] = by_row[last] if "data" in example.operands else by_entry
    arrays = {**example.operands, **example.plans, "output": result_of_plans(example)}
    if "weights" in arrays:
        arrays[PRODUCTS] = rows_of_updates(example)
    titles = {name: f"indices of {name}" for name in example.plans}
    return [
        Grid(titles.get(name, name), arrays[name], in_rows(arrays[name], colours[name]))
        for name in ORDER
        if name in arrays
    ]


def in_rows(array: Array, colours: dict[int, int]) -> dict[Place, int]:
    return {place: colours[place[0]] for place in places(shape_of(array)) if place[0] in colours}


def grids_of_operator(example: Example) -> list[Grid]:
    writes = list(example.writes(example))
    names = list(dict.fromkeys(write.named_by for write in writes))
    group = {name: number % len(FILLS) for number, name in enumerate(names)}
    sources = {write.source: group[write.named_by] for write in writes}
    destinations = {write.destination: group[write.named_by] for write in writes}
    drawn = []
    for name, array in example.operands.items():
        is_updates = array is example.updates
        groups = sources if is_updates else {}
        if name in ("indices", "write_indices"):
            # A tuple of indices has the colour of its place, which is a part of theirs.
            named = [place[: len(names[0])] for place in places(shape_of(array))]
            groups = dict(zip(places(shape_of(array)), map(group.get, named)))
        drawn.append(Grid(name, array, groups))
    output = "present_cache" if "past_cache" in example.operands else "output"
    return [*drawn, Grid(output, result(example), destinations)]


def placed(drawn: list[Grid]) -> Iterator[tuple[int, int, Grid]]:
    """Side by side while there is room."""
    left = top = bottom = 0
    for grid in drawn:
        if left + grid.width > WIDEST:
            left, top = 0, bottom + GAP // 2
        yield left + 1, top, grid
        left, bottom = left + grid.width + GAP, max(bottom, top + grid.height)


def styles() -> str:
    light = "".join(f".g{number} {{ fill: {fill} }}\n" for number, (fill, _) in enumerate(FILLS))
    dark = "".join(f".g{number} {{ fill: {fill} }}\n" for number, (_, fill) in enumerate(FILLS))
    return f"{STYLE}{light}@media (prefers-color-scheme: dark) {{{DARK_STYLE}{dark}}}"


def picture(example: Example | PlanExample) -> str:
    layout = list(placed(grids(example)))
    width = max(left + grid.width for left, _, grid in layout) + 1
    height = max(top + grid.height for _, top, grid in layout) + 1
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
    cells = [cell for left, top, grid in layout for cell in grid.cells(left, top)]
    box = f'viewBox="0 0 {width} {height}">'
    return "\n".join([f"{head} {box}", f"<style>{styles()}</style>", *cells, "</svg>", ""])


def description(example: Example | PlanExample) -> str:
    """The same for those who cannot see it."""
    *operands, output = grids(example)
    shown = [f"{grid.title} = {grid.array}" for grid in operands]
    return f"{'; '.join(shown)}; result = {output.array}"


def attributes(example: Example | PlanExample) -> list[str]:
    plans = ["strew_plan_scatter_update", "axis = 0"] if isinstance(example, PlanExample) else []
    return plans + [
        f"STREW_{value}" if name in ("reduction", "mode") else f"{name} = {value}"
        for name, value in example.attributes.items()
    ]
