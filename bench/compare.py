#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares strew with ONNX Runtime, OpenVINO, PyTorch, JAX, NumPy and others, row by row.

Each system competes with its own operators for scatter, gather, sparse matrices and assignment to
slices or by index arrays; the fastest of them counts. If an operator needs arithmetic on the
indices or reversed updates, these are timed with it. A new output is made by a copy and the
operator in place, or by the operator out of place. Other operations do not compete: selection by a
mask, concatenation, copies of the pieces around a slice. Rows of plans do not include the time to
make the plan or a sparse matrix; making plans has rows of its own.

All take turns on the same buffers within one run, so only ratios within a row are meaningful. Tiny
rows are one call each: strew is called from C, by the program `rows`, before the others start, and
is not judged if that program is missing. Every result is checked before anything is timed. Prints a
table; with --output it is written, with the raw figures and a picture. Exits with 1 if a result of
strew or of a limit loop is wrong.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import itertools
import json
import math
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from harness import machine, picture, workloads
from harness.contest import Contest, Outcome, Settings
from harness.library import Library, locate
from harness.limit import LimitLoops
from harness.peers import NAMES, System, load
from harness.report import Report
from harness.workloads import Workload


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=Path, help="the build directory of strew")
    parser.add_argument(
        "--library", type=Path, metavar="PATH", help="libstrew.so (default: that of the build)"
    )
    parser.add_argument(
        "--limit",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="C++ sources of hand-written loops, to be compiled and timed as well",
    )
    parser.add_argument(
        "--rows",
        type=Path,
        metavar="PROGRAM",
        help="the program that times tiny calls from C (default: bench/rows of the build, if any)",
    )
    parser.add_argument(
        "--peers", nargs="*", choices=NAMES, default=NAMES, help="which of them (default: all)"
    )
    parser.add_argument(
        "--filter", default="", metavar="REGEX", help="only workloads in whose name this is found"
    )
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="for everyone (default: 1)"
    )
    parser.add_argument(
        "--seconds", type=float, default=3, help="to measure a workload for (default: 3)"
    )
    parser.add_argument(
        "--turns", type=int, default=9, metavar="N", help="of each at least (default: 9)"
    )
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="for table.md, raw.csv and picture.svg"
    )
    return parser.parse_args()


def compare(
    chosen: Sequence[Workload],
    library: Library,
    limit: LimitLoops | None,
    peers: Sequence[System],
    settings: Settings,
) -> list[Outcome]:
    outcomes = []
    with tqdm(total=len(chosen), unit="row", miniters=0, disable=None) as progress:
        for operands, group in itertools.groupby(chosen, Workload.operands):
            contest = Contest(operands, library, limit, peers, settings)
            for workload in group:
                progress.set_description(workload.name)
                outcomes.append(contest.hold(workload, on_turn=lambda: progress.update(0)))
                progress.update()
            del contest
            gc.collect()  # the buffers of these workloads, before those of the next
    return outcomes


def times_from_c(program: Path, chosen: Sequence[Workload], threads: int) -> dict[str, float]:
    """Seconds of strew's call from C, by the name of the tiny workload."""
    tiny = "|".join(re.escape(workload.name) for workload in chosen if workload.tiny)
    if not tiny:
        return {}
    finished = subprocess.run(
        [
            program,
            f"--threads={threads}",
            f"--benchmark_filter=^({tiny})/strew$",
            "--benchmark_repetitions=9",
            "--benchmark_format=json",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    best: dict[str, float] = {}
    for turn in json.loads(finished.stdout)["benchmarks"]:
        if turn["run_type"] == "iteration":
            name = turn["run_name"].removesuffix("/strew")
            best[name] = min(turn["real_time"] * 1e-9, best.get(name, math.inf))
    return best


def describe(library: Library, peers: Sequence[System], threads: int) -> list[str]:
    versions = ", ".join(f"{peer.name} {peer.version}" for peer in peers)
    return [
        machine.describe(library),
        f"{datetime.date.today()}, {threads} thread{'s' if threads > 1 else ''}",
        f"{versions or 'no peers'}, Python {platform.python_version()}",
    ]


def write(report: Report, title: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.md").write_text(report.markdown())
    with (folder / "raw.csv").open("w", newline="") as file:
        report.write_csv(file)
    picture.draw(report, title, folder / "picture.svg")


def main() -> int:
    arguments = parse_arguments()
    chosen = [w for w in workloads.load() if re.search(arguments.filter, w.name)]
    if not chosen:
        print(f"no workload matches {arguments.filter!r}", file=sys.stderr)
        return 2
    library = Library(arguments.library or locate(arguments.build))
    try:
        library.set_num_threads(arguments.threads)
    except RuntimeError as error:
        print(f"{arguments.threads} threads: {error}", file=sys.stderr)
        return 2
    limit = LimitLoops(arguments.limit) if arguments.limit else None
    peers = load(arguments.peers, arguments.threads)
    settings = Settings(arguments.threads, arguments.seconds, arguments.turns)

    rows = arguments.rows or arguments.build / "bench" / "rows"
    has_rows = arguments.rows or rows.exists()
    from_c = times_from_c(rows, chosen, arguments.threads) if has_rows else {}
    outcomes = compare(chosen, library, limit, peers, settings)
    for outcome in outcomes:
        outcome.from_c = from_c.get(outcome.workload.name)
    header = describe(library, peers, arguments.threads)
    report = Report(outcomes, [peer.name for peer in peers], header, arguments.threads)
    print(report.markdown())
    if arguments.output:
        write(report, "\n".join(header), arguments.output)
    return 1 if any(outcome.failed for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
