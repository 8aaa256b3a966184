# SPDX-License-Identifier: Apache-2.0
"""Runs a file of tests with pytest, or says why it cannot and exits with Meson's code for that.

The library is the one that the environment variable STREW_LIBRARY names.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def lack(package: str) -> str | None:
    """Packages that requirements.txt asks for and this Python does not have.

    A line behind "# " is about a package that nobody has to install.
    """
    listed = (HERE / "requirements.txt").read_text()
    lowest = re.search(rf"^(?:# )?{package}>=([\d.]+)", listed, re.M)
    assert lowest is not None, f"requirements.txt does not list {package}"
    try:
        found = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return f"{package} is not installed"
    if _numbers(found) < _numbers(lowest[1]):
        return f"{package} {found} is older than {lowest[1]}"
    return None


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skip", metavar="REASON", help="run nothing, for this reason")
    parser.add_argument("--needs", default="", help="the packages that the file imports: a,b,c")
    parser.add_argument("file")
    parser.add_argument("options", nargs=argparse.REMAINDER, help="options of pytest")
    arguments = parser.parse_args()

    lacks = [lack(package) for package in ["pytest", *filter(None, arguments.needs.split(","))]]
    reasons = list(filter(None, [arguments.skip, *lacks]))
    if reasons:
        print(f"skipped with {sys.executable}:", *reasons, sep="\n  ")
        return SKIPPED

    # Neither Python nor pytest nor hypothesis may write beside the sources.
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as directory:
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", directory)
        import pytest

        quiet = ["-p", "no:cacheprovider", "-q", "-ra", f"--rootdir={HERE}"]
        return pytest.main([*quiet, arguments.file, *arguments.options])


if __name__ == "__main__":
    sys.exit(main())
