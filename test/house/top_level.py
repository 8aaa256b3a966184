# SPDX-License-Identifier: Apache-2.0
"""The top of the repository holds what belongs there and nothing else.

usage: top_level.py <source root>
"""

import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import house

BELONGS = set(
    "README.md LICENSE .gitignore .clang-format .editorconfig .ci meson.build meson_options.txt"
    " pyproject.toml subprojects include src test bench doc packaging CHANGELOG.md CITATION.cff"
    " CONTRIBUTING.md SECURITY.md".split()
)


def listed(root: Path) -> set[str]:
    """Names in the folder, less those that git ignores and build directories of any name."""
    patterns = [line.strip("/") for line in (root / ".gitignore").read_text().split()]
    return {
        entry.name
        for entry in root.iterdir()
        if entry.name != ".git"
        and not (entry / "meson-private").is_dir()
        and not any(fnmatch(entry.name, pattern) for pattern in patterns)
    }


def problems(root: Path) -> Iterator[str]:
    names = {name.split("/")[0] for name in house.tracked(root)} or listed(root)
    yield from (f"does not belong at the top: {name}" for name in sorted(names - BELONGS))
    yield from (f"missing: {name}" for name in sorted(BELONGS) if not (root / name).exists())


house.finish(problems(Path(sys.argv[1])))
