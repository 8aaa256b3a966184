# SPDX-License-Identifier: Apache-2.0
"""One scatter on NumPy arrays, which strew and all its peers do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import EllipsisType

import numpy as np

from .indexed import Indexed
from .library import Library, Tensor
from .reduction import Reduction
from .workloads import Operator, Shape, Slice

Place = tuple[slice | EllipsisType, ...] | EllipsisType


@dataclass(frozen=True)
class Scatter(Indexed):
    """The operands; in place if `output` is `data` itself.

    `unique` promises that no element is named twice. `dtype` names a dtype that NumPy lacks.
    """

    operator: Operator
    data: np.ndarray
    indices: np.ndarray | None
    updates: np.ndarray
    reduction: str
    output: np.ndarray
    axis: int = 0
    slice: Slice | None = None
    unique: bool = False
    dtype: str | None = None

    @property
    def in_place(self) -> bool:
        return self.output is self.data

    @property
    def shape(self) -> Shape:
        return self.data.shape

    @property
    def update_shape(self) -> Shape:
        return self.updates.shape

    @property
    def how(self) -> Reduction:
        return Reduction.of(self.reduction)

    def parts(self) -> Iterator[tuple[Place, Scatter]]:
        """Scatters that do the work together, and the part of the output that each writes."""
        yield (..., self)


def contiguous(*arrays: np.ndarray) -> bool:
    """True if each lies in row-major order without gaps."""
    return all(array.flags.c_contiguous for array in arrays)


def tensors(library: Library, scatter: Scatter) -> tuple[Tensor, Tensor, Tensor]:
    """Data, updates and output. In place, the first and the last are the same."""
    data = library.tensor(scatter.data, scatter.dtype)
    updates = library.tensor(scatter.updates, scatter.dtype)
    output = data if scatter.in_place else library.tensor(scatter.output, scatter.dtype)
    return data, updates, output


def strew_call(library: Library, scatter: Scatter) -> Callable[[], None]:
    """The call of strew that does it."""
    data, updates, output = tensors(library, scatter)
    reduction = scatter.reduction
    if scatter.operator is Operator.SLICE_SCATTER:
        cut = scatter.slice
        bounds = (cut.start, cut.stop, cut.step, cut.axes)
        return library.slice_scatter(data, updates, *bounds, reduction, output)
    indices = library.tensor(scatter.indices)
    if scatter.operator is Operator.SCATTER_ND:
        return library.scatter_nd(data, indices, updates, reduction, output)
    run = library.scatter_elements
    if scatter.operator is Operator.SCATTER_UPDATE:
        run = library.scatter_update
    return run(data, indices, updates, scatter.axis, reduction, output)
