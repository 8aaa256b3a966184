# SPDX-License-Identifier: Apache-2.0
"""The code that validates: its files, the parts of them that it is not, and its mutants."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mutants import Mutant, mutants_of

# Files that judge calls: handles, dtypes, shapes, axes, memory, index values, duplicates.
VALIDATION = (
    "api/context.cc api/dlpack.cc api/tensor.cc base/checked.h base/index_value.h base/reduction.h"
    " base/tensor_view.h op/scatter_elements.cc op/scatter_nd.cc op/scatter_update.cc"
    " op/slice_scatter.cc op/tensor_scatter.cc plan/check.cc plan/slice.h prepared/create.cc"
    " prepared/gather.cc prepared/gather_scatter.cc prepared/operands.cc prepared/prepare.cc"
    " prepared/scatter.cc share/cache_write.cc share/index_check.cc walk/index_reader.h"
    " accumulate/duplicates.cc"
).split()
# The parts of those files that do the work: from here on, and up to there if it is not the end.
WORK = {
    "op/scatter_nd.cc": [("void Lower(", None)],
    "op/slice_scatter.cc": [("TensorView Broadcast(", "Status CheckArray(")],
    "plan/slice.h": [("int64_t StepsBefore(", "// The elements of `axis")],
    "prepared/gather.cc": [
        ("class Gatherer {", "Status GatherByPlan("),
        ("  const GatherLoops loops(plan", "}  // namespace"),
    ],
    "prepared/gather_scatter.cc": [
        ("// Stride of the weights", "Status GatherScatter("),
        ("  const int64_t units", "const Plan* PlanOf("),
    ],
    "prepared/operands.cc": [("// ---- Offsets ----", None)],
    "prepared/prepare.cc": [("class PlaceReader", "Status Prepare(")],
    "prepared/scatter.cc": [
        ("// Locates the updates", "Status ScatterByPlan("),
        ("  const PlanSchedule schedule", "}  // namespace"),
    ],
    "share/cache_write.cc": [("int OuterDim(", None)],
    "accumulate/duplicates.cc": [("  int64_t count = 1;", "};")],
}

EQUIVALENT = "test/mutation/equivalent.txt"


@dataclass(frozen=True)
class Part:
    """A part of a text: from `begin` on, and up to `end` if it is not the end."""

    begin: str
    end: str | None

    def range_in(self, text: str, after: int) -> range | None:
        first = text.find(self.begin, after)
        last = text.find(self.end, first) if self.end else len(text)
        return None if first < 0 or last < 0 else range(first, last)


@dataclass(frozen=True)
class Equivalent:
    """A mutant that changes no result, as Mutant.describe() has it but for the line's number."""

    line: int  # of the list
    mutant: str
    count: int  # so many mutants read alike
    reason: str


def work_in(file: str, text: str) -> tuple[list[range], list[str]]:
    """The parts that do the work, and what is wrong with their names."""
    found: list[range] = []
    problems = []
    for begin, end in WORK.get(file, []):
        part = Part(begin, end).range_in(text, found[-1].stop if found else 0)
        if part is None:
            problems.append(f"{file} has no part from '{begin}' to '{end or 'the end'}'")
        else:
            found.append(part)
    return found, problems


class Judged:
    """The mutants of files, and which of them are known to change no result."""

    def __init__(self, root: Path, files: Iterable[str] = ()) -> None:
        chosen = list(files) or VALIDATION
        self.sources = {file: (root / "src" / file).read_text() for file in sorted(chosen)}
        self.problems = [f"{file} is not judged" for file in WORK if file not in VALIDATION]
        self.mutants: list[Mutant] = []
        for file, text in self.sources.items():
            self._add(file, text)
        listed = list(equivalents_of((root / EQUIVALENT).read_text()))
        self.equivalent = {entry.mutant: entry for entry in listed}
        self.problems += self._faults_of(listed)

    def _add(self, file: str, text: str) -> None:
        work, problems = work_in(file, text)
        self.problems += problems
        found = [m for m in mutants_of(file, text) if not any(m.begin in part for part in work)]
        if not found:
            self.problems.append(f"{file} has nothing to change: the run would check nothing")
        self.mutants += found

    def _faults_of(self, listed: list[Equivalent]) -> Iterator[str]:
        there = Counter(self.name_of(mutant) for mutant in self.mutants)
        times = Counter(entry.mutant for entry in listed)
        for entry in listed:
            place = f"{EQUIVALENT}:{entry.line}"
            if not entry.reason:
                yield f"{place}: no reason"
            if times[entry.mutant] > 1:
                yield f"{place}: listed {times[entry.mutant]} times"
            is_read = entry.mutant.split(": ")[0] in self.sources
            if is_read and there[entry.mutant] != entry.count:
                yield f"{place}: {there[entry.mutant]} mutants, not {entry.count}: {entry.mutant}"

    def describe(self, mutant: Mutant) -> str:
        return mutant.describe(self.sources[mutant.file])

    def name_of(self, mutant: Mutant) -> str:
        """The description without the line's number, which changes with all that stands above."""
        file, _, rest = self.describe(mutant).split(":", 2)
        return f"{file}:{rest}"

    def is_equivalent(self, mutant: Mutant) -> bool:
        return self.name_of(mutant) in self.equivalent

    def chosen(self, count: int, seed: int) -> list[Mutant]:
        """As many of all mutants as are wanted. Changes of the code hardly change the choice, so
        that runs before and after one can be compared."""

        def rank(mutant: Mutant) -> bytes:
            return hashlib.sha256(f"{seed} {self.name_of(mutant)}".encode()).digest()

        found = sorted(self.mutants, key=rank)
        return found if count == 0 else found[:count]


def equivalents_of(text: str) -> Iterator[Equivalent]:
    """Each begins a line with its mutant, after "2 x " if two read alike; its reason is indented."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if not line.strip() or line[0] in "# ":
            continue
        count, _, mutant = line.partition(" x ")
        several = count.isdigit()
        reason = []
        for following in lines[at + 1 :]:
            if not following.startswith(" "):
                break
            reason.append(following.strip())
        yield Equivalent(
            at + 1,
            mutant if several else line.rstrip(),
            int(count) if several else 1,
            " ".join(reason),
        )
