# SPDX-License-Identifier: Apache-2.0
"""Small changes to the code that validates: each is built alone and tested.

A mutant is killed where a test fails, crashes or does not end. Those of equivalent.txt change no
result: they are counted apart and not built.

usage: run.py <source root> <build folder> <shared library> <mutants> [seed [file below src/]...]
"""

import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import house
from builder import Builder, Made
from judged import Judged
from mutants import Mutant
from programs import every_program, tests_of

RANDOM_CASES = "20"  # of each operator and dtype
HOSTILE_CALLS = "5000"
# Limits of one test. Of the CPU it has so many times what it takes with nothing changed, and some
# more: a loop without end is found soon even on a busy machine. With a changed header nearly all of
# the library is compiled without optimization, so that a test takes 3 times as long.
LONGEST_TEST = 300  # seconds
TIMES_ITS_CPU = 10
LEAST_CPU = 10  # seconds
MOST_SURVIVE = 0.1


def environment_of(test: str, library: Path) -> dict[str, str]:
    is_hostile = test.startswith("hostile/")
    amount = {"STREW_CALLS": HOSTILE_CALLS} if is_hostile else {"STREW_CASES": RANDOM_CASES}
    return {
        **os.environ,
        **amount,
        "LD_PRELOAD": str(library),
        "GTEST_FAIL_FAST": "1",
        # Memory that was never written is no zeros.
        "MALLOC_PERTURB_": "165",
    }


class Judge:
    def __init__(self, root: Path, builder: Builder) -> None:
        self.root = root
        self.builder = builder
        self.cpu: dict[str, float] = {}  # seconds that a test takes with nothing changed

    def run(self, test: str, program: Path, made: Made) -> bool:
        """True if the test passes."""
        seconds = LONGEST_TEST
        if test in self.cpu:
            seconds = LEAST_CPU + math.ceil(TIMES_ITS_CPU * self.cpu[test])
        command = ["sh", "-c", f'ulimit -t {seconds} && exec "$0"', str(program)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": made.folder}
        environment = environment_of(test, made.library)
        try:
            done = subprocess.run(command, env=environment, timeout=LONGEST_TEST, **quiet)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def failing_test(self, file: str, made: Made) -> str | None:
        for test in tests_of(file):
            if not self.run(test, self.builder.program(test, made), made):
                return test
        return None

    def make(self, file: str, text: str, folder: str) -> Made | None:
        source = (self.root / "src" / file).resolve()
        return self.builder.make(source, Path(file), text, Path(folder))

    def verdict(self, file: str, text: str) -> str | None:
        """Which test fails with this text in the file, "" if it does not compile, None if none."""
        with tempfile.TemporaryDirectory() as folder:
            made = self.make(file, text, folder)
            return "" if made is None else self.failing_test(file, made)

    def failing_unchanged(self, file: str, text: str) -> Iterator[str]:
        """Tests that fail with nothing changed. Notes how long each test takes."""
        with tempfile.TemporaryDirectory() as folder:
            made = self.make(file, text, folder)
            if made is None:
                yield f"{file} does not compile"
                return
            for test in every_program():
                program = self.builder.program(test, made)
                before = cpu_of_children()
                if not self.run(test, program, made):
                    yield f"{test} fails with nothing changed: it would kill every mutant"
                self.cpu[test] = cpu_of_children() - before


def cpu_of_children() -> float:
    """Seconds of all that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpus() -> int:
    """The CPUs that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def judge_all(judge: Judge, judged: Judged, mutants: list[Mutant]) -> list[str]:
    """The mutants that survive."""
    survivors = []
    tried = 0

    def one(mutant: Mutant) -> str | None:
        return judge.verdict(mutant.file, mutant.apply(judged.sources[mutant.file]))

    with ThreadPoolExecutor(cpus()) as pool:
        for mutant, verdict in zip(mutants, pool.map(one, mutants)):
            told = judged.describe(mutant)
            outcome = "survived" if verdict is None else verdict and f"killed by {verdict}"
            print(f"{outcome or 'does not compile'}: {told}", flush=True)
            tried += verdict != ""
            if verdict is None:
                survivors.append(told)
    print(*("", "survivors:", *survivors) if survivors else "", sep="\n")
    share = 1 - len(survivors) / max(tried, 1)
    print(f"mutation: {tried - len(survivors)} of {tried} mutants killed, {100 * share:.1f} %")
    return survivors if len(survivors) > MOST_SURVIVE * tried else []


def main(root: str, build: str, library: str, count: str, seed: str = "1", *files: str) -> None:
    source_root = Path(root).resolve()
    judged = Judged(source_root, files)
    if judged.problems:
        house.finish(judged.problems)
    builder = Builder(Path(build).resolve(), Path(library).resolve(), every_program())
    judge = Judge(source_root, builder)
    first = min(judged.sources)
    failing = list(judge.failing_unchanged(first, judged.sources[first]))
    if failing:
        house.finish(failing)
    chosen = judged.chosen(int(count), int(seed))
    tried = [mutant for mutant in chosen if not judged.is_equivalent(mutant)]
    print(f"{len(chosen)} mutants, of which {len(chosen) - len(tried)} are known to be equivalent")
    survivors = judge_all(judge, judged, tried)
    sys.exit(1 if survivors else 0)


main(*sys.argv[1:])
