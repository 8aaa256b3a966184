# SPDX-License-Identifier: Apache-2.0
"""--explain: a sentence for each part of a call, which says how it runs and why."""

import array
import math
import os
import random
import unittest

import npy
from command import CommandTest
from npy import NATIVE

CPUS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
needs_two_cpus = unittest.skipIf(CPUS < 2, "one CPU has one worker")


class Explain(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.random = random.Random(7)

    def put(self, name: str, descr: str, shape: tuple[int, ...], values: array.array) -> str:
        content = npy.file_with_header(npy.header(NATIVE + descr, shape), values.tobytes())
        (self.directory / name).write_bytes(content)
        return name

    def call(self, data: tuple[int, ...], updates: tuple[int, ...], *options: str) -> list[str]:
        """The sentences about a scatter-elements with random indices along axis 0."""
        zeros = array.array("f", bytes(4 * math.prod(data)))
        ones = array.array("f", [1.0] * math.prod(updates))
        places = (self.random.randrange(data[0]) for _ in range(math.prod(updates)))
        files = (
            self.put("data.npy", "f4", data, zeros),
            self.put("indices.npy", "i4", updates, array.array("i", places)),
            self.put("updates.npy", "f4", updates, ones),
        )
        done = self.execute("scatter-elements", *files, "--explain", "-o", "out.npy", *options)
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
        lines = done.stderr.decode().splitlines()
        for line in lines:
            self.assertRegex(line, r"\Astrew: [ -~]+\.\Z")
        return lines

    def test_few_updates_have_no_schedule(self) -> None:
        lines = self.call((100,), (5,))
        self.assertEqual(len(lines), 1)
        self.assertIn("5 updates: applied one by one", lines[0])

    def test_the_check_comes_first(self) -> None:
        lines = self.call((100,), (500,))
        self.assertIn("500 indices: checked before anything is written, in 1 part", lines[0])
        self.assertIn("500 entries of 1 element", lines[1])

    def test_one_worker_shares_nothing(self) -> None:
        self.assertIn("there is one worker", self.call((100,), (500,))[1])

    @needs_two_cpus
    def test_small_work_stays_with_one_of_two_workers(self) -> None:
        lines = self.call((100,), (500,), "--threads", "2")
        self.assertIn("another one of the 2 workers pays from 60 us on", lines[1])

    @needs_two_cpus
    def test_large_work_is_shared_by_two_workers(self) -> None:
        lines = self.call((300, 400), (300, 400), "--threads", "2", "--reduction", "add")
        self.assertIn("2 of 2 workers get a task", lines[1])
        self.assertIn("cut into", lines[1])

    def test_long_lines_come_in_strips(self) -> None:
        lines = self.call((3000, 1000), (3000, 1000), "--reduction", "add")
        self.assertIn("in strips of", lines[1])
        self.assertIn("Data is copied just before its updates.", lines[1])

    def test_one_axis_has_long_rows(self) -> None:
        self.assertIn("in long rows of 5000", self.call((100,), (5000,))[1])

    def test_wide_tells_its_way_or_that_it_makes_no_difference(self) -> None:
        lines = self.call((100,), (500,), "--reduction", "add", "--wide")
        self.assertIn("Wide: makes no difference to this call.", lines[0])
        self.put("data.npy", "f2", (100,), array.array("H", [0] * 100))
        self.put("indices.npy", "i4", (500,), array.array("i", [7] * 500))
        self.put("updates.npy", "f2", (500,), array.array("H", [0] * 500))
        files = ("data.npy", "indices.npy", "updates.npy")
        options = ("--reduction", "add", "--wide", "--explain", "-o", "out.npy")
        done = self.execute("scatter-elements", *files, *options)
        self.assertRegex(done.stderr.decode(), r"Wide: [a-z ]+ accumulator for each element\.")

    def test_a_plan_is_made_and_used(self) -> None:
        lines = self.call((100,), (500,), "--plan", "--reduction", "add")
        self.assertEqual(len(lines), 6)
        self.assertIn("500 entries: their places are stored", lines[1])
        self.assertIn("500 entries: put in the order of their destinations", lines[2])
        self.assertRegex(lines[3], r"\d+ destinations: stored with their entries, which were sorted")
        self.assertIn("its places are taken as indices", lines[4])
        self.assertIn("500 entries of 1 element", lines[5])

    def test_a_mean_by_a_plan(self) -> None:
        lines = self.call((100,), (500,), "--plan", "--reduction", "mean")
        self.assertIn("They are divided in the order of the output.", lines[4])
        lines = self.call((9000,), (500,), "--plan", "--reduction", "mean")
        self.assertIn("Means: sums, divided by what the plan has counted.", lines[4])
        self.assertNotIn("They are divided", lines[4])
        self.assertIn("500 entries of 1 element", lines[5])
        self.put("data.npy", "f2", (9000,), array.array("H", [0] * 9000))
        self.put("updates.npy", "f2", (500,), array.array("H", [0] * 500))
        files = ("data.npy", "indices.npy", "updates.npy")
        options = ("--plan", "--reduction", "mean", "--explain", "-o", "out.npy")
        done = self.execute("scatter-elements", *files, *options)
        # Old CPUs have no kernel for single elements.
        told = r"500 entries of \d+ destinations: (element by element )?in the order of"
        self.assertRegex(done.stderr.decode(), told)

    def test_a_refused_call_ends_with_its_sentence(self) -> None:
        self.put("data.npy", "f4", (4,), array.array("f", [0.0] * 4))
        self.put("indices.npy", "i4", (4,), array.array("i", [0, 1, 2, 9]))
        files = ("data.npy", "indices.npy", "data.npy")
        done = self.execute("scatter-elements", *files, "--explain")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn("indices[3] = 9 is out of range", done.stderr.decode().splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
