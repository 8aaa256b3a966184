# SPDX-License-Identifier: Apache-2.0
"""Models of ONNX, and sessions of ONNX Runtime with strew's library and without it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import strew.onnxruntime

SILENT = 4  # no log: what goes wrong is reported by exceptions
IR_VERSION = 10

# Types of ONNX by their names, with the NumPy dtype whose bytes stand for theirs.
TYPES = {
    "FLOAT": np.float32,
    "DOUBLE": np.float64,
    "FLOAT16": np.float16,
    "BFLOAT16": np.uint16,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "BOOL": np.bool_,
    "FLOAT8E4M3FN": np.uint8,
    "FLOAT8E5M2": np.uint8,
    "FLOAT8E4M3FNUZ": np.uint8,
    "FLOAT8E5M2FNUZ": np.uint8,
}


def type_of(array: np.ndarray) -> int:
    return TensorProto.STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)


def model_of(
    operator: str,
    inputs: Sequence[np.ndarray | None],
    opset: int,
    data_type: int | None = None,
    **attributes: object,
) -> onnx.ModelProto:
    """One node. Inputs are called a, b, c, and the output is called output."""
    given = {name: array for name, array in zip("abc", inputs) if array is not None}
    data_type = data_type or type_of(inputs[0])
    indices = "c" if operator == "TensorScatter" else "b"
    declared = [
        helper.make_tensor_value_info(
            name, type_of(array) if name == indices else data_type, array.shape
        )
        for name, array in given.items()
    ]
    names = [name if name in given else "" for name in "abc"[: len(inputs)]]
    node = helper.make_node(operator, names, ["output"], name="node", **attributes)
    output = helper.make_tensor_value_info("output", data_type, inputs[0].shape)
    return finish([node], declared, [output], opset)


def finish(nodes, inputs, outputs, opset: int) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "model", inputs, outputs)
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    onnx.checker.check_model(model, full_check=True)
    return model


def options(threads: int = 1, with_strew: bool = True) -> onnxruntime.SessionOptions:
    made = onnxruntime.SessionOptions()
    made.intra_op_num_threads = threads
    made.log_severity_level = SILENT
    if with_strew:
        made.register_custom_ops_library(strew.onnxruntime.library())
    return made


def session(
    model: onnx.ModelProto, threads: int = 1, with_strew: bool = True
) -> onnxruntime.InferenceSession:
    made = options(threads, with_strew)
    return onnxruntime.InferenceSession(
        model.SerializeToString(), made, providers=["CPUExecutionProvider"]
    )


def run(
    model: onnx.ModelProto,
    inputs: Sequence[np.ndarray | None],
    output: np.ndarray | None = None,
    threads: int = 1,
    with_strew: bool = True,
) -> np.ndarray:
    """Runs a model with its inputs bound by their bytes, whatever their type is."""
    made = session(model, threads, with_strew)
    arrays = dict(zip((value.name for value in model.graph.input), filter(_given, inputs)))
    return run_bound(made, model, arrays, np.empty_like(inputs[0]) if output is None else output)


def _given(array: np.ndarray | None) -> bool:
    return array is not None


def run_bound(
    made: onnxruntime.InferenceSession,
    model: onnx.ModelProto,
    arrays: Mapping[str, np.ndarray],
    output: np.ndarray,
) -> np.ndarray:
    binding = made.io_binding()
    kinds = {
        value.name: value.type.tensor_type.elem_type
        for value in itertools.chain(model.graph.input, model.graph.output)
    }
    for name, array in arrays.items():
        assert array.flags.c_contiguous
        binding.bind_input(name, "cpu", 0, kinds[name], array.shape, array.ctypes.data)
    binding.bind_output("output", "cpu", 0, kinds["output"], output.shape, output.ctypes.data)
    made.run_with_iobinding(binding)
    return output
