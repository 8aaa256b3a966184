# SPDX-License-Identifier: Apache-2.0
"""Compiles C++ for this machine when it is needed, and calls it through ctypes."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")


def compile_and_load(source: Path, *flags: str) -> ctypes.CDLL:
    """The functions of one file, by the compiler that CXX names."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / f"{source.stem}.so"
        compiler = os.environ.get("CXX", "g++")
        subprocess.run([compiler, *FLAGS, *flags, str(source), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    """Keeps the array alive."""
    return array.ctypes.data_as(ctypes.c_void_p)
