# SPDX-License-Identifier: Apache-2.0
"""strew in a runtime that a program in C loads, beside that of Python in the same process."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import strew.onnxruntime
from onnxruntime_models import model_of, session

ARRAYS = [np.zeros(4, np.int32), np.zeros((2, 1), np.int64), np.zeros(2, np.int32)]


def runtime() -> Path:
    """The wheel has the runtime of Python, and another one for programs in C."""
    folder = Path(onnxruntime.__file__).parent / "capi"
    found = sorted(folder.glob("libonnxruntime.so*"))
    if not found:
        pytest.skip("this wheel has no libonnxruntime.so")
    return found[0]


@pytest.fixture
def scatter(tmp_path: Path):
    function = ctypes.CDLL(os.environ["STREW_PROGRAM"]).scatter
    model = model_of("ScatterND", ARRAYS, 18, reduction="add")
    file = tmp_path / "model.onnx"
    file.write_bytes(model.SerializeToString())
    paths = (bytes(runtime()), strew.onnxruntime.library().encode(), bytes(file))

    def call(index: int) -> tuple[int, list[int], str]:
        result, text = (ctypes.c_int32 * 4)(), ctypes.create_string_buffer(512)
        failed = function(*paths, ctypes.c_int64(index), result, text)
        return failed, list(result), text.value.decode()

    yield call
    # The runtime of Python has the library too.
    feeds = dict(zip("abc", ARRAYS))
    assert session(model).run(None, feeds)[0].tolist() == [0, 0, 0, 0]


def test_a_program_in_c(scatter) -> None:
    for index, expected in ((0, [31, 2, 3, 4]), (-1, [1, 2, 3, 34])):
        assert scatter(index) == (0, expected, "")


def test_its_error(scatter) -> None:
    failed, _, sentence = scatter(4)
    assert failed == 1
    assert "indices[0,0] = 4 is out of range [-4, 3] for axis 0 of data" in sentence
    assert scatter(3)[0] == 0
