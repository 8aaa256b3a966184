# SPDX-License-Identifier: Apache-2.0
"""Competitors of a call for the CPUs: other processes, PyTorch's threads, or too few of them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

Between = Callable[[], None]  # is called before each call, untimed

SPIN = "while True: pass"
SUMMED = 1 << 18  # float32, enough for PyTorch to use its threads


def nothing() -> None:
    pass


def discard(result: object) -> None:
    pass


@contextlib.contextmanager
def none(threads: int) -> Iterator[Between]:
    yield nothing


@contextlib.contextmanager
def spinning_process(threads: int, count: int = 1) -> Iterator[Between]:
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        yield nothing
    finally:
        for process in spinning:
            process.kill()
            process.wait()


@contextlib.contextmanager
def spinning_processes(threads: int) -> Iterator[Between]:
    """One for each thread."""
    with spinning_process(threads, threads) as between:
        yield between


@contextlib.contextmanager
def calls_of_pytorch(threads: int) -> Iterator[Between]:
    """Runs PyTorch between calls; its threads keep spinning for a while."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    numbers = torch.ones(SUMMED)
    try:
        yield lambda: discard(numbers.add_(1))
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def one_cpu(threads: int) -> Iterator[Between]:
    """For all threads of this process."""
    cpus = os.sched_getaffinity(0)
    _allow({max(cpus)})
    try:
        yield nothing
    finally:
        _allow(cpus)


def _allow(cpus: set[int]) -> None:
    for thread in map(int, os.listdir("/proc/self/task")):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(thread, cpus)


NEIGHBOURS = {
    "nothing": none,
    "a spinning process": spinning_process,
    "a spinning process for each CPU": spinning_processes,
    "calls of PyTorch": calls_of_pytorch,
    "one CPU for all threads": one_cpu,
}
