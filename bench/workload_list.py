#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the list of workloads as C++, for the program `rows`.

usage: workload_list.py <workloads.json> <output.cc>
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from harness.workloads import IndexPattern, Operator, Workload, load_calls

OPERATORS = {
    Operator.SCATTER_ELEMENTS: "Operator::kElements",
    Operator.SCATTER_ND: "Operator::kNd",
    Operator.SLICE_SCATTER: "Operator::kSlice",
}
PATTERNS = {
    IndexPattern.UNIFORM: "IndexPattern::kUniform",
    IndexPattern.UNIQUE_TUPLES: "IndexPattern::kUniqueTuples",
    IndexPattern.CONSTANT_ROWS: "IndexPattern::kConstantRows",
    IndexPattern.STRIDE_0_ROWS: "IndexPattern::kStride0Rows",
}
FILE = """\
// Made by workload_list.py from workloads.json.
#include "workloads.h"

namespace strew_bench {{

std::vector<Workload> Workloads() {{
  return {{
{entries}
  }};
}}

}}  // namespace strew_bench
"""


def braces(items: Iterable[object]) -> str:
    return "{" + ", ".join(map(str, items)) + "}"


def entry(workload: Workload) -> str:
    cut = workload.slice
    sliced = braces(map(braces, (cut.axes, cut.start, cut.stop, cut.step))) if cut else "{}"
    operands = braces(
        (
            OPERATORS[workload.operator],
            f"STREW_{workload.dtype.upper()}",
            braces(workload.data),
            braces(workload.indices),
            braces(workload.updates),
            workload.axis,
            PATTERNS[workload.pattern],
            sliced,
        )
    )
    reduction = f"STREW_{workload.reduction.upper()}"
    in_place = str(workload.in_place).lower()
    return "      " + braces((f'"{workload.name}"', operands, reduction, in_place)) + ","


def has_plain_loop(workload: Workload) -> bool:
    """The constant of the reduction; there is none for reductions with options."""
    return "|" not in workload.reduction


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    entries = map(entry, filter(has_plain_loop, load_calls(source)))
    target.write_text(FILE.format(entries="\n".join(entries)))


if __name__ == "__main__":
    main()
