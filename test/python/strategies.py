# SPDX-License-Identifier: Apache-2.0
"""Strategies of hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from arrays import Fill, Layout, Placed, fill_of

# Arrays are filled by NumPy from a drawn seed: drawing every element would be slow.
generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)

# An axis of 0 elements empties the whole array, so it is rare.
short_dims = st.sampled_from([1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 0])
# Long axes reach the vector loops and their tails.
dims = short_dims | st.sampled_from([5, 7, 16, 33, 70])


def up_to(dim: int) -> st.SearchStrategy[int]:
    return st.sampled_from([*range(1, dim + 1)] * 5 + [0])


def fills(dtype: np.dtype, moved_only: bool) -> st.SearchStrategy[Fill]:
    return generators.map(lambda rng: fill_of(rng, dtype, moved_only))


@st.composite
def shapes(draw, max_rank: int = 4) -> tuple[int, ...]:
    rank = draw(st.integers(1, max_rank))
    outer = [draw(short_dims) for _ in range(rank - 1)]
    return tuple(draw(st.permutations([*outer, draw(dims)])))


@st.composite
def broadcastable(draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that NumPy broadcasts to this one; mostly this one itself."""
    if draw(st.integers(0, 2)):
        return shape
    kept = shape[draw(st.integers(0, len(shape))) :]
    return tuple(1 if draw(st.booleans()) else dim for dim in kept)


def layouts(rank: int, repeats: bool) -> st.SearchStrategy[Layout]:
    """`repeats` allows strides of 0, which only inputs may have."""
    steps = [1, 1, 1, -1, 2, -2, 3] + [0] * repeats
    anything = st.builds(
        Layout,
        st.permutations(range(rank)).map(tuple),
        st.tuples(*[st.sampled_from(steps)] * rank),
    )
    dense = st.just(Layout(tuple(range(rank)), (1,) * rank))
    return dense | anything


def placed(fill: Fill, shape: tuple[int, ...], repeats: bool = True) -> st.SearchStrategy[Placed]:
    return layouts(len(shape), repeats).map(lambda layout: Placed(fill, shape, layout))


@st.composite
def sources_and_targets(draw, fill: Fill, shape: tuple[int, ...]) -> tuple[Placed, Placed]:
    """data and output; one object where the call is to be in place."""
    if draw(st.booleans()):
        in_place = draw(placed(fill, shape, repeats=False))
        return in_place, in_place
    return draw(placed(fill, shape)), draw(placed(fill, shape, repeats=False))
