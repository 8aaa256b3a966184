# SPDX-License-Identifier: Apache-2.0
"""The places of updates: for each kind of call, a scatter to them and a gather from them.

Both consist of operators with gradients, so that gradients computed with them have gradients too.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from strew.torch._library import call

How = tuple[str, bool, bool]  # reduction, exclude_self and wide


class Places(ABC):
    """Places in tensors of one shape."""

    def scatter(
        self,
        data: Tensor,
        updates: Tensor,
        reduction: str,
        exclude_self: bool = False,
        wide: bool = False,
    ) -> Tensor:
        """`data` with the updates."""
        return self._scatter(data, updates, (reduction, exclude_self, wide))

    @abstractmethod
    def _scatter(self, data: Tensor, updates: Tensor, how: How) -> Tensor: ...

    @abstractmethod
    def gather(self, source: Tensor) -> Tensor:
        """The elements at the places, in the shape of updates."""


def from_start(indices: Tensor, extent: int) -> Tensor:
    """Indices as PyTorch's gather takes them: int64, counted from the start."""
    places = indices.long()
    return torch.where(places < 0, places + extent, places)


@dataclass
class Elements(Places):
    """The places of scatter_elements()."""

    indices: Tensor
    axis: int

    def _scatter(self, data: Tensor, updates: Tensor, how: How) -> Tensor:
        return call("scatter_elements", data, self.indices, updates, self.axis, *how)

    def gather(self, source: Tensor) -> Tensor:
        places = from_start(self.indices, source.shape[self.axis])
        return source.gather(self.axis, places)


@dataclass
class Rows(Places):
    """The places of scatter_update()."""

    indices: Tensor
    axis: int

    def _scatter(self, data: Tensor, updates: Tensor, how: How) -> Tensor:
        return call("scatter_update", data, self.indices, updates, self.axis, *how)

    def gather(self, source: Tensor) -> Tensor:
        axis = self.axis % source.dim()
        shape = source.shape
        places = from_start(self.indices, shape[axis]).reshape(-1)
        gathered = source.index_select(axis, places)
        return gathered.reshape((*shape[:axis], *self.indices.shape, *shape[axis + 1 :]))


@dataclass
class Tuples(Places):
    """The places of scatter_nd()."""

    indices: Tensor

    def _scatter(self, data: Tensor, updates: Tensor, how: How) -> Tensor:
        return call("scatter_nd", data, self.indices, updates, *how)

    def gather(self, source: Tensor) -> Tensor:
        *outer, components = self.indices.shape
        if components == 0:
            return source.expand(*outer, *source.shape)
        # A list, because vmap cannot index with tensors of rank 0.
        tuples = self.indices.long().reshape(-1, components)
        gathered = source[tuples.unbind(-1)]
        return gathered.reshape((*outer, *source.shape[components:]))


@dataclass
class Slice(Places):
    """The places of slice_scatter()."""

    start: Sequence[int]
    stop: Sequence[int]
    step: Sequence[int]
    axes: Sequence[int]

    def _scatter(self, data: Tensor, updates: Tensor, how: How) -> Tensor:
        bounds = (self.start, self.stop, self.step, self.axes)
        return call("slice_scatter", data, updates, *bounds, *how)

    def gather(self, source: Tensor) -> Tensor:
        for axis, bounds in zip(self.axes, zip(self.start, self.stop, self.step)):
            places = range(*slice(*bounds).indices(source.shape[axis]))
            n = len(places)
            if n == 0:
                source = source.narrow(axis, 0, 0)
                continue
            first, last = min(places[0], places[-1]), max(places[0], places[-1])
            source = _strided(source, axis, first, last + 1, abs(places.step))
            if places.step < 0:
                source = source.flip(axis)
        return source


def _strided(source: Tensor, axis: int, start: int, stop: int, step: int) -> Tensor:
    strided: Tensor = torch.ops.aten.slice.Tensor(source, axis, start, stop, step)
    return strided


@dataclass
class Planned(Places):
    """The places of a plan, by its key."""

    key: str

    def _scatter(self, data: Tensor, updates: Tensor, how: How) -> Tensor:
        return call("plan_scatter", self.key, data, updates, *how)

    def gather(self, source: Tensor) -> Tensor:
        return call("plan_gather", self.key, source)


@dataclass
class Kept(Places):
    """Places of the entries that are kept; gather_scatter() skips those that either plan drops.

    The skipped entries stay in the plan, with updates that change nothing. The last update of an
    element, and the elements without an update, are determined among the kept entries.
    """

    places: Places
    kept: Tensor  # bool, in the shape of updates

    def _scatter(self, data: Tensor, updates: Tensor, how: How) -> Tensor:
        reduction, exclude_self, wide = how
        if reduction == "none":
            last = self._last(data)
            written = updates.reshape(-1).index_select(0, last.clamp(min=0).reshape(-1))
            return torch.where(last < 0, data, written.reshape(data.shape))
        neutral = {"add": 0, "mul": 1}[reduction]  # gradients use no others
        if exclude_self:
            data = torch.where(self._last(data) < 0, data, neutral)
        updates = torch.where(self.kept, updates, neutral)
        return self.places.scatter(data, updates, reduction, wide=wide)

    def gather(self, source: Tensor) -> Tensor:
        return torch.where(self.kept, self.places.gather(source), 0)

    def _last(self, data: Tensor) -> Tensor:
        """The number of the last update of each element; -1 if it has none."""
        with torch.no_grad():
            names = torch.where(self.kept, numbers(self.kept.shape, data.device), -1)
            none = torch.full(data.shape, -1, dtype=names.dtype, device=data.device)
            return self.places.scatter(none, names, "max")


def numbers(shape: Sequence[int], device: torch.device) -> Tensor:
    """0, 1, ... in the shape."""
    return torch.arange(math.prod(shape), device=device).reshape(tuple(shape))
