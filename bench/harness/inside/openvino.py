# SPDX-License-Identifier: Apache-2.0
"""OpenVINO's CPU plugin: models as they are, and after strew.openvino.replace()."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset4, opset12, opset13, opset15

import strew.openvino

from . import Case

VERSION = ov.__version__.split("-")[0]
SEED = 1

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Model:
    """One operation; constants follow the operands."""

    make: Callable[..., ov.Node]
    operands: Callable[[np.random.Generator], Arrays]
    constants: tuple[Any, ...] = ()
    how: tuple[Any, ...] = ()

    def build(self, arrays: Arrays) -> ov.Model:
        inputs = [
            opset13.parameter(array.shape, array.dtype, name=name)
            for name, array in arrays.items()
        ]
        constants = [opset13.constant(np.array(value, np.int64)) for value in self.constants]
        return ov.Model([self.make(*inputs, *constants, *self.how)], inputs)


def nd(
    shape: tuple[int, ...], tuples: tuple[int, ...], width: int
) -> Callable[[np.random.Generator], Arrays]:
    """Tuples of `width` indices each; no two name the same place."""

    def make(random: np.random.Generator) -> Arrays:
        places, count = shape[:width], int(np.prod(tuples))
        chosen = random.choice(int(np.prod(places)), count, replace=False)
        indices = np.stack(np.unravel_index(chosen, places), axis=-1)
        return {
            "data": random.random(shape, np.float32),
            "indices": indices.reshape(*tuples, width),
            "updates": random.random((*tuples, *shape[width:]), np.float32),
        }

    return make


def elements(
    shape: tuple[int, int], updates: tuple[int, int]
) -> Callable[[np.random.Generator], Arrays]:
    """Small whole numbers, whose sums do not depend on the order."""

    def make(random: np.random.Generator) -> Arrays:
        return {
            "data": random.integers(0, 9, shape).astype(np.float32),
            "indices": random.integers(0, shape[0], updates),
            "updates": random.integers(0, 9, updates).astype(np.float32),
        }

    return make


def slices(random: np.random.Generator) -> Arrays:
    return {
        "data": random.random((8, 2048, 1024), np.float32),
        "updates": random.random((8, 512, 1024), np.float32),
    }


MODELS = {
    "ScatterNDUpdate, the large example": Model(
        opset4.scatter_nd_update, nd((1000, 256, 10, 15), (25, 125), 3)
    ),
    "ScatterNDUpdate, rows of a table": Model(
        opset4.scatter_nd_update, nd((20000, 128), (10000,), 1)
    ),
    "ScatterNDUpdate, 1 M elements of 4 M": Model(
        opset4.scatter_nd_update, nd((2048, 2048), (1_000_000,), 2)
    ),
    "ScatterElementsUpdate, sum of rows": Model(
        opset12.scatter_elements_update, elements((20000, 80), (60000, 80)), (0,), ("sum",)
    ),
    "SliceScatter, a quarter": Model(
        opset15.slice_scatter, slices, ([0], [2048], [4], [1])
    ),
    "tiny ScatterNDUpdate": Model(opset4.scatter_nd_update, nd((8, 4), (2,), 1)),
    "tiny ScatterElementsUpdate": Model(
        opset12.scatter_elements_update, elements((8, 4), (2, 4)), (0,), ("sum",)
    ),
}


class Bound:
    """A compiled model with memory of its own."""

    def __init__(self, model: Model, threads: int, with_strew: bool) -> None:
        core = ov.Core()
        core.add_extension(strew.openvino.extension())
        arrays = model.operands(np.random.default_rng(SEED))
        built = model.build(arrays)
        if with_strew and strew.openvino.replace(built) == 0:
            raise RuntimeError("nothing was replaced")
        config = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "ENABLE_CPU_PINNING": False}
        self._request = core.compile_model(built, "CPU", config).create_infer_request()
        for name, array in arrays.items():
            self._request.set_tensor(name, ov.Tensor(array))

    def run(self) -> None:
        self._request.infer(share_outputs=True)  # without a copy of them

    def output(self) -> bytes:
        return self._request.get_output_tensor().data.tobytes()


def _same(before: Bound, after: Bound) -> Callable[[], bool]:
    def same() -> bool:
        before.run()
        after.run()
        return before.output() == after.output()

    return same


def cases(threads: int) -> Iterator[Case]:
    for name, model in MODELS.items():
        before, after = (Bound(model, threads, with_strew) for with_strew in (False, True))
        yield Case(name, before.run, after.run, _same(before, after))
