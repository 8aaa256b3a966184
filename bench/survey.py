#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares strew with its peers on random calls: operators, dtypes, reductions, shapes, indices.

A third of the calls with indices use plans: they scatter, gather, or do both. A call is determined
by seed and number, so that --replay can repeat it alone. Results are checked first: strew's bit by
bit, those of peers within rounding. Then all take turns within one run on the same operands, and
only ratios are meaningful. --classes first runs a fixed list of calls that once were slow.

Prints the geometric mean of the best peer's time over strew's, the share of calls in which strew is
slower, the worst calls and how strew runs them, and tables by kind; with --output they are written,
with all figures and a picture of the fixed list. Exits with 1 if a result of strew is wrong.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from harness import machine
from harness.contestants import STREW
from harness.library import Library, locate
from harness.peers import NAMES, System, load
from harness.survey.case import Case
from harness.survey.classes import classes
from harness.survey.draw import draw
from harness.survey.explain import explain
from harness.survey.report import Report, details
from harness.survey.trial import BASE, Outcome, hold


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", type=Path, help="libstrew.so, or the build directory")
    parser.add_argument(
        "--command", type=Path, metavar="PATH", help="strew (default: beside the library, in cli)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of the calls (default: 1)"
    )
    parser.add_argument(
        "--cases", type=int, default=200, metavar="N", help="random calls to draw (default: 200)"
    )
    parser.add_argument(
        "--classes", action="store_true", help="run the calls that once were slow, first"
    )
    parser.add_argument(
        "--replay", type=int, metavar="N", help="only case N of the seed, with every figure"
    )
    parser.add_argument(
        "--filter", default="", metavar="REGEX", help="only calls in whose words this is found"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        metavar="N",
        help="each call runs on 1 to N threads (default: 1)",
    )
    parser.add_argument(
        "--least-us",
        type=float,
        default=20,
        metavar="T",
        help="calls that take both strew and the best peer less are not judged (default: 20)",
    )
    parser.add_argument(
        "--worst", type=int, default=20, metavar="N", help="calls to list (default: 20)"
    )
    parser.add_argument(
        "--peers", nargs="*", choices=NAMES, default=NAMES, help="which of them (default: all)"
    )
    parser.add_argument(
        "--base", type=Path, metavar="PATH", help="another libstrew.so or build, timed beside it"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="for all figures")
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="for table.md, raw.csv and picture.svg"
    )
    return parser.parse_args()


def chosen(arguments: argparse.Namespace) -> list[Case]:
    if arguments.replay is not None:
        return [draw(arguments.seed, arguments.replay, arguments.threads)]
    cases = list(classes(arguments.threads)) if arguments.classes else []
    cases += [draw(arguments.seed, number, arguments.threads) for number in range(arguments.cases)]
    return [case for case in cases if re.search(arguments.filter, f"{case.name}: {case}")]


def survey(
    cases: Sequence[Case],
    libraries: Mapping[str, Library],
    peers: Mapping[int, Sequence[System]],
) -> Iterator[Outcome]:
    with tqdm(total=len(cases), unit="call", miniters=0, disable=None) as progress:
        for case in cases:
            progress.set_description(case.name)
            outcome = hold(case, libraries, peers[case.threads], lambda: progress.update(0))
            progress.update()
            gc.collect()  # the operands of this case, before those of the next
            yield outcome


def main() -> int:
    arguments = parse_arguments()
    path = locate(arguments.library)
    command = arguments.command or path.parent / "cli" / "strew"
    library = Library(path)
    try:
        library.set_num_threads(arguments.threads)
    except RuntimeError as error:
        print(f"{arguments.threads} threads: {error}", file=sys.stderr)
        return 2
    libraries = {STREW: library}
    if arguments.base:
        libraries[BASE] = Library(locate(arguments.base))
    cases = chosen(arguments)
    if not cases:
        print(f"no call matches {arguments.filter!r}", file=sys.stderr)
        return 2
    counts = sorted({case.threads for case in cases})
    peers = {threads: load(arguments.peers, threads) for threads in counts}
    outcomes = list(survey(cases, libraries, peers))
    if arguments.replay is not None:
        return replayed(outcomes[0], command)
    versions = ", ".join(f"{peer.name} {peer.version}" for peer in peers[counts[0]])
    header = [
        f"{machine.describe(library)}, {datetime.date.today()}; {versions}",
        f"Seed {arguments.seed}, {len(cases)} calls on 1 to {arguments.threads} threads",
    ]
    report = Report(outcomes, header, arguments.least_us * 1e-6, arguments.worst)
    for outcome in report.to_explain:
        outcome.explained = explain(outcome.case, command)
    print(report.text())
    if arguments.csv:
        with arguments.csv.open("w", newline="") as file:
            report.write_csv(file)
    if arguments.output:
        write(report, header[0], arguments.output)
    return 1 if any(outcome.wrong for outcome in outcomes) else 0


def write(report: Report, title: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.md").write_text(report.text())
    with (folder / "raw.csv").open("w", newline="") as file:
        report.write_csv(file)
    from harness.survey import picture  # what is only printed needs no matplotlib

    picture.draw(report.classes, title, folder / "picture.svg")


def replayed(outcome: Outcome, command: Path) -> int:
    outcome.explained = explain(outcome.case, command)
    print("\n".join(details(outcome, every=True)))
    print("\n".join(f"  - {remark}" for remark in outcome.remarks))
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
