# SPDX-License-Identifier: Apache-2.0
"""A description of the machine, for reports of measurements."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .library import Library

_CPU_INFO = Path("/proc/cpuinfo")
_CPUS = Path("/sys/devices/system/cpu")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class Cache:
    """A data cache, as one CPU sees it."""

    name: str
    bytes: int


def describe(library: Library | None = None) -> str:
    """One line: the CPU, its last cache, how many CPUs may be used, and the library's target."""
    parts = [cpu_model()]
    if levels := caches():
        parts.append(f"{binary_size(levels[-1].bytes)} of {levels[-1].name}")
    cpus = usable_cpus()
    parts.append("1 CPU" if cpus == 1 else f"{cpus} CPUs")
    parts.append(f"{platform.system()} {platform.machine()}")
    if library is not None:
        parts.append(f"strew {library.version} on {library.target}")
    return ", ".join(parts)


def cpu_model() -> str:
    """The CPU's name; where it names no model, its family and model number stand beside it."""
    fields = _cpu_fields()
    name = fields.get("model name") or platform.processor() or platform.machine()
    name = re.sub(r"\s+", " ", name).strip()
    if "cpu family" in fields and not re.search(r"\d", name):
        name += f" (family {fields['cpu family']}, model {fields['model']})"
    return name


def caches() -> list[Cache]:
    """The data caches, nearest first; empty if the system does not report them."""
    found = {}
    for index in sorted(_CPUS.glob(f"cpu{_first_cpu()}/cache/index*")):
        try:
            kind = (index / "type").read_text().strip()
            level = int((index / "level").read_text())
            size = re.fullmatch(r"(\d+)([KMG]?)", (index / "size").read_text().strip())
        except OSError:
            continue
        if kind != "Instruction" and size:
            found[level] = Cache(f"L{level}", int(size[1]) * _UNITS[size[2]])
    return [found[level] for level in sorted(found)]


def usable_cpus() -> int:
    """The number of CPUs on which this process may run."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def binary_size(count: int) -> str:
    """32 MiB, 48 KiB, 7 bytes."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"


def _first_cpu() -> int:
    try:
        return min(os.sched_getaffinity(0))
    except AttributeError:
        return 0


def _cpu_fields() -> dict[str, str]:
    """The first CPU's lines of /proc/cpuinfo; empty where there is no such file."""
    try:
        text = _CPU_INFO.read_text()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}
