# SPDX-License-Identifier: Apache-2.0
"""bench/ratios.py reports and ends with 0; only --strict and wrong results end with 1."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RATIOS = Path(__file__).resolve().parents[2] / "bench" / "ratios.py"

# Stands in for the program `rows`: times by workload and contestant, or the error of a workload.
PROGRAM = """#!{python}
import json, re, sys
TIMES = {times!r}
options = dict(part.lstrip("-").split("=", 1) for part in sys.argv[1:])
if "benchmark_list_tests" in options:
    names = (f"{{row}}/{{who}}" for row in TIMES for who in ("strew", "scalar", "memcpy"))
    print(*names, sep="\\n")
    sys.exit()
turns = []
for row, times in TIMES.items():
    if re.search(options["benchmark_filter"], f"{{row}}/"):
        for who, time in zip(("strew", "scalar", "memcpy"), times or (1, 1, 1)):
            turn = dict(run_name=f"{{row}}/{{who}}", run_type="iteration", time_unit="ms")
            turn.update(cpu_time=time, real_time=time, bytes_per_second=1e9)
            if not times:
                turn.update(error_occurred=True, error_message="strew and the scalar loop differ")
            turns.append(turn)
print(json.dumps(dict(benchmarks=turns)))
"""


def run(folder: Path, times: dict, *options: str) -> subprocess.CompletedProcess:
    program = folder / "rows"
    program.write_text(PROGRAM.format(python=sys.executable, times=times))
    program.chmod(0o755)
    command = [sys.executable, "-B", RATIOS, program, *options]
    return subprocess.run(command, capture_output=True, text=True)


SOME = {"a.add": (1.0, 4.0, 1.0), "b.max": (2.0, 1.0, 1.0), "c.tiny.add": (9.0, 1.0, 1.0)}


def test_a_row_behind_is_named_and_ends_well(tmp_path: Path) -> None:
    done = run(tmp_path, SOME)
    assert done.returncode == 0, done.stderr
    assert "geometric mean of 2 workloads: 0.71" in done.stdout
    assert "Above 1.05: b.max (2.00)\n" in done.stdout
    assert "| c.tiny.add | 9 | 1 | 1 | 9.00 |" in done.stdout


@pytest.mark.parametrize("tolerance, status", [("1.9", 1), ("2.1", 0)])
def test_the_verdict_is_strict(tmp_path: Path, tolerance: str, status: int) -> None:
    done = run(tmp_path, SOME, "--strict", "--tolerance", tolerance)
    assert done.returncode == status, done.stderr


def test_a_table_of_its_own_leaves_the_summary(tmp_path: Path) -> None:
    table = tmp_path / "table.md"
    done = run(tmp_path, SOME, "--output", str(table))
    assert done.returncode == 0, done.stderr
    assert "| a.add" not in done.stdout and f"Table: {table}\n" in done.stdout
    assert "| a.add | 1 | 4 | 1 | 0.25 | 1.0 |\n" in table.read_text()
    assert "Above 1.05: b.max (2.00)\n" in table.read_text()


def test_a_wrong_result_ends_with_1(tmp_path: Path) -> None:
    done = run(tmp_path, SOME | {"d.wrong": None})
    assert done.returncode == 1
    assert "Not measured: d.wrong: strew and the scalar loop differ\n" in done.stdout


def test_a_loss_against_the_baseline_ends_with_1(tmp_path: Path) -> None:
    baseline = str(tmp_path / "baseline.json")
    assert run(tmp_path, SOME, "--write-baseline", baseline).returncode == 0
    same = run(tmp_path, SOME, "--baseline", baseline)
    assert same.returncode == 0 and "Slower than before: none\n" in same.stdout
    lost = SOME | {"a.add": (1.3, 4.0, 1.0)}
    done = run(tmp_path, lost, "--baseline", baseline)
    assert done.returncode == 1
    assert "Slower than before: a.add (1.30 x the baseline)\n" in done.stdout
    assert run(tmp_path, lost, "--baseline", baseline, "--loss", "1.4").returncode == 0


def test_one_fast_contestant_is_no_loss(tmp_path: Path) -> None:
    baseline = str(tmp_path / "baseline.json")
    run(tmp_path, SOME, "--write-baseline", baseline)
    done = run(tmp_path, SOME | {"a.add": (1.0, 4.0, 0.5)}, "--baseline", baseline)
    assert done.returncode == 0, done.stdout


def test_workloads_must_be_in_the_baseline(tmp_path: Path) -> None:
    baseline = str(tmp_path / "baseline.json")
    run(tmp_path, SOME, "--write-baseline", baseline)
    done = run(tmp_path, SOME | {"new": (9, 1, 1)}, "--baseline", baseline)
    assert done.returncode == 1
    assert "Not in the baseline: new\n" in done.stdout
