# SPDX-License-Identifier: Apache-2.0
"""bench/tune.py: it forgets no constant, and finds where alternatives cross."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from harness.tune import fields
from harness.tune.every import NOT_MEASURED, families
from harness.tune.kinds import Bench, Sweep, Threshold, between, crossing, worst
from harness.tune.library import Tunable
from harness.tune.operands import bound

# Constants whose alternatives have the same explanation.
UNTOLD = (
    "long_line",
    "long_joined_line",
    "batch_bytes",
    "most_undivided_columns",
    "least_box",
    "least_box_of_runs",
    "short_run_of_box",
    "far_run_of_box",
    "near_reads",
    "near_reads_that_wait",
    "dense_step",
    "unfetched_step",
    "unfetched_row",
    "fetched_step",
    "least_columns_of_pass",
    "least_folded",
    "least_row_with_gaps",
    "element_row",
    "walks.longest_moved",
    "walks.least_moved_step",
    "walks.far_moved",
    "walks.least_read_ahead",
    "walks.longest_of_page",
    "walks.longest_period",
    "walks.longest_inline",
    "walks.longest_by_element",
    "short_run",
    "many_rows",
    "longest_pass_loop",
    "near_crossed_part",
)
THRESHOLDS = [family for family in families() if isinstance(family, Threshold)]
LISTED = fields.tuning() + fields.walks()


@pytest.fixture(scope="module")
def library() -> Tunable:
    path = os.environ.get("STREW_TUNABLE")
    if not path:
        pytest.skip("built without benchmarks")
    return Tunable(Path(path))


def test_every_constant_is_measured_or_has_a_reason() -> None:
    measured = [family.name for family in families()]
    assert sorted([*measured, *NOT_MEASURED]) == sorted(LISTED)
    assert all(NOT_MEASURED.values())


def test_fields_are_those_of_the_struct() -> None:
    text = """
        struct Other { int64_t none = 1; };
        struct Some : Other {
          // int64_t nor = 2;
          int64_t first = int64_t{1} << 20;  // of = none
          double second = 0.25, third = 1.0 / 32;
        };
    """
    lines = "\n".join(line.removeprefix(" " * 8) for line in text.splitlines())
    assert fields.names(lines, "Some") == ["first", "second", "third"]


def test_the_table_tells_its_cpu() -> None:
    assert "of L3" in fields.noted_cpu()


def test_the_library_has_the_same_constants(library: Tunable) -> None:
    assert list(library.in_use) == LISTED


def test_alternatives_name_constants_of_the_library(library: Tunable) -> None:
    for family in families():
        if isinstance(family, Threshold):
            assert family.below.keys() | family.above.keys() <= library.in_use.keys()
            assert family.below != family.above
        if isinstance(family, Sweep):
            assert family.settings.keys() <= library.in_use.keys()


def test_sizes_lie_on_both_sides_of_the_threshold(library: Tunable) -> None:
    for family in THRESHOLDS:
        in_use = library.in_use[family.name]
        sizes = family.sizes(in_use)
        assert sizes == sorted(set(sizes)) and len(sizes) > 2, family.name
        assert sizes[0] < family.size_of(in_use), family.name
        assert family.value_of(family.size_of(in_use)) == pytest.approx(in_use), family.name


@pytest.mark.parametrize("family", THRESHOLDS, ids=lambda family: family.name)
def test_the_library_takes_both_alternatives(family: Threshold, library: Tunable) -> None:
    if family.name in UNTOLD:
        pytest.skip("no explanation tells")
    try:
        library.set_num_threads(family.threads)
    except RuntimeError:
        pytest.skip("built without threads")
    sizes = family.sizes(library.in_use[family.name])
    call = bound(library, family.call(sizes[1]))
    told = []
    for settings in (family.below, family.above):
        library.tune(settings)
        told.append(library.explain(call))
    library.tune({})
    library.set_num_threads(1)
    assert told[0] != told[1]


def test_alternatives_cross_where_the_second_becomes_faster() -> None:
    times = [(1.0, 3.0), (1.0, 1.5), (1.5, 1.0), (3.0, 1.0)]
    assert crossing(times, used=2) == 2
    assert crossing(times, used=0) == 2
    assert worst(times, crossing(times, 0), 0) == 3.0
    assert worst(times, 2, 3) == 1.5
    assert worst(times, 2, 2) == 1.0
    assert between([4, 8, 16, 32], [3, 1.5, 1 / 1.5, 1 / 3], 2) == pytest.approx(128**0.5)


def test_what_is_noise_changes_nothing() -> None:
    assert crossing([(1.0, 1.001), (1.001, 1.0), (1.002, 1.0)], used=3) == 3


def test_times_follow_the_table(library: Tunable) -> None:
    bench = Bench(library, 0.01, lambda: None)
    names = ("few_indices", "slice_block", "ns_of_byte", "cache_ways")
    for family in families():
        if family.name in names:
            found = family.measure(bench)
            assert found.in_use == library.in_use[family.name] and found.here > 0


def test_constants_are_in_use_again_after_a_trial(library: Tunable) -> None:
    library.tune({"few_indices": 3, "walks.longest_period": 64})
    library.tune({"few_indices": 5})
    library.tune({})
    assert Tunable(Path(os.environ["STREW_TUNABLE"])).in_use == library.in_use
