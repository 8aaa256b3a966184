# SPDX-License-Identifier: Apache-2.0
"""Ratios of strew's time to those of plain loops and memcpy, kept to see slower kernels by."""

from __future__ import annotations

import json
from pathlib import Path

from .machine import cpu_model

Ratios = dict[str, float]  # by contestant


def read(file: Path) -> dict[str, Ratios]:
    return json.loads(file.read_text())["ratios"]


def write(file: Path, ratios: dict[str, Ratios]) -> None:
    rounded = {
        name: {of: float(f"{ratio:.3g}") for of, ratio in row.items()}
        for name, row in sorted(ratios.items())
    }
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in rounded.items())
    cpu = json.dumps(cpu_model())
    file.write_text(f'{{\n  "cpu": {cpu},\n  "ratios": {{\n{lines}\n  }}\n}}\n')


def loss(before: dict[str, Ratios], name: str, now: Ratios) -> float:
    """The least factor by which a ratio has grown, 1 for a workload that is new. A contestant that
    happens to be fast in one run makes only its own ratio larger."""
    if name not in before:
        return 1.0
    return min(now[of] / ratio for of, ratio in before[name].items())


def other_cpu(file: Path) -> list[str]:
    """A line of warning if the baseline is of another CPU, whose ratios differ."""
    cpu = json.loads(file.read_text())["cpu"]
    return [] if cpu == cpu_model() else [f"The baseline was measured on another CPU: {cpu}"]
