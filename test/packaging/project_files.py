# SPDX-License-Identifier: Apache-2.0
"""Every file that has the version has that of strew.h, and the files of the project are in order.

usage: project_files.py <source root> <version>
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import house

# Files with the version, and what precedes it there.
VERSIONS = {
    "CHANGELOG.md": r"^## \[(?!Unreleased)",
    "CITATION.cff": r"^version: ",
    "packaging/debian/changelog": r"\Astrew \(",
    "packaging/conda-forge/recipe.yaml": r"^  version: (?!\$)",
    "packaging/npm/package.json": r'^  "version": "',
    "packaging/vcpkg/vcpkg.json": r'^  "version": "',
    "packaging/wrapdb/strew.wrap": r"^directory = strew-",
}
SECTIONS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def version_problems(root: Path, version: str) -> Iterator[str]:
    for name, before in VERSIONS.items():
        found = re.search(before + r"(\d+\.\d+\.\d+)", (root / name).read_text(), re.MULTILINE)
        if not found or found[1] != version:
            yield f"{name}: its version is {found[1] if found else 'missing'}, not {version}"


def highway_problems(root: Path) -> Iterator[str]:
    """The licences of what is linked are listed by the release of the wrap."""
    folder = re.search(r"directory = (.+)", (root / "subprojects/highway.wrap").read_text())[1]
    recipe = (root / "packaging/conda-forge/recipe.yaml").read_text()
    if f"subprojects/{folder}/" not in recipe:
        yield f"packaging/conda-forge/recipe.yaml: the licence is not that of {folder}"


def link_problems(root: Path) -> Iterator[str]:
    for name in PAGES:
        for target in LINK.findall((root / name).read_text()):
            if not (root / target).exists():
                yield f"{name}: there is no {target}"


def changelog_problems(root: Path) -> Iterator[str]:
    sections = set(re.findall(r"^### (.+)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE))
    for name in sorted(sections - SECTIONS):
        yield f"CHANGELOG.md: Keep a Changelog has no section {name}"


def citation_problems(root: Path) -> Iterator[str]:
    """As cffconvert of PyPI reads it, where that is installed."""
    if find_spec("cffconvert") is None:
        print("not checked: cffconvert is not installed")
        return
    command = [sys.executable, "-c", "from cffconvert.cli.cli import cli; cli()", "--validate"]
    if subprocess.run([*command, "--infile", str(root / "CITATION.cff")]).returncode != 0:
        yield "CITATION.cff is not valid"


def long_run_problems(root: Path) -> Iterator[str]:
    """packaging/release.sh --long runs what the table of longer runs has."""
    page = (root / "doc/testing.md").read_text()
    script = (root / "packaging/release.sh").read_text()
    told = set(re.findall(r"^\| `ninja -C build-test ([\w-]+)` \|", page, re.MULTILINE))
    run = set(re.search(r"for target in ((?:[\w-]+|\\\n|\s)+); do", script)[1].replace("\\", "").split())
    for name in sorted(told ^ run):
        where = "doc/testing.md" if name in run else "packaging/release.sh"
        yield f"{where}: the longer run {name} is missing"


def main(root_name: str, version: str) -> None:
    root = Path(root_name)
    json.loads((root / "packaging/vcpkg/vcpkg.json").read_text())
    house.finish(
        [
            *version_problems(root, version),
            *highway_problems(root),
            *link_problems(root),
            *changelog_problems(root),
            *citation_problems(root),
            *long_run_problems(root),
        ]
    )


main(*sys.argv[1:])
