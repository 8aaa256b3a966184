# SPDX-License-Identifier: Apache-2.0
"""The tables of doc/replaces.md about other systems are those that rows.py makes, and all is tested.

usage: table.py <doc/replaces.md> [--update]
"""

from __future__ import annotations

import ast
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from rows import DIFFERENCES, PEERS, ROWS, Difference, Row

HERE = Path(__file__).resolve().parent
BEGIN = "<!-- made by test/peers/table.py doc/replaces.md --update: begin -->\n"
END = "<!-- end -->\n"
WIDTH = 105


def line_of(row: Row) -> str:
    peer = PEERS[row.peer]
    differs = "; ".join(row.differs) or "–"
    return f"| {peer.title} `{peer.prefix}{row.function}` | {row.call} | {differs} |"


def bullet_of(difference: Difference) -> str:
    names = ", ".join(f"`{name}`" for name in difference.tests)
    text = f"- **{difference.topic}.** {difference.text} ({names})"
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def made() -> str:
    seen = [f"{peer.title} {peer.version}" for peer in PEERS.values() if peer.version]
    where = f"Seen in {', '.join(seen)} on a CPU; TensorFlow by its documentation."
    lines = [
        "| function | call here | what differs |",
        "|---|---|---|",
        *map(line_of, ROWS),
        "",
        textwrap.fill(where, WIDTH),
        "",
        *map(bullet_of, DIFFERENCES),
    ]
    return "\n".join(lines) + "\n"


def tests_of(peer: str) -> set[str]:
    module = ast.parse((HERE / f"{peer}_test.py").read_text())
    return {node.name for node in module.body if isinstance(node, ast.FunctionDef)}


def untested() -> Iterator[str]:
    """Statements about a peer without a test of that peer."""
    tests = {peer: tests_of(peer) for peer in PEERS}
    for row in ROWS:
        for statement, test in row.differs.items():
            if test not in tests[row.peer]:
                yield f"{row.peer}_test.py has no {test}, which would show: {statement}"
    for difference in DIFFERENCES:
        for peer in PEERS.values():
            if peer.title in difference.text and tests[peer.key].isdisjoint(difference.tests):
                yield f"{peer.key}_test.py tests nothing about: {difference.topic}"


def main(readme: Path, update: bool) -> int:
    before, begin, rest = readme.read_text().partition(BEGIN)
    shown, end, after = rest.partition(END)
    assert begin and end, f"{readme} has no place for the tables"
    if update:
        readme.write_text(before + BEGIN + made() + END + after)
    problems = list(untested())
    if not update and shown != made():
        problems.append(f"{readme.name} does not show the tables of rows.py: table.py --update")
    print("\n".join(problems) or "nothing to complain of")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--update" in sys.argv[2:]))
