#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the constants of strew's tuning table on this machine, for comparison with the table.

A threshold is measured by calls with sizes around it. The table forces either alternative; both
take turns on the same operands, and the size at which the second becomes faster is the threshold of
this machine. An amount, such as the bytes of a block, is measured by calls with several values. The
gain is that of the call in which the value in use and the measured one differ most; less than 1.03
counts as noise. The cost of single entries, in ns, has no gain: estimates are based on it. On a
busy machine, figures of two threads mean little.

The figures after a threshold are the time of the alternative above it over that of the one below
it, by size; those after an amount are times relative to that of the value in use.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from harness import machine
from harness.tune import fields
from harness.tune.every import NOT_MEASURED, families
from harness.tune.kinds import Bench, Family, Finding
from harness.tune.library import Tunable, locate
from harness.tune.report import Report

ONE_THREAD = "needs two threads, and as many CPUs"
MOST_BUSY = 0.3  # CPUs that other processes may take in the minute before


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", type=Path, help="libtunable.so, or the build directory")
    parser.add_argument(
        "--filter", default="", metavar="REGEX", help="only constants in whose name this is found"
    )
    parser.add_argument(
        "--seconds", type=float, default=0.2, help="to measure a call for (default: 0.2)"
    )
    parser.add_argument(
        "--threads",
        type=int,
        choices=(1, 2),
        default=2,
        help="1 leaves out what needs two (default: 2)",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="for the report as well")
    return parser.parse_args()


def measure(library: Tunable, chosen: Sequence[Family], seconds: float) -> dict[str, Finding]:
    findings = {}
    with tqdm(total=len(chosen), unit="constant", miniters=0, disable=None) as progress:
        bench = Bench(library, seconds, lambda: progress.update(0))
        for family in chosen:
            progress.set_description(family.name)
            findings[family.name] = family.measure(bench)
            progress.update()
    return findings


def most_threads(library: Tunable) -> int:
    """The number of threads to measure with; 1 if the library has no threads of its own."""
    try:
        library.set_num_threads(2)
    except RuntimeError:
        return 1
    return 2


def main() -> int:
    arguments = parse_arguments()
    library = Tunable(locate(arguments.library))
    chosen = [family for family in families() if re.search(arguments.filter, family.name)]
    reasons = {name: why for name, why in NOT_MEASURED.items() if re.search(arguments.filter, name)}
    if not chosen and not reasons:
        print(f"no constant matches {arguments.filter!r}", file=sys.stderr)
        return 2
    threads = min(arguments.threads, machine.usable_cpus(), most_threads(library))
    reasons |= {family.name: ONE_THREAD for family in chosen if family.threads > threads}
    busy = os.getloadavg()[0]
    findings = measure(
        library, [family for family in chosen if family.threads <= threads], arguments.seconds
    )
    caches = [f"{machine.binary_size(cache.bytes)} of {cache.name}" for cache in machine.caches()]
    header = [
        f"{machine.describe(library)}, {datetime.date.today()}",
        f"Caches here: {', '.join(caches)}",
        f"The values in use were measured on an {fields.noted_cpu()}",
    ]
    if busy > MOST_BUSY:
        header.append(f"Other processes took {busy:.1f} CPUs: figures of two threads mean little")
    report = Report(findings, reasons, library.in_use, header)
    print(report.text())
    if arguments.output:
        arguments.output.write_text(report.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
