# SPDX-License-Identifier: Apache-2.0
"""Recorded ratios of strew's time to plain loops and memcpy, to detect kernels that got slower."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from .machine import cpu_model

Ratios = dict[str, float]  # by contestant


@dataclasses.dataclass
class Baseline:
    cpu: str
    ratios: dict[str, Ratios]  # by workload

    @classmethod
    def read(cls, file: Path) -> Baseline:
        return cls(**json.loads(file.read_text()))

    def write(self, file: Path) -> None:
        rounded = {
            name: {of: float(f"{ratio:.3g}") for of, ratio in ratios.items()}
            for name, ratios in sorted(self.ratios.items())
        }
        lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in rounded.items())
        cpu = json.dumps(self.cpu)
        file.write_text(f'{{\n  "cpu": {cpu},\n  "ratios": {{\n{lines}\n  }}\n}}\n')

    def loss(self, name: str, now: Ratios) -> float:
        """The least factor by which a ratio has grown. The least, because a contestant that happens
        to be fast in one run increases only its own ratio."""
        return min(now[of] / ratio for of, ratio in self.ratios[name].items())

    def warnings(self) -> list[str]:
        """Warns of a baseline of another CPU, which has other ratios."""
        if self.cpu == cpu_model():
            return []
        return [f"The baseline was measured on another CPU: {self.cpu}"]
