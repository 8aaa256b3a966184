# SPDX-License-Identifier: Apache-2.0
"""strew's operators inside OpenVINO's CPU plugin:

    core = openvino.Core()
    core.add_extension(strew.openvino.extension())
    model = core.read_model("model.onnx")      Scatter, ScatterElements, ScatterND, TensorScatter
    strew.openvino.replace(model)              what other frontends or opsets have made

Models read from ONNX need only the extension. In any model, replace() replaces
ScatterElementsUpdate, ScatterNDUpdate, ScatterUpdate and SliceScatter by strew's operations.
doc/openvino.md lists the limits.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path
from typing import Any

try:
    import openvino as ov
    from openvino.utils.node_factory import NodeFactory
except ImportError as error:
    raise ImportError("strew.openvino needs OpenVINO: pip install 'strew[openvino]'") from error

__all__ = ["extension", "last_error", "replace"]

_LIBRARY = Path(__file__).with_name("libstrew_openvino.so")

if not _LIBRARY.is_file():
    raise ImportError(
        "strew was built without strew.openvino, because the package openvino was not there: "
        "pip install 'openvino>=2026.4', then install strew again from its sources"
    )

# strew's names of the reductions of OpenVINO.
_REDUCTIONS = {"none": "none", "sum": "add", "sub": "sub", "prod": "mul", "min": "min"}
_REDUCTIONS |= {"max": "max", "mean": "mean"}

# strew's operations with the inputs of those of OpenVINO.
_REPLACEMENTS = {
    "ScatterElementsUpdate": "StrewScatterElements",
    "ScatterNDUpdate": "StrewScatterNd",
    "ScatterUpdate": "StrewScatterUpdate",
    "SliceScatter": "StrewSliceScatter",
}


def extension() -> str:
    """The path that openvino.Core.add_extension() takes."""
    return str(_LIBRARY)


def replace(model: ov.Model) -> int:
    """Replaces the operations of a model that strew has, and returns their number.

    This includes those in the bodies of loops and conditions. Call it before you compile the model.
    """
    nodes = model.get_ordered_ops()
    operations = [node for node in nodes if node.get_type_name() in _REPLACEMENTS]
    within = sum(replace(body) for node in nodes for body in _bodies(node))
    for node in operations:
        name = node.get_friendly_name()
        inputs = [node.input_value(i) for i in range(node.get_input_size())]
        new = _factory().create(
            _REPLACEMENTS[node.get_type_name()], inputs, _attributes(node.get_attributes())
        )
        ov.utils.replace_node(node, new)
        new.set_friendly_name(name)
    return len(operations) + within


def _bodies(node: Any) -> list[ov.Model]:
    kind = node.get_type_name()
    if kind == "If":
        return [node.get_then_body(), node.get_else_body()]
    return [node.get_function()] if kind in ("Loop", "TensorIterator") else []


def last_error() -> str:
    """Returns and clears the sentence of the last call that strew refused in this process, or "".

    A synchronous inference on one thread drops every exception, and its output is then undefined:
    call this after it, or use start_async() and wait(), which raise.
    """
    sentence = ctypes.create_string_buffer(4096)
    _library().strew_openvino_take_error(sentence, ctypes.c_size_t(len(sentence)))
    return sentence.value.decode()


@lru_cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(extension())


@lru_cache
def _factory() -> NodeFactory:
    factory = NodeFactory()
    factory.add_extension(extension())
    return factory


def _attributes(old: dict[str, Any]) -> dict[str, Any]:
    reduction = _REDUCTIONS[old.get("reduction", "none")]
    excludes = reduction != "none" and not old.get("use_init_val", True)
    return {"reduction": reduction, "exclude_self": excludes}
