# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime: models of one node, with inputs and outputs bound to the shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import onnxruntime
from onnx import helper

from ..contestants import Contestant, on_output
from ..scatter import Scatter, contiguous
from ..workloads import Operator
from . import System

SILENT = 4  # no log: what is refused is reported by exceptions
IR_VERSION = 10
REDUCTIONS = ("none", "add", "mul", "min", "max")

# A node's type, its first sufficient opset, its attributes, and the arrays of its inputs in order,
# beginning with data.
Node = tuple[str, int, dict[str, object], tuple[np.ndarray, ...]]


class Peer(System):
    """In place: the output is bound to the memory of data, and the kernels then copy nothing."""

    name = "ONNX Runtime"
    version = onnxruntime.__version__

    def __init__(self, threads: int) -> None:
        self._options = onnxruntime.SessionOptions()
        self._options.intra_op_num_threads = threads
        self._options.inter_op_num_threads = 1
        self._options.log_severity_level = SILENT
        # Threads that kept spinning would take time from the next contestant.
        self._options.add_session_config_entry("session.force_spinning_stop", "1")

    def prepare(self, scatter: Scatter) -> list[Contestant]:
        return [
            on_output(self.name, node[0], self._call(node, scatter.output), scatter)
            for node in _nodes(scatter)
            if contiguous(*node[3], scatter.output)
        ]

    def _call(self, node: Node, output: np.ndarray) -> Callable[[], None]:
        arrays = {f"input{i}": array for i, array in enumerate(node[3])}
        session = onnxruntime.InferenceSession(
            _model(node, arrays), self._options, providers=["CPUExecutionProvider"]
        )
        binding = session.io_binding()
        for name, array in arrays.items():
            binding.bind_input(name, "cpu", 0, _dtype(array), array.shape, array.ctypes.data)
        shape = node[3][0].shape
        binding.bind_output("output", "cpu", 0, _dtype(output), shape, output.ctypes.data)
        return lambda _keep_alive=arrays: session.run_with_iobinding(binding)


def _dtype(array: np.ndarray) -> int:
    """ONNX's number of the dtype."""
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def _model(node: Node, arrays: dict[str, np.ndarray]) -> bytes:
    operator, opset, attributes, _ = node
    values = {
        name: helper.make_tensor_value_info(name, _dtype(array), array.shape)
        for name, array in (*arrays.items(), ("output", arrays["input0"]))
    }
    graph = helper.make_graph(
        [helper.make_node(operator, list(arrays), ["output"], **attributes)],
        operator,
        [values[name] for name in arrays],
        [values["output"]],
    )
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    return model.SerializeToString()


def _nodes(scatter: Scatter) -> Iterator[Node]:
    if scatter.operator is Operator.SLICE_SCATTER:
        yield from _slice_nodes(scatter)
        return
    if scatter.how.narrow not in REDUCTIONS:
        return
    data, updates = scatter.data, scatter.updates
    reduction = {"reduction": scatter.how.narrow}
    if (indices := scatter.element_indices) is not None:
        attributes = {"axis": scatter.axis, **reduction}
        yield "ScatterElements", 18, attributes, (data, indices, updates)
    if (tuples := scatter.tuple_indices) is not None:
        yield "ScatterND", 18, reduction, (data, tuples, updates)


def _slice_nodes(scatter: Scatter) -> Iterator[Node]:
    """ONNX has no operator for slices. Others can write some slices, by indices made before."""
    data, updates, cut = scatter.data, scatter.updates, scatter.slice
    last, width = data.ndim - 1, data.shape[-1]
    if last in cut.axes or scatter.reduction != "none" or not contiguous(data, updates):
        return
    rows = np.arange(data.size // width).reshape(data.shape[:last])[scatter.slices[:last]]
    indices = np.ascontiguousarray(rows).reshape(-1, 1)
    yield "ScatterND", 18, {}, (data.reshape(-1, width), indices, updates.reshape(-1, width))
    if cut.step == (1,) and cut.axes != (0,):
        starts = np.full(data.shape[0], cut.start[0])
        yield "TensorScatter", 24, {"axis": cut.axes[0]}, (data, updates, starts)
