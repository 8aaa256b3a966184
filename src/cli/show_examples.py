# SPDX-License-Identifier: Apache-2.0
"""Runs the command on a small example, shown as a table, and on a large one, timed beside a copy.

usage: show_examples.py <command> <folder>
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import examples
import numpy as np

REPEATS = 9


def run(command: Path, folder: Path, *arguments: str) -> str:
    """Runs the command and returns its messages."""
    done = subprocess.run(
        [command, *arguments], cwd=folder, check=True, text=True, capture_output=True
    )
    return done.stderr


def show_small(command: Path, folder: Path) -> None:
    arguments = ["scatter-nd", "data.npy", "indices.npy", "updates.npy"]
    run(command, folder, *arguments, "-o", "output.npy")
    arrays = {name: np.load(folder / f"{name}.npy").ravel() for name in examples.SMALL}
    arrays["output"] = np.load(folder / "output.npy")
    print(f"\n$ strew {' '.join(arguments)}\n")
    print("  place  " + "".join(f"{place:4}" for place in range(arrays["data"].size)))
    for name, array in arrays.items():
        print(f"  {name:8}" + "".join(f"{value:4.0f}" for value in array))
    first, place = arrays["updates"][0], arrays["indices"][0]
    print(f"\nThe first index is {place}, so the first update, {first:.0f}, is at place {place} of")
    print("the output. Other places keep the elements of data.")


def show_large(command: Path, folder: Path) -> None:
    operands = ["large_data.npy", "large_indices.npy", "large_updates.npy"]
    options = ["--repeat", str(REPEATS), "-o", "large_output.npy"]
    said = run(command, folder, "scatter-nd", *operands, *options)
    ours = float(re.search(r"([\d.]+) s,", said)[1])
    data = np.load(folder / "large_data.npy")
    copy, times = np.empty_like(data), []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        np.copyto(copy, data)  # one memcpy
        times.append(time.perf_counter() - begin)
    rows = np.load(folder / "large_updates.npy").size // data.shape[-1]
    print(f"\n{rows} rows into a new array of shape {list(data.shape)}, {data.nbytes / 1e6:.0f} MB:")
    print(f"  strew   {ours * 1e3:6.1f} ms")
    print(f"  memcpy  {min(times) * 1e3:6.1f} ms for copying data alone")
    print("Both copy data, and strew writes the rows too. It stores large arrays past the caches.")


def main(command: Path, folder: Path) -> None:
    examples.write(folder)
    show_small(command, folder)
    show_large(command, folder)
    shown = os.path.relpath(command)
    print(f"\nThe arrays are in {folder}. `{shown} --help` tells what else the command does.")


main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
