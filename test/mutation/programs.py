# SPDX-License-Identifier: Apache-2.0
"""The programs of tests that judge mutants."""

from collections.abc import Iterator
from pathlib import Path

# The tests that find most in the shortest time stand first.
OPERATOR_TESTS = (
    "test_message test_precedence test_tensor test_dlpack test_context"
    " test_overlap test_special_cases test_policies test_names hostile/test_hostile_calls"
    " test_scatter_update test_tensor_scatter test_duplicates test_exclude_self test_oracle"
).split()
PLAN_TESTS = (
    "test_creation test_calls hostile/test_hostile_plans test_order test_memory"
    " museum/test_museum_memory museum/test_museum_plans test_plans"
    " hostile/test_guard_pages test_whole_outputs test_failures test_gather test_gather_scatter"
    " test_random_plans"
).split()
LONG_OPERATOR_TESTS = (
    "museum/test_museum_operators test_wide test_many_indices test_extreme_arguments test_examples"
    " museum/test_museum_classes test_distinct test_chosen_indices test_random test_boxes test_mean"
    " test_parallel_index test_single_branches"
).split()

# Tests of the inside that judge a file.
INSIDE_TESTS = {
    "api/tensor.cc": ["test_tensor_view"],
    "base/reduction.h": ["test_reduction"],
    "base/tensor_view.h": ["test_tensor_view"],
    "share/index_check.cc": ["test_index_check"],
    "walk/index_reader.h": ["test_index_reader"],
}


def tests_of(file: str) -> list[str]:
    # Operators use nothing of plans.
    if file.startswith("prepared/"):
        return PLAN_TESTS
    inside = INSIDE_TESTS.get(file, [])
    return [*inside, *OPERATOR_TESTS, *PLAN_TESTS, *LONG_OPERATOR_TESTS]


def every_program() -> list[str]:
    inside = [program for programs in INSIDE_TESTS.values() for program in programs]
    return sorted({*inside, *OPERATOR_TESTS, *PLAN_TESTS, *LONG_OPERATOR_TESTS})


def missing_programs(root: Path) -> Iterator[str]:
    """Programs without a source."""
    for program in every_program():
        room, name = program.split("/") if "/" in program else ("*", program)
        name = name.removeprefix("test_")
        # Programs of the museum begin with its name, their sources do not.
        sources = [f"{room}/{name}_test.cc", f"{room}/{name.removeprefix(room + '_')}_test.cc"]
        if not any(list((root / "test").glob(source)) for source in sources):
            yield f"no source of {program}"
