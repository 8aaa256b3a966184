# SPDX-License-Identifier: Apache-2.0
"""Programs that were compiled against the baseline find in today's header what they found then.

Additions pass. --update writes a new baseline instead.

usage: compare.py [--update] <header> <baseline> <soname> <compiler>...
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import house
import interface

ADVICE = """\
This breaks programs that are compiled already. Keep what the baseline has and add a new name
beside it. If the break is meant, raise STREW_VERSION_MAJOR, which stands for the soname and the
version of the symbols, and write a new baseline: `meson compile -C <build> abi-baseline`. Without
that a new baseline is for additions only, at a release."""


def changed_functions(baseline: Path, folder: Path, today: str) -> Iterator[str]:
    now = folder / "today.abi"
    now.write_text(today)
    command = [house.require("abidiff"), "--no-added-syms", str(baseline), str(now)]
    found = subprocess.run(command, text=True, stdout=subprocess.PIPE)
    if found.returncode != 0:
        yield found.stdout.strip()


def changed_constants(baseline: str, today: str) -> Iterator[str]:
    """abidiff looks into no enum without a name."""
    values = interface.constants(today)
    then = interface.constants(baseline)
    if not then:
        yield "the baseline has no constants"
    for name, value in then.items():
        if values.get(name) != value:
            yield f"{name} was {value} and is {values.get(name, 'gone')}"


def problems(baseline: Path, folder: Path, today: str) -> Iterator[str]:
    yield from changed_functions(baseline, folder, today)
    yield from changed_constants(baseline.read_text(), today)


def main(*arguments: str) -> None:
    update = arguments[0] == "--update"
    header, baseline, soname, *compiler = arguments[1:] if update else arguments
    house.require("abidiff")
    with tempfile.TemporaryDirectory() as folder:
        today = interface.describe(Path(header), Path(folder), soname, compiler)
        if update:
            Path(baseline).write_text(today)
            house.finish([])
        found = list(problems(Path(baseline), Path(folder), today))
        house.finish([*found, "", ADVICE] if found else [])


main(*sys.argv[1:])
