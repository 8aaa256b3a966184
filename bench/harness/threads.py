# SPDX-License-Identifier: Apache-2.0
"""The command line of benchmarks that compare thread counts, and a sentence of their reports."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Wording:
    """The parts of the help that differ between benchmarks."""

    documentation: str | None
    threads: str
    filter: str
    measured: str
    strict: str
    output: str


def on(threads: int) -> str:
    return f"{threads} thread{'s' if threads > 1 else ''}"


def parse_arguments(
    wording: Wording, threads: Sequence[int], seconds: float, turns: int
) -> argparse.Namespace:
    """The arguments, with defaults for the thread counts, the seconds and the turns."""
    parser = argparse.ArgumentParser(
        description=wording.documentation, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", type=Path, help="libstrew.so, or the build directory")
    counts = " ".join(map(str, threads))
    parser.add_argument(
        "--threads",
        type=int,
        nargs="+",
        default=list(threads),
        metavar="N",
        help=f"the thread counts {wording.threads} (default: {counts})",
    )
    parser.add_argument(
        "--filter", default="", metavar="REGEX", help=f"only {wording.filter} this is found"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=seconds,
        help=f"to measure {wording.measured} for (default: {seconds})",
    )
    parser.add_argument(
        "--turns", type=int, default=turns, metavar="N", help=f"of each at least (default: {turns})"
    )
    parser.add_argument("--strict", action="store_true", help=f"end with 1 where {wording.strict}")
    parser.add_argument("--output", type=Path, metavar="DIR", help=f"for {wording.output}")
    return parser.parse_args()
