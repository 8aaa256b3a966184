# SPDX-License-Identifier: Apache-2.0
"""The types that the package tells: mypy accepts good calls, and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(os.environ["PYTHONPATH"])

GOOD = """
import numpy as np
import strew

data = np.arange(8, dtype=np.float32)
same = strew.scatter_nd(data, [[4], [-1]], data[:2].copy(), reduction="add", out=data)
reveal_type(same)
new = strew.scatter_nd(data, np.array([[4]]), data[:1], exclude_self=True, wide=True)
reveal_type(new)
context = strew.Context(index_policy="drop", num_threads=1)
context.duplicate_policy = "error"
strew.slice_scatter(data, data[:2], 0, [2], np.array([1]), (0,), context=context)
strew.tensor_scatter(data[None], data[None, :1], None, 1, mode="circular")
applied: int = context.applied
plan = strew.plan_scatter_update([4, -1], 8, context=context)
same_plan: strew.Plan = strew.plan_scatter_nd(np.array([[4]]), data.shape)
strew.plan_scatter_elements([4], 8, 0).gather([1] * 8, out=data[:1])
reveal_type(plan.scatter(data, data[:2], reduction="mean", out=data))
reveal_type(plan.gather(data))
reveal_type(strew.gather_scatter(plan, data, plan, data, [2.0, 3.0], exclude_self=True))
numbers: int = plan.entries + plan.dropped + plan.memory
try:
    strew.scatter_update(memoryview(b"abc"), [0], [1])
except strew.Error as error:
    print(error.status + "", error.position + 1)
strew.add_at(data, ([0, 1],), 2.5, context=context)
"""

BAD = """
import strew
strew.scatter_nd([0], [[0]])
strew.scatter_nd([0], [[0]], [1], "add")
strew.scatter_nd([0], [[0]], [1], reduction="plus")
strew.tensor_scatter([[0]], [[1]], mode="round")
strew.Context(index_policy="ignore")
strew.Context().applied = 1
strew.scatter_nd([0], [[0]], [1], context=3)
strew.plan_scatter_update([0])
strew.plan_scatter_update([0], 1, index_policy="drop")
strew.plan_scatter_update([0], 1).entries = 2
strew.plan_scatter_update([0], 1).scatter([0], [1], "add")
strew.plan_scatter_update([0], 1).gather([0], reduction="add")
strew.gather_scatter([0], [0], [0], [0])
"""


def mypy(tmp_path: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--no-error-summary"]
    environment = os.environ | {"MYPYPATH": str(PACKAGE)}
    done = subprocess.run(
        [*command, *arguments], cwd=tmp_path, env=environment, text=True, capture_output=True
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def test_good_calls(tmp_path) -> None:
    (tmp_path / "good.py").write_text(GOOD)
    same, new, scattered, *others = mypy(tmp_path, "good.py").splitlines()
    for line in (same, scattered):
        assert re.search(r'"numpy\.ndarray\[tuple\[int\], .*32Bit', line), line
    for line in (new, *others):
        assert 'type is "Any"' in line, line  # of the kind of data
    assert len(others) == 2


def test_bad_calls(tmp_path) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    errors = [line for line in mypy(tmp_path, "bad.py").splitlines() if "error" in line]
    lines = {line.split(":")[1] for line in errors}
    assert lines == {str(n) for n in range(3, BAD.count("\n") + 1)}


def test_the_package_itself(tmp_path) -> None:
    # Functions of distributed have no types in some of its versions. Other systems need not be
    # there.
    imports = ("--disable-error-code=import-not-found", "--disable-error-code=import-untyped")
    assert mypy(tmp_path, "--allow-untyped-calls", *imports, "-p", "strew") == ""
