# SPDX-License-Identifier: Apache-2.0
"""The site that the target doc makes, as a phone shows it.

usage: made.py <source root> [--manual <manual page>] [--package <folder>]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import browser
import house
import pages


def make(root: Path, site: Path, *parts: str) -> subprocess.CompletedProcess:
    tools = [house.require("doxygen"), house.require("mandoc")]
    script = Path(__file__).resolve().parents[2] / "doc" / "make.py"
    command = [sys.executable, "-B", str(script), str(root), str(site), *tools, *parts]
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def main(root: str, *parts: str) -> None:
    browser.program()
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder).resolve() / "html"
        made = make(Path(root), site, *parts)
        if made.returncode != 0 or made.stdout:
            house.finish([f"doc/make.py: exit {made.returncode}", made.stdout])
        header = Path(root, "include/strew/strew.h").read_text()
        with browser.Browser() as phone:
            house.finish(pages.problems(phone, site, header))


if __name__ == "__main__":
    main(*sys.argv[1:])
