# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime: unmodified models, without and with strew's library of custom operators.

Inputs and outputs are bound to memory once, so that a run is little more than the model. Caches are
bound as input and as output, as decoders do, so that both ways write them in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx
import onnxruntime
from onnx import helper

import strew.onnxruntime

from . import Call, Case

VERSION = onnxruntime.__version__
IR_VERSION = 10
SEED = 1
LAYERS = 4
HEADS, WIDTH, LENGTH = 8, 64, 2048  # of attention, of a head, of a cache


@dataclass
class Model:
    """The nodes of a graph, its inputs, and which outputs have the memory of an input."""

    opset: int
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    outputs: dict[str, np.ndarray] = field(default_factory=dict)
    in_place: dict[str, str] = field(default_factory=dict)

    def node(self, operator: str, inputs: list[str], output: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def give(self, name: str, array: np.ndarray) -> str:
        self.inputs[name] = array
        return name

    def write_cache(self, operator: str, cache: str, inputs: list[str], **attributes) -> str:
        output = self.node(operator, [cache, *inputs], f"present_{cache}", **attributes)
        self.outputs[output] = self.inputs[cache]
        self.in_place[output] = cache
        return output

    def encoded(self) -> bytes:
        graph = helper.make_graph(
            self.nodes, "model", _declared(self.inputs), _declared(self.outputs)
        )
        opsets = [helper.make_opsetid("", self.opset)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        onnx.checker.check_model(model, full_check=True)
        return model.SerializeToString()


def _declared(arrays: Mapping[str, np.ndarray]) -> list[onnx.ValueInfoProto]:
    return [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in arrays.items()
    ]


def issue_28584(random: np.random.Generator) -> Model:
    """A quarter of the shape of the issue: a sum of rows, with an index for each element."""
    model = Model(18)
    rows, updates, width = 556416 // 4, 481385 // 4, 80
    chosen = random.integers(0, rows, (updates, 1))
    model.give("data", np.zeros((rows, width), np.float32))
    model.give("indices", np.ascontiguousarray(np.broadcast_to(chosen, (updates, width))))
    model.give("updates", random.random((updates, width), np.float32))
    model.node("ScatterElements", list(model.inputs), "output", axis=0, reduction="add")
    model.outputs["output"] = model.inputs["data"]
    return model


def rows(random: np.random.Generator) -> Model:
    """Rows of an embedding table are replaced."""
    model = Model(18)
    model.give("data", np.zeros((20000, 128), np.float32))
    model.give("indices", random.permutation(20000)[:10000, None])
    model.give("updates", random.random((10000, 128), np.float32))
    model.node("ScatterND", list(model.inputs), "output")
    model.outputs["output"] = model.inputs["data"]
    return model


def graph_network(random: np.random.Generator) -> Model:
    """A layer: messages along the edges are summed at the nodes, between two matrix products."""
    model = Model(18)
    nodes, edges, width = 10000, 60000, 64
    model.give("features", random.random((nodes, width), np.float32))
    model.give("weights", random.random((width, width), np.float32))
    model.give("source", random.integers(0, nodes, edges))
    model.give("target", random.integers(0, nodes, (edges, 1)))
    hidden = model.node("MatMul", ["features", "weights"], "hidden")
    messages = model.node("Gather", [hidden, "source"], "messages")
    start = model.node("Mul", [hidden, hidden], "start")
    summed = model.node("ScatterND", [start, "target", messages], "summed", reduction="add")
    model.node("Relu", [summed], "output")
    model.outputs["output"] = model.inputs["features"]
    return model


def _attention(model: Model, layer: int, keys: str, values: str) -> None:
    scores = model.node("MatMul", ["query", keys], f"scores_{layer}")
    weights = model.node("Softmax", [scores], f"weights_{layer}", axis=-1)
    output = model.node("MatMul", [weights, values], f"output_{layer}")
    model.outputs[output] = model.inputs["query"]


def linear_cache(attention: bool) -> Callable[[np.random.Generator], Model]:
    def make(random: np.random.Generator) -> Model:
        model = Model(24)
        model.give("query", random.random((1, HEADS, 1, WIDTH), np.float32))
        model.give("position", np.array([LENGTH // 2]))
        model.give("new_key", random.random((1, HEADS, WIDTH, 1), np.float32))
        model.give("new_value", random.random((1, HEADS, 1, WIDTH), np.float32))
        for layer in range(LAYERS):
            keys = model.give(f"key_{layer}", np.zeros((1, HEADS, WIDTH, LENGTH), np.float32))
            values = model.give(f"value_{layer}", np.zeros((1, HEADS, LENGTH, WIDTH), np.float32))
            keys = model.write_cache("TensorScatter", keys, ["new_key", "position"], axis=3)
            values = model.write_cache("TensorScatter", values, ["new_value", "position"], axis=2)
            if attention:
                _attention(model, layer, keys, values)
        if not attention:
            del model.inputs["query"]
        return model

    return make


def paged_cache(attention: bool) -> Callable[[np.random.Generator], Model]:
    """One new token for each of 4 sequences goes to the pages of a cache that all of them share."""

    def make(random: np.random.Generator) -> Model:
        model = Model(18)
        pages, slots, sequences = 4 * LENGTH // 16, 16, 4
        of_sequence = random.permutation(pages).reshape(sequences, -1)
        last = of_sequence[:, LENGTH // slots // 2]
        model.give("places", np.stack((last, random.integers(0, slots, sequences)), 1))
        model.give("new", random.random((sequences, HEADS, WIDTH), np.float32))
        if attention:
            model.give("query", random.random((sequences, HEADS, 1, WIDTH), np.float32))
            model.give("pages", of_sequence)
            shape = (sequences, LENGTH, HEADS, WIDTH)
            model.give("shape", np.array(shape))
        for layer in range(LAYERS):
            read = []
            for kind, order in (("key", (0, 2, 3, 1)), ("value", (0, 2, 1, 3))):
                cache = model.give(
                    f"{kind}_{layer}", np.zeros((pages, slots, HEADS, WIDTH), np.float32)
                )
                cache = model.write_cache("ScatterND", cache, ["places", "new"])
                if attention:
                    rows = model.node("Gather", [cache, "pages"], f"rows_{kind}_{layer}")
                    joined = model.node("Reshape", [rows, "shape"], f"joined_{kind}_{layer}")
                    read.append(
                        model.node("Transpose", [joined], f"{kind}s_{layer}", perm=order)
                    )
            if attention:
                _attention(model, layer, *read)
        return model

    return make


def tiny(operator: str) -> Callable[[np.random.Generator], Model]:
    def make(random: np.random.Generator) -> Model:
        model = Model(24)
        data = model.give("data", np.zeros((1, 8, 4), np.float32))
        new = model.give("new", random.random((1, 1, 4), np.float32))
        if operator == "TensorScatter":
            index = model.give("index", np.array([3]))
            model.write_cache(operator, data, [new, index], axis=1)
        elif operator == "ScatterND":
            index = model.give("index", np.array([[[0, 3]]]))
            model.write_cache(operator, data, [index, new])
        else:
            index = model.give("index", np.full((1, 1, 4), 3))
            model.write_cache(operator, data, [index, new], axis=1)
        return model

    return make


MODELS = {
    "issue 28584, a quarter: rows are summed": issue_28584,
    "rows of a table are replaced": rows,
    "a layer of a graph network": graph_network,
    "decoder step, linear caches, attention": linear_cache(True),
    "decoder step, linear caches, writes alone": linear_cache(False),
    "decoder step, paged caches, attention": paged_cache(True),
    "decoder step, paged caches, writes alone": paged_cache(False),
    "tiny ScatterElements": tiny("ScatterElements"),
    "tiny ScatterND": tiny("ScatterND"),
    "tiny TensorScatter": tiny("TensorScatter"),
}


class Bound:
    """A session with memory of its own for what it reads and writes."""

    def __init__(self, model: Model, threads: int, with_strew: bool) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Threads that kept spinning would take time from the other session.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        if with_strew:
            options.register_custom_ops_library(strew.onnxruntime.library())
        self._session = onnxruntime.InferenceSession(
            model.encoded(), options, providers=["CPUExecutionProvider"]
        )
        self._binding = self._session.io_binding()
        self._inputs = {name: array.copy() for name, array in model.inputs.items()}
        for name, array in self._inputs.items():
            self._bind(self._binding.bind_input, name, array)
        self.outputs = [
            self._inputs[model.in_place[name]] if name in model.in_place else np.empty_like(array)
            for name, array in model.outputs.items()
        ]
        for name, array in zip(model.outputs, self.outputs):
            self._bind(self._binding.bind_output, name, array)

    @staticmethod
    def _bind(bind: Callable[..., None], name: str, array: np.ndarray) -> None:
        dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
        bind(name, "cpu", 0, dtype, array.shape, array.ctypes.data)

    def run(self) -> None:
        self._session.run_with_iobinding(self._binding)


def _same(before: Bound, after: Bound) -> Callable[[], bool]:
    def same() -> bool:
        before.run()
        after.run()
        pairs = zip(before.outputs, after.outputs)
        return all(one.tobytes() == other.tobytes() for one, other in pairs)

    return same


def cases(threads: int) -> Iterator[Case]:
    for name, make in MODELS.items():
        model = make(np.random.default_rng(SEED))
        before, after = (Bound(model, threads, with_strew) for with_strew in (False, True))
        run: tuple[Call, Call] = before.run, after.run
        yield Case(name, *run, _same(before, after))
