# SPDX-License-Identifier: Apache-2.0
"""Prints what a run of `meson test` came to: a table of suites, what was skipped and why, what failed.

usage: summary.py <build>/meson-logs/testlog.json
"""

from __future__ import annotations

import collections
import dataclasses
import json
import sys
from pathlib import Path

PASSED = {"OK", "EXPECTEDFAIL"}
# Suites that say when a test runs, not what it is about.
WHEN = {"quick", "slow"}
# Lines of the output of a test that failed.
TAIL = 15


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0


def suite_of(test: dict) -> str:
    """The name that stands first, without the project's."""
    names = [suite.partition(":")[2] or suite for suite in test["name"].partition(" / ")[0].split("+")]
    return next((name for name in names if name not in WHEN), "other")


def outcome_of(test: dict) -> str:
    if test["result"] in PASSED:
        return "passed"
    return "skipped" if test["result"] == "SKIP" else "failed"


def name_of(test: dict) -> str:
    return test["name"].rpartition(" / ")[2]


def reason_of(test: dict) -> str:
    """The reason that a skipped test gives, after the line that announces it."""
    lines = [line.strip() for line in test.get("stdout", "").splitlines() if line.strip()]
    if lines and lines[0].startswith("skipped with"):
        lines = lines[1:]
    return "; ".join(lines) or "it does not say why"


def table_of(tests: list[dict]) -> list[str]:
    suites: dict[str, Counts] = collections.defaultdict(Counts)
    for test in tests:
        counts = suites[suite_of(test)]
        outcome = outcome_of(test)
        setattr(counts, outcome, getattr(counts, outcome) + 1)
        counts.seconds += test["duration"]
    lines = [f"{'suite':14}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}"]
    for suite, counts in sorted(suites.items()):
        lines.append(
            f"{suite:14}{counts.passed:8}{counts.failed:8}{counts.skipped:9}{counts.seconds:9.0f}"
        )
    return lines


def skipped_of(tests: list[dict]) -> list[str]:
    names: dict[str, list[str]] = collections.defaultdict(list)
    for test in tests:
        if outcome_of(test) == "skipped":
            names[reason_of(test)].append(name_of(test))
    return [f"skipped: {', '.join(tests)}: {reason}" for reason, tests in names.items()]


def failed_of(tests: list[dict]) -> list[str]:
    lines = []
    for test in tests:
        if outcome_of(test) == "failed":
            said = (test.get("stdout", "") + test.get("stderr", "")).splitlines()
            lines += [f"failed: {name_of(test)} ({test['result']})", *said[-TAIL:]]
    return lines


def main(log: Path) -> None:
    tests = [json.loads(line) for line in log.read_text().splitlines()]
    counts = collections.Counter(map(outcome_of, tests))
    print("", *table_of(tests), "", sep="\n")
    for lines in (skipped_of(tests), failed_of(tests)):
        if lines:
            print(*lines, "", sep="\n")
    print(", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
