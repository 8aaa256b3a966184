# SPDX-License-Identifier: Apache-2.0
"""Plans by key, because operators accept tensors, numbers and strings but no objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from weakref import WeakValueDictionary

import strew

_keys = count()


@dataclass(eq=False)
class Planned:
    """A plan, and the arguments that it was made from."""

    handle: strew.Plan
    kind: str
    indices_shape: tuple[int, ...]
    axis: int
    extents: tuple[int, ...]

    def __post_init__(self) -> None:
        self.dropped = self.handle.dropped
        # Compiled functions are cached on disk by their text, of which the key is a part. So it
        # names everything that they are compiled for: the next process has another plan 0.
        self.key = (
            f"plan {next(_keys)} of {self.kind}, indices {self.indices_shape}, "
            f"axis {self.axis} of {self.extents}, {self.dropped} dropped"
        )
        _plans[self.key] = self

    def updates_shape(self, indexed: Sequence[int]) -> tuple[int, ...]:
        """The shape of updates for a tensor that the plan indexes."""
        if self.kind == "elements":
            return self.indices_shape
        shape, components = tuple(indexed), len(self.extents)
        outer = self.indices_shape[:-1] if self.kind == "nd" else self.indices_shape
        axis = self.axis + (len(shape) if self.axis < 0 else 0)
        return (*shape[:axis], *outer, *shape[axis + components :])


# Weak, so that a plan lives as long as the caller's object.
_plans: WeakValueDictionary[str, Planned] = WeakValueDictionary()


def plan_of(key: str) -> Planned:
    """The plan with the key."""
    plan = _plans.get(key)
    if plan is None:
        raise RuntimeError(f"{key} is gone: keep the object while calls or gradients need it")
    return plan
