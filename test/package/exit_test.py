# SPDX-License-Identifier: Apache-2.0
"""Programs that end while daemon threads are within calls."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

PROGRAM = """
import sys, threading, time
import numpy as np
import strew

data, context = np.zeros(1 << 12), strew.Context()
indices = np.zeros(1 << {shift}, np.int8)
updates = np.broadcast_to(1.0, indices.size)
plan = strew.plan_scatter_update(indices[: 1 << 16], data.size)
seconds, days = np.zeros(2, "M8[s]"), np.zeros(1, "M8[D]")

def python_code(result):
    for _ in range(100):
        pass
    return result

class Exporter:
    def __dlpack__(self, **options):
        return python_code(data[:1].__dlpack__(**options))

    def __dlpack_device__(self):
        return data.__dlpack_device__()

class Subclass(np.ndarray):
    def __dlpack__(self, **options):
        return python_code(super().__dlpack__(**options))

subclass = np.ones(1).view(Subclass)

class Number:
    def __index__(self):
        return python_code(0)

def refused(*operands):
    try:
        strew.scatter_update(*operands)
    except (strew.Error, TypeError):
        pass

def run():
    while True:
        {call}

# Other threads ask for the GIL so often that most stand in the middle of Python code.
sys.setswitchinterval({interval})
for _ in range(3):
    threading.Thread(target=run, daemon=True).start()
time.sleep(0.05)
"""
LONG = "strew.scatter_update(data, indices, updates, reduction='add', out=data"
CALLS = {
    # Calls that end when the interpreter shuts down or has.
    "long": (26, 0.005, f"{LONG})"),
    "short": (8, 0.005, f"{LONG})"),
    "context": (12, 0.005, f"{LONG}, context=strew.Context())"),
    # The package runs Python code of its own, of NumPy or of the operands.
    "lists": (8, 1e-5, "strew.scatter_nd([1, 2, 3], [[1], [2]], [4, 5])"),
    "new": (8, 1e-5, "strew.scatter_nd(data[:3], indices[:2, None] % 3, updates[:2])"),
    "opaque": (8, 1e-5, "strew.scatter_update(seconds, indices[:1] % 2, seconds[:1].copy())"),
    "masks": (8, 1e-5, "refused(data, indices[:1], np.ma.zeros(1))"),
    "index error": (8, 1e-5, "refused(data, np.array([data.size]), updates[:1])"),
    "dtype error": (8, 1e-5, "refused(seconds, indices[:1], days)"),
    "exporter": (8, 1e-5, "strew.scatter_update(data, indices[:1], Exporter())"),
    "subclass": (8, 1e-5, "strew.scatter_update(data, indices[:1], subclass)"),
    "plan": (8, 1e-5, "strew.plan_scatter_nd([[1], [2]], 3).gather([1, 2, 3])"),
    "extents": (8, 1e-5, "strew.plan_scatter_nd(indices[:0, None], [Number()])"),
    "planned": (16, 0.005, "plan.scatter(data, updates, reduction='add', out=data)"),
    "number": (8, 1e-5, "strew.slice_scatter(data, updates[:1], [Number()], [1])"),
}
RUNS = {"long": 20, "short": 8}
# CPython 3.11 frees the state of daemon threads that may just be about to read it, in take_gil().
# Meson has freed memory overwritten: then one program of 250 ended with a fault there.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}


@pytest.mark.parametrize("name", CALLS)
def test_daemon_threads_within_calls_end_with_the_program(name) -> None:
    shift, interval, call = CALLS[name]
    program = PROGRAM.format(shift=shift, interval=interval, call=call)

    def run(_: int) -> tuple[int, str]:
        command = [sys.executable, "-c", program]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, env=ENVIRONMENT
        )
        return done.returncode, done.stderr

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(run, range(RUNS.get(name, 4)))) == {(0, "")}
