# SPDX-License-Identifier: Apache-2.0
"""An embedding bag: sums or means of rows of a table, their gradient, and gradient descent.

    values[b] = sum or mean of table[id] over the ids of bag b

The ids lie one bag behind the other, and offsets say where each begins, as in PyTorch. One plan has
the rows that the ids name, the other the bag that each of them belongs to.

usage: OMP_NUM_THREADS=1 python embedding_bag.py --time
"""

from __future__ import annotations

import argparse

import in_pytorch
import numpy as np
from checks import Array, compare, error_of

import strew


class Bags:
    def __init__(self, ids: Array, offsets: Array, table: Array, reduction: str):
        sizes = np.diff(offsets, append=len(ids))
        bag_of_id = np.repeat(np.arange(len(sizes)), sizes)
        self.shape, self.reduction = (len(sizes), *table.shape[1:]), reduction
        self.rows = strew.plan_scatter_update(ids, len(table))
        self.bags = strew.plan_scatter_update(bag_of_id, len(sizes))
        # The share of an id in the mean of its bag, one for all columns.
        shares = (1 / sizes[bag_of_id])[:, None].astype(table.dtype)
        self.shares = shares if reduction == "mean" else None

    def values(self, table: Array) -> Array:
        """values[bag] += table[id] for every id, or the mean of these; an empty bag is zero."""
        zeros = np.zeros(self.shape, table.dtype)
        return strew.gather_scatter(
            self.rows, table, self.bags, zeros, reduction=self.reduction, exclude_self=True
        )

    def gradient(self, table: Array, d: Array) -> Array:
        """gradient[id] += share * d[bag] for every id, where d is the gradient of the values."""
        zeros = np.zeros_like(table)
        return strew.gather_scatter(self.bags, d, self.rows, zeros, self.shares)

    def descend(self, table: Array, d: Array) -> None:
        """table -= gradient, in place: only rows that an id names are read and written."""
        strew.gather_scatter(
            self.bags, d, self.rows, table, self.shares, reduction="sub", out=table
        )


def problem(arguments: argparse.Namespace, dtype: str) -> tuple[Array, Array, Array, Array]:
    """Ids, offsets, a table, and the values that the bags shall have."""
    random = np.random.default_rng(arguments.seed)
    ids = random.integers(arguments.rows, size=arguments.ids)
    offsets = np.sort(random.integers(arguments.ids, size=arguments.bags))  # a few bags are empty
    offsets[0] = 0
    table = random.standard_normal((arguments.rows, arguments.width)).astype(dtype)
    wanted = random.standard_normal((arguments.bags, arguments.width)).astype(dtype)
    return ids, offsets, table, wanted


def check_gradient(arguments: argparse.Namespace, reduction: str) -> None:
    ids, offsets, table, wanted = problem(arguments, "float64")
    bags = Bags(ids, offsets, table, reduction)

    def loss() -> float:
        return float(((bags.values(table) - wanted) ** 2).sum() / 2)

    error = error_of(loss, table, bags.gradient(table, bags.values(table) - wanted))
    print(f"{reduction}: gradient with a relative error of {error:.0e} beside differences")
    assert error < 1e-3


def descend(arguments: argparse.Namespace, reduction: str) -> None:
    ids, offsets, table, wanted = problem(arguments, "float32")
    bags, losses = Bags(ids, offsets, table, reduction), []
    rate = np.float32({"add": 0.002, "mean": 0.2}[reduction])
    for _ in range(arguments.steps):
        d = bags.values(table) - wanted
        losses.append(float((d**2).mean()))
        bags.descend(table, d * rate)
    print(f"{reduction}: loss", *(f"{loss:.2f}" for loss in losses))
    assert losses[-1] < losses[0]


def compare_times(arguments: argparse.Namespace, reduction: str) -> None:
    ids, offsets, table, d = problem(arguments, "float32")
    bags = Bags(ids, offsets, table, reduction)
    mode = {"add": "sum", "mean": "mean"}[reduction]
    values, gradient = in_pytorch.embedding_bag(ids, offsets, table, d, mode)
    strew_values = {"strew": lambda: [bags.values(table)]}
    strew_gradient = {"strew": lambda: [bags.gradient(table, d)]}
    compare(mode, strew_values | values, arguments.turns)
    compare(f"gradient of the {mode}", strew_gradient | gradient, arguments.turns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    sizes = {"rows": 100_000, "width": 64, "ids": 400_000, "bags": 20_000}
    for name, size in {**sizes, "steps": 10, "turns": 10, "seed": 1}.items():
        parser.add_argument(f"--{name}", type=int, default=size, help=f"default: {size}")
    parser.add_argument("--time", action="store_true", help="time it beside PyTorch")
    arguments = parser.parse_args()
    for reduction in ("add", "mean"):
        check_gradient(arguments, reduction)
        descend(arguments, reduction)
        if arguments.time:
            compare_times(arguments, reduction)


if __name__ == "__main__":
    main()
