# SPDX-License-Identifier: Apache-2.0
"""How strew runs a case, according to --explain of the command."""

from __future__ import annotations

import math
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from ..reduction import Reduction
from ..workloads import Operator, Use
from .case import Case, Layouts
from .operands import Operands

MOST_BYTES = 1 << 29  # of all files
PATIENCE = 120  # seconds


def explain(case: Case, command: Path) -> list[str]:
    """The sentences of the command, for the same call with contiguous operands and a new output;
    none for gathers, which it does not have.

    The command treats bfloat16 as opaque bytes, so float16 is used in its place.
    """
    if case.use not in (Use.CALL, Use.SCATTER):
        return []
    if not command.exists():
        return [f"no command {command} to explain it"]
    sizes = (math.prod(case.data) * 2, math.prod(case.updates), math.prod(case.indices))
    if sum(sizes) * np.dtype(case.dtype).itemsize > MOST_BYTES:
        return ["too large to explain"]
    with tempfile.TemporaryDirectory() as folder:
        return _run(case, command, Path(folder))


def _run(case: Case, command: Path, folder: Path) -> list[str]:
    operands = Operands(case)
    arrays = {"data": operands.data, "indices": operands.indices, "updates": operands.updates}
    files = []
    for name, array in arrays.items():
        if array is not None:
            array = array.view(np.float16) if array.dtype.name == "bfloat16" else array
            np.save(folder / name, np.ascontiguousarray(array))
            files.append(folder / f"{name}.npy")
    options = [*_options(case), "--threads", str(case.threads), "-o", folder / "out.npy"]
    operator = case.operator.value.replace("_", "-")
    try:
        done = subprocess.run(
            [command, operator, *files, *options, "--explain"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return [f"not explained within {PATIENCE} s"]
    remark = [] if case.layouts == Layouts() else ["as if all operands were contiguous:"]
    return remark + [line.removeprefix("strew: ") for line in done.stderr.splitlines()]


def _options(case: Case) -> list[str]:
    how = Reduction.of(case.reduction)
    chosen = {"--exclude-self": how.without_old, "--wide": how.wide}
    options = ["--reduction", how.name, *(word for word, taken in chosen.items() if taken)]
    options += ["--plan"] if case.use is Use.SCATTER else []
    if case.operator is Operator.SLICE_SCATTER:
        cut = case.slice
        named = {"start": cut.start, "stop": cut.stop, "step": cut.step, "axes": cut.axes}
        return options + [f"--{name}={','.join(map(str, n))}" for name, n in named.items()]
    if case.operator is Operator.SCATTER_ND:
        return options
    return [*options, "--axis", str(case.axis)]
