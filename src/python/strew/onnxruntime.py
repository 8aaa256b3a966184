# SPDX-License-Identifier: Apache-2.0
"""strew inside ONNX Runtime: ScatterElements, ScatterND and TensorScatter of unmodified models.

    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(strew.onnxruntime.library())
    session = onnxruntime.InferenceSession(model, options)
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["library"]


def library() -> str:
    """The path of the library of custom operators.

    Raises FileNotFoundError if the package was built without it.
    """
    path = Path(__file__).with_name("libstrew_onnxruntime.so")
    if path.exists():
        return str(path)
    raise FileNotFoundError(
        "strew was built without its library for ONNX Runtime, because onnxruntime_c_api.h was not "
        "there: install strew again from its sources, and name the header's folder with "
        "--config-settings=setup-args=-Donnxruntime_headers=FOLDER"
    )
