# SPDX-License-Identifier: Apache-2.0
"""One test for each row of the table: random cases, computed by strew and by the other system."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable

import numpy as np
import pytest

import strew_ctypes as strew
from arrays import assert_same_bytes
from draw import Draw
from rows import PEERS, Row, rows_of

CASES = 60

# The results of strew and of the other system for one case.
Case = Callable[[Draw], tuple[np.ndarray, np.ndarray]]


class Rows:
    """The cases of one system, by the function that they are about."""

    def __init__(self, peer: str, count: int = CASES) -> None:
        self.peer = peer
        self.count = count
        self.cases: dict[str, list[Case]] = {}

    def add(self, *functions: str) -> Callable[[Case], Case]:
        """Makes what is decorated a case of each of these rows."""

        def register(case: Case) -> Case:
            for function in functions:
                self.cases.setdefault(function, []).append(case)
            return case

        return register

    def tests(self) -> Callable[[Row], None]:
        """The test of all rows, to be named test_row in the module."""
        rows = rows_of(self.peer)
        assert {row.function for row in rows} == set(self.cases), "cases for all rows, no others"

        @pytest.mark.parametrize("row", rows, ids=lambda row: row.function)
        def test_row(row: Row) -> None:
            for case in self.cases[row.function]:
                for seed in range(self.count):
                    self._check(case, row, seed)

        return test_row

    def _check(self, case: Case, row: Row, seed: int) -> None:
        try:
            actual, expected = case(Draw(seed))
            assert_same_bytes(actual, expected)
        except Exception as error:
            name = f"{row.function}: {case.__name__}(Draw({seed}))"
            raise AssertionError(f"{name}: {error}") from error


def seen_in(peer: str) -> pytest.MarkDecorator:
    """For what a system does otherwise than strew: it may do so no longer in another version."""
    package, seen = PEERS[peer].package, PEERS[peer].version
    found = importlib.metadata.version(package)
    same = found.split(".")[:2] == seen.split(".")
    return pytest.mark.skipif(not same, reason=f"seen in {package} {seen}, this is {found}")


def context(**settings: int) -> strew.Context:
    made = strew.Context()
    for name, value in settings.items():
        made.set(name, value)
    return made


def assert_refused(status: strew.Status, call: Callable[[], object]) -> None:
    with pytest.raises(strew.StrewError) as failure:
        call()
    assert failure.value.status == status
