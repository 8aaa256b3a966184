# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests that build strew once more, with another compiler."""

import configparser
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SKIPPED = 77  # Meson's exit code of a test that did not run
NO_HIGHWAY = "no sources of Highway; python3 packaging/highway.py gets them from Debian"


def highway_wrap() -> configparser.SectionProxy:
    wrap = configparser.ConfigParser()
    wrap.read(ROOT / "subprojects" / "highway.wrap")
    return wrap["wrap-file"]


def has_highway_sources() -> bool:
    """True if they are where Meson looks before it downloads them."""
    wrap = highway_wrap()
    places = (wrap["directory"], f"packagecache/{wrap['source_filename']}")
    return any((ROOT / "subprojects" / place).exists() for place in places)


def quietly(command: list[str], **environment: str) -> str:
    """Runs it, and shows what it says only where it fails."""
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{' '.join(command)}: exit {done.returncode}")
    return done.stdout
