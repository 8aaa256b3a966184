# SPDX-License-Identifier: Apache-2.0
"""OpenVINO on the CPU: models of one operator, with tensors that share the memory of the arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import openvino
from openvino import opset15

from ..contestants import Contestant, on_output
from ..scatter import Scatter, contiguous
from ..workloads import Operator
from . import System

REDUCTIONS = {"none": "none", "add": "sum", "mul": "prod", "min": "min", "max": "max"}
ELEMENT_REDUCTIONS = REDUCTIONS | {"mean": "mean"}

# A label, the arrays that are inputs, and what makes the operator of them.
Way = tuple[str, tuple[np.ndarray, ...], Callable[..., openvino.Node]]


class Peer(System):
    """In place: the output tensor shares the memory of data."""

    name = "OpenVINO"
    version = openvino.__version__.partition("-")[0]

    def __init__(self, threads: int) -> None:
        self._core = openvino.Core()
        self._options = {
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": "f32",
        }

    def prepare(self, scatter: Scatter) -> list[Contestant]:
        return [
            on_output(self.name, way[0], self._call(way, scatter.output), scatter)
            for way in _ways(scatter)
            if contiguous(*way[1], scatter.output)
        ]

    def _call(self, way: Way, output: np.ndarray) -> Callable[[], object]:
        label, arrays, make = way
        parameters = [opset15.parameter(array.shape, _dtype(array)) for array in arrays]
        model = openvino.Model([make(*parameters)], parameters, label)
        request = self._core.compile_model(model, "CPU", self._options).create_infer_request()
        for i, array in enumerate(arrays):
            request.set_input_tensor(i, _tensor(array))
        request.set_output_tensor(0, _tensor(output))
        return lambda: request.infer(share_outputs=True)


def _dtype(array: np.ndarray) -> openvino.Type:
    return openvino.Type.bf16 if array.dtype.name == "bfloat16" else openvino.Type(array.dtype)


def _tensor(array: np.ndarray) -> openvino.Tensor:
    """The same memory."""
    if array.dtype.name == "bfloat16":
        return openvino.Tensor(array.view(np.uint16), array.shape, openvino.Type.bf16)
    return openvino.Tensor(array, shared_memory=True)


def _ways(scatter: Scatter) -> Iterator[Way]:
    data, updates = scatter.data, scatter.updates
    reduction, without_old, _ = scatter.how
    if scatter.operator is Operator.SLICE_SCATTER:
        if reduction == "none":
            yield _slice_way(scatter)
        return
    if (indices := scatter.element_indices) is not None:
        how = (ELEMENT_REDUCTIONS[reduction], not without_old)
        yield "ScatterElementsUpdate", (data, indices, updates), lambda d, i, u: (
            opset15.scatter_elements_update(d, i, u, np.int64(scatter.axis), *how)
        )
    tuples = scatter.tuple_indices
    if tuples is not None and reduction in REDUCTIONS and not without_old:
        yield "ScatterNDUpdate", (data, tuples, updates), lambda d, i, u: (
            opset15.scatter_nd_update(d, i, u, REDUCTIONS[reduction])
        )
    lines = scatter.row_indices
    if lines is None:
        lines = scatter.line_indices
    if reduction == "none" and lines is not None:
        yield "ScatterUpdate", (data, lines, updates), lambda d, i, u: (
            opset15.scatter_update(d, i, u, np.int64(scatter.axis))
        )


def _slice_way(scatter: Scatter) -> Way:
    cut = scatter.slice
    bounds = [np.array(entry, np.int64) for entry in (cut.start, cut.stop, cut.step, cut.axes)]
    operands = (scatter.data, scatter.updates)
    return "SliceScatter", operands, lambda d, u: opset15.slice_scatter(d, u, *bounds)
