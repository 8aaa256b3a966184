# SPDX-License-Identifier: Apache-2.0
"""Prints the folder of an installed Python package that has a file, or nothing.

usage: find_package.py <package> <file below its folder> [<another, as a pattern>...]

With patterns, the first file that matches each pattern is printed too, one per line. If a pattern
matches no file, nothing is printed. pip builds in an isolated environment, where the package may be
missing; the environment into which strew is installed may have it nevertheless.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path


def folders(package: str) -> Iterator[Path]:
    spec = find_spec(package)
    if spec is not None and spec.submodule_search_locations:
        yield from map(Path, spec.submodule_search_locations)
    for name in ("platlib", "purelib"):
        yield Path(sysconfig.get_path(name), package)


def main() -> None:
    package, *patterns = sys.argv[1:]
    for folder in folders(package):
        found = [sorted(folder.glob(pattern)) for pattern in patterns]
        if all(found):
            print(folder, *(files[0] for files in found[1:]), sep="\n")
            return


main()
