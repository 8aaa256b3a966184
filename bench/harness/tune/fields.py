# SPDX-License-Identifier: Apache-2.0
"""The constants of the tuning table and of the walks, read from strew's sources."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).parents[3] / "src"
TUNING = SOURCE / "plan" / "tuning.h"
TABLES = {
    "Tuning": TUNING,
    "PlanTuning": SOURCE / "plan" / "plan_tuning.h",
    "MeanTuning": SOURCE / "plan" / "mean_tuning.h",
    "PrefetchTuning": SOURCE / "plan" / "prefetch_tuning.h",
    "SliceTuning": SOURCE / "plan" / "slice_tuning.h",
}
WALKS = SOURCE / "kernel" / "walks.cc"

_COMMENT = re.compile(r"//[^\n]*")
_DECLARATION = re.compile(r"(?:int64_t|double)\s+(\w+\s*=[^;]+);")
_NAME = re.compile(r"(\w+)\s*=")


def names(text: str, struct: str) -> list[str]:
    """The fields of a struct of numbers that all have defaults, in their order."""
    body = re.search(rf"struct {struct}[^;{{]* \{{(.*?)^\}};", text, re.DOTALL | re.MULTILINE)
    if body is None:
        raise ValueError(f"there is no struct {struct}")
    declarations = _DECLARATION.findall(_COMMENT.sub("", body[1]))
    return [name for declared in declarations for name in _NAME.findall(declared)]


def tuning() -> list[str]:
    return [name for struct, path in TABLES.items() for name in names(path.read_text(), struct)]


def walks() -> list[str]:
    """Their names begin with "walks."."""
    return [f"walks.{name}" for name in names(WALKS.read_text(), "Walks")]


def noted_cpu() -> str:
    """The CPU of the table's figures, read from its first comment."""
    text = " ".join(line.removeprefix("//").strip() for line in TUNING.read_text().splitlines())
    found = re.search(r"thread of an? ([^.]*? of L3)\b", text)
    if found is None:
        raise ValueError(f"{TUNING} does not tell what CPU it was measured on")
    return found[1]
