# SPDX-License-Identifier: Apache-2.0
"""Archives of the sources, with Highway's, for tests that build from them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import house

BACKEND = "import mesonpy, sys; mesonpy.build_sdist(sys.argv[1])"


def add_highway(root: Path, clone: Path) -> None:
    """Tests do not download; packaging/highway.py does."""
    wrap = (root / "subprojects" / "highway.wrap").read_text()
    for kind in ("source_filename", "directory"):
        name = re.search(rf"{kind} = (.+)", wrap)[1]
        cached = Path("subprojects", "packagecache" if kind == "source_filename" else "", name)
        if not (root / cached).exists():
            continue
        (clone / cached).parent.mkdir(exist_ok=True)
        copy = shutil.copytree if (root / cached).is_dir() else shutil.copy
        copy(root / cached, clone / cached)
        return
    house.skip("no sources of Highway here: python3 packaging/highway.py")


def cloned(root: Path, folder: Path) -> Path:
    """The commit, with Highway's sources; so that nothing is written beside those of the root."""
    if not house.tracked(root):
        house.skip("the sources are not a checkout of git")
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", str(root), str(clone)], check=True)
    add_highway(root, clone)
    return clone


def sdist(root: Path, folder: Path) -> Path:
    made = folder / "sdist"
    made.mkdir()
    command = [sys.executable, "-c", BACKEND, str(made)]
    subprocess.run(command, check=True, cwd=cloned(root, folder))
    return next(made.glob("strew-*.tar.gz"))
