# SPDX-License-Identifier: Apache-2.0
"""A graph network of two layers, trained by NumPy and two plans.

    loss = cross_entropy(softmax(A relu(A x w1) w2), labels)

A is the adjacency matrix with self loops, each edge divided by the square roots of the degrees of
both its ends. It is never made: a product with it is one call of strew.gather_scatter().

usage: OMP_NUM_THREADS=1 python graph_convolution.py --time
"""

from __future__ import annotations

import argparse

import in_pytorch
import numpy as np
from checks import Array, compare, error_of

import strew


class Graph:
    def __init__(self, sources: Array, targets: Array, nodes: int, dtype: str):
        loops = np.arange(nodes)
        self.sources, self.targets = np.append(sources, loops), np.append(targets, loops)
        self.at_sources = strew.plan_scatter_update(self.sources, nodes)
        self.at_targets = strew.plan_scatter_update(self.targets, nodes)
        ones = np.ones(len(self.sources), dtype)
        degrees = self.at_targets.scatter(np.zeros(nodes, dtype), ones, reduction="add")
        roots = np.sqrt(degrees)
        products = self.at_sources.gather(roots) * self.at_targets.gather(roots)
        self.weights = 1 / products[:, None]  # a column: one weight for all features of a row

    def sums(self, x: Array) -> Array:
        """A @ x: sums[target] += weight * x[source] for every edge."""
        zeros = np.zeros_like(x)
        return strew.gather_scatter(self.at_sources, x, self.at_targets, zeros, self.weights)

    def gradient_of_sums(self, d: Array) -> Array:
        """A.T @ d: every edge the other way."""
        zeros = np.zeros_like(d)
        return strew.gather_scatter(self.at_targets, d, self.at_sources, zeros, self.weights)


def loss_and_gradients(
    graph: Graph, x: Array, labels: Array, w1: Array, w2: Array
) -> tuple[float, Array, Array]:
    hidden = graph.sums(x @ w1)
    active = np.maximum(hidden, 0)
    logits = graph.sums(active @ w2)

    rows = np.arange(len(x))
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances = shifted / shifted.sum(axis=1, keepdims=True)
    loss = -np.log(chances[rows, labels]).mean()

    # d_first and d_second are the gradients of x @ w1 and of active @ w2.
    d_logits = chances
    d_logits[rows, labels] -= 1
    d_second = graph.gradient_of_sums(d_logits / len(x))
    d_first = graph.gradient_of_sums(np.where(hidden > 0, d_second @ w2.T, 0))
    return float(loss), x.T @ d_first, active.T @ d_second


def problem(arguments: argparse.Namespace, dtype: str) -> tuple[Graph, Array, Array, Array, Array]:
    """Nodes of a few classes; most edges come from the same class, so that there is much to learn."""
    random = np.random.default_rng(arguments.seed)
    nodes, edges, features = arguments.nodes, arguments.edges, arguments.features
    labels = np.arange(nodes) % arguments.classes
    targets, sources = random.integers(nodes, size=(2, edges))
    alike = (targets + arguments.classes * sources) % nodes
    graph = Graph(np.where(random.random(edges) < 0.7, alike, sources), targets, nodes, dtype)
    x = random.standard_normal((nodes, features))
    x[np.arange(nodes), labels % features] += 1
    w1 = random.standard_normal((features, arguments.hidden)) * features**-0.5
    w2 = random.standard_normal((arguments.hidden, arguments.classes)) * arguments.hidden**-0.5
    return graph, x.astype(dtype), labels, w1.astype(dtype), w2.astype(dtype)


def check_gradients(arguments: argparse.Namespace) -> None:
    graph, x, labels, w1, w2 = problem(arguments, "float64")
    _, *gradients = loss_and_gradients(graph, x, labels, w1, w2)
    for name, parameter, gradient in zip(("w1", "w2"), (w1, w2), gradients):
        error = error_of(
            lambda: loss_and_gradients(graph, x, labels, w1, w2)[0], parameter, gradient
        )
        print(f"gradient of {name}: relative error {error:.0e} beside differences of the loss")
        assert error < 1e-3


def descend(arguments: argparse.Namespace) -> None:
    graph, x, labels, w1, w2 = problem(arguments, "float32")
    losses = []
    for _ in range(arguments.steps):
        loss, d1, d2 = loss_and_gradients(graph, x, labels, w1, w2)
        losses.append(loss)
        w1, w2 = w1 - arguments.rate * d1, w2 - arguments.rate * d2
    print("loss:", *(f"{loss:.3f}" for loss in losses))
    assert losses[-1] < losses[0]


def compare_times(arguments: argparse.Namespace) -> None:
    graph, *tensors = problem(arguments, "float32")
    edges, x = (graph.sources, graph.targets, graph.weights), tensors[0]
    sums = {"strew": lambda: [graph.sums(x)]}
    compare("sums of neighbours", sums | in_pytorch.sums(edges, x), arguments.turns)
    step = {"strew and NumPy": lambda: loss_and_gradients(graph, *tensors)}
    peers = in_pytorch.training_steps(edges, *tensors)
    compare("a step of training", step | peers, arguments.turns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    sizes = {"nodes": 20_000, "edges": 200_000, "features": 64, "hidden": 64, "classes": 16}
    for name, size in {**sizes, "steps": 10, "turns": 10, "seed": 1}.items():
        parser.add_argument(f"--{name}", type=int, default=size, help=f"default: {size}")
    parser.add_argument("--rate", type=float, default=5, help="of the descent; default: 5")
    parser.add_argument("--time", action="store_true", help="time it beside PyTorch")
    arguments = parser.parse_args()
    check_gradients(arguments)
    descend(arguments)
    if arguments.time:
        compare_times(arguments)


if __name__ == "__main__":
    main()
