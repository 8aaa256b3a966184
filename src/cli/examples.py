# SPDX-License-Identifier: Apache-2.0
"""Arrays to try the command on, as .npy files: python3 examples.py FOLDER.

The worked example of OpenVINO's ScatterNDUpdate-3, arrays of the shapes of its large one, and a
small matrix.
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np


SMALL = ("data", "indices", "updates")


def write(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "data.npy", np.array([1, 2, 3, 4, 5, 6, 7, 8], np.float32))
    np.save(folder / "indices.npy", np.array([[4], [3], [1], [7]], np.int64))
    np.save(folder / "updates.npy", np.array([9, 10, 11, 12], np.float32))

    np.save(folder / "matrix.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
    np.save(folder / "columns.npy", np.array([[0, 0], [3, 1], [-1, 2]], np.int64))
    np.save(folder / "tens.npy", np.array([[10, 20], [30, 40], [50, 60]], np.float32))

    random = np.random.default_rng(0)
    shape = (1000, 256, 10, 15)
    indices = random.integers(0, shape[:3], (25, 125, 3), dtype=np.int64)
    np.save(folder / "large_data.npy", random.random(shape, np.float32))
    np.save(folder / "large_indices.npy", indices)
    np.save(folder / "large_updates.npy", random.random((25, 125, 15), np.float32))


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
