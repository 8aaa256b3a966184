# SPDX-License-Identifier: Apache-2.0
"""The examples of doc/plans, which check their gradients themselves, run; and beside dense NumPy."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "doc" / "plans"
sys.path.insert(0, str(FOLDER))

import checks
import embedding_bag
import graph_convolution

SIZES = {
    "graph_convolution": "--nodes 50 --edges 200 --features 6 --hidden 4 --classes 3",
    "embedding_bag": "--rows 60 --ids 200 --bags 30 --width 5",
}


@pytest.mark.parametrize("name", SIZES)
def test_it_runs(name) -> None:
    command = [sys.executable, str(FOLDER / f"{name}.py"), *SIZES[name].split()]
    done = subprocess.run([*command, "--time", "--turns", "1"], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    for expected in ("gradient", "loss", " ms  strew"):
        assert expected in done.stdout
    assert done.stderr == ""


def test_every_example_is_run() -> None:
    scripts = {file.stem for file in FOLDER.glob("*.py") if "__main__" in file.read_text()}
    assert scripts == set(SIZES)


def test_sums_are_products_with_the_adjacency_matrix() -> None:
    random = np.random.default_rng(3)
    sources, targets = random.integers(9, size=(2, 30))
    graph = graph_convolution.Graph(sources, targets, 9, "float64")
    adjacent = np.eye(9)
    np.add.at(adjacent, (targets, sources), 1)
    degrees = adjacent.sum(axis=1)
    matrix = adjacent / np.sqrt(degrees[:, None] * degrees)
    x = random.standard_normal((9, 4))
    np.testing.assert_allclose(graph.sums(x), matrix @ x)
    np.testing.assert_allclose(graph.gradient_of_sums(x), matrix.T @ x)


@pytest.mark.parametrize("reduction", ["add", "mean"])
def test_bags_are_sums_of_slices(reduction) -> None:
    random = np.random.default_rng(4)
    ids, offsets = random.integers(7, size=20), np.array([0, 3, 3, 11])
    table, d = random.standard_normal((7, 5)), random.standard_normal((4, 5))
    bags = embedding_bag.Bags(ids, offsets, table, reduction)
    matrix = np.zeros((4, 7))
    for bag, names in enumerate(np.split(ids, offsets[1:])):
        np.add.at(matrix[bag], names, 1 if reduction == "add" else 1 / max(len(names), 1))
    np.testing.assert_allclose(bags.values(table), matrix @ table, atol=1e-12)
    np.testing.assert_allclose(bags.gradient(table, d), matrix.T @ d, atol=1e-12)
    expected = table - matrix.T @ d
    bags.descend(table, d)
    np.testing.assert_allclose(table, expected, atol=1e-12)


def test_a_wrong_gradient_and_a_wrong_result_are_found() -> None:
    x = np.arange(1.0, 5)
    assert checks.error_of(lambda: float((x**3).sum()), x, 3 * x**2) < 1e-6
    assert checks.error_of(lambda: float((x**3).sum()), x, 2.9 * x**2) > 1e-2
    with pytest.raises(AssertionError):
        checks.compare("", {"a": lambda: [1.0], "b": lambda: [1.1]}, 1)
