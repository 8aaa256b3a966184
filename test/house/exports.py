# SPDX-License-Identifier: Apache-2.0
"""A library that other systems load exports the functions that they look for, and no other.

usage: exports.py <library> <nm> <function>...
"""

import sys
from collections.abc import Iterator

import house


def problems(library: str, nm: str, *wanted: str) -> Iterator[str]:
    lines = house.output_of([nm, "-D", "--defined-only", library]).splitlines()
    exported = {line.split()[-1] for line in lines}
    yield from (f"not exported: {name}" for name in sorted(set(wanted) - exported))
    yield from (f"exported: {name}" for name in sorted(exported - set(wanted)))


house.finish(problems(*sys.argv[1:]))
