# SPDX-License-Identifier: Apache-2.0
"""Small changes to the code that validates: each is built alone and tested.

A mutant is killed where a test fails, crashes or does not end.

usage: run.py <source root> <build folder> <shared library> <mutants> [seed [file below src/]...]
"""

import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import house
from builder import Builder
from mutants import Mutant, mutants_of

# Files that judge calls: handles, dtypes, shapes, axes, memory, index values, duplicates.
VALIDATION = (
    "api/context.cc api/dlpack.cc api/tensor.cc base/checked.h base/index_value.h base/reduction.h"
    " base/tensor_view.h op/scatter_elements.cc op/scatter_nd.cc op/scatter_update.cc"
    " op/slice_scatter.cc op/tensor_scatter.cc plan/check.cc plan/slice.h share/cache_write.cc"
    " share/index_check.cc walk/index_reader.h accumulate/duplicates.cc"
).split()
# The parts of those files that do the work: from here on, and up to there if it is not the end.
WORK = {
    "op/scatter_nd.cc": ("void Lower(", None),
    "op/slice_scatter.cc": ("TensorView Broadcast(", "Status CheckArray("),
    "plan/slice.h": ("int64_t StepsBefore(", "// The elements of `axis"),
    "share/cache_write.cc": ("int OuterDim(", None),
    "accumulate/duplicates.cc": ("  int64_t count = 1;", "};"),
}
# The tests that find most in the shortest time stand first.
TESTS = (
    "test_message test_precedence test_tensor test_dlpack test_context"
    " test_memory test_overlap test_special_cases test_policies test_names test_terms"
    " hostile/test_hostile_calls hostile/test_guard_pages museum/test_museum_memory"
    " test_scatter_update test_tensor_scatter test_duplicates test_exclude_self test_oracle"
    " museum/test_museum_operators test_calls test_wide test_many_indices test_extreme_arguments"
    " test_order test_examples test_whole_outputs museum/test_museum_classes test_failures"
    " test_distinct test_chosen_indices test_random test_boxes test_mean test_single_branches"
    " test_parallel_index"
).split()
RANDOM_CASES = "20"  # of each operator and dtype
LONGEST_TEST = 300  # seconds, on a busy machine
MOST_SURVIVE = 0.1


class Judge:
    def __init__(self, root: Path, builder: Builder) -> None:
        self.root = root
        self.builder = builder

    def failing_test(self, library: Path, folder: Path) -> str | None:
        environment = {
            **os.environ,
            "LD_PRELOAD": str(library),
            "STREW_CASES": RANDOM_CASES,
            "GTEST_FAIL_FAST": "1",
            # Memory that was never written is no zeros.
            "MALLOC_PERTURB_": "165",
        }
        for test in TESTS:
            program = self.builder.build / "test" / test
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
            try:
                done = subprocess.run([program], env=environment, timeout=LONGEST_TEST, **quiet)
            except subprocess.TimeoutExpired:
                return test
            if done.returncode != 0:
                return test
        return None

    def verdict(self, file: str, text: str) -> str | None:
        """Which test fails with this text in the file, "" if it does not compile, None if none."""
        with tempfile.TemporaryDirectory() as folder:
            source = (self.root / "src" / file).resolve()
            library = self.builder.make(source, Path(file), text, Path(folder))
            return "" if library is None else self.failing_test(library, Path(folder))


def work_in(file: str, text: str) -> range:
    if file not in WORK:
        return range(0)
    begin, end = WORK[file]
    first = text.index(begin)
    return range(first, text.index(end, first) if end else len(text))


def chosen(sources: dict[str, str], count: int, seed: int) -> list[Mutant]:
    """As many of all mutants as are wanted, in an order that depends on the seed alone."""
    found = []
    for file, text in sorted(sources.items()):
        work = work_in(file, text)
        found += [mutant for mutant in mutants_of(file, text) if mutant.begin not in work]
    random.Random(seed).shuffle(found)
    return found if count == 0 else found[:count]


def judge_all(judge: Judge, sources: dict[str, str], mutants: list[Mutant]) -> list[str]:
    """The mutants that survive."""
    survivors = []
    tried = 0

    def one(mutant: Mutant) -> str | None:
        return judge.verdict(mutant.file, mutant.apply(sources[mutant.file]))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, verdict in zip(mutants, pool.map(one, mutants)):
            told = mutant.describe(sources[mutant.file])
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
    judge = Judge(source_root, Builder(Path(build).resolve(), Path(library).resolve()))
    sources = {file: (source_root / "src" / file).read_text() for file in files or VALIDATION}
    first = min(sources)
    if judge.verdict(first, sources[first]) is not None:
        house.finish(["tests fail with nothing changed: they would kill every mutant"])
    survivors = judge_all(judge, sources, chosen(sources, int(count), int(seed)))
    sys.exit(1 if survivors else 0)


main(*sys.argv[1:])
