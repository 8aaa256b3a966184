# SPDX-License-Identifier: Apache-2.0
"""--threads: the same bytes and sentences for every number, and threads that really run."""

import array
import math
import os
import random
import subprocess
import time
import unittest
from pathlib import Path

import npy
from command import COMMAND, FEWER_THREADS, CommandTest
from npy import NATIVE, Array

SIDE = 512
UPDATES = SIDE * SIDE  # enough for the library to deal out
NUMBERS = ("2", "3", "0", "64")
NO_THREADS = "1, this build has no threads"


class ThreadsTest(CommandTest):
    def threads(self, **options) -> str:
        """The line of `strew info` about them."""
        lines = self.execute("info", **options).stdout.decode().splitlines()
        return dict(line.split(": ") for line in lines)["threads"]

    def require_threads(self) -> None:
        if self.threads() == NO_THREADS:
            self.skipTest("a build without threads")

    def put(self, name: str, descr: str, shape: tuple[int, ...], values: array.array) -> str:
        header = npy.header(NATIVE + descr, shape)
        content = npy.file_with_header(header, values.tobytes())
        (self.directory / name).write_bytes(content)
        return name


class Operators(ThreadsTest):
    def setUp(self) -> None:
        super().setUp()
        self.require_threads()
        self.random = random.Random(5)
        self.floats("data.npy", (SIDE, SIDE))

    def floats(self, name: str, shape: tuple[int, ...]) -> str:
        """Numbers whose sum depends on the order of the additions."""
        scales = (10.0 ** (i % 7) for i in range(math.prod(shape)))
        values = (self.random.uniform(-1, 1) * scale for scale in scales)
        return self.put(name, "f4", shape, array.array("f", values))

    def places(self, shape: tuple[int, int]) -> str:
        """A quarter of all places only, so that there are duplicates plenty."""
        values = self.random.choices(range(0, SIDE, 2), k=math.prod(shape))
        return self.put("indices.npy", "i8", shape, array.array("q", values))

    def elements(self, name: str) -> bytes:
        return (self.directory / name).read_bytes().split(b"\n", 1)[1]

    def output(self, *call: str) -> bytes:
        self.assertEqual(self.succeed(*call, "-o", "out.npy"), "")
        return self.elements("out.npy")

    def check(self, *call: str) -> None:
        expected = self.output(*call)
        self.assertEqual(len(expected), 4 * UPDATES)
        self.assertNotEqual(expected, self.elements("data.npy"))
        for number in ("1", *NUMBERS):
            with self.subTest(call=call, threads=number):
                self.assertEqual(self.output(*call, "--threads", number), expected)

    def test_scatter_elements(self) -> None:
        files = ["data.npy", self.places((SIDE, SIDE)), self.floats("updates.npy", (SIDE, SIDE))]
        for axis in ("0", "1"):
            self.check("scatter-elements", *files, "--axis", axis, "--reduction", "add")
            self.check("scatter-elements", *files, "--axis", axis)

    def test_scatter_nd(self) -> None:
        files = ["data.npy", self.places((UPDATES, 2)), self.floats("updates.npy", (UPDATES,))]
        self.check("scatter-nd", *files, "--reduction", "add")
        self.check("scatter-nd", *files)

    def test_slice_scatter(self) -> None:
        files = ["data.npy", self.floats("updates.npy", (SIDE, SIDE))]
        where = ["--start=-1", "--stop=-1000", "--step=-1", "--axes=1"]
        self.check("slice-scatter", *files, *where, "--reduction", "add")
        self.check("slice-scatter", *files, *where)

    def test_more_threads_than_cpus(self) -> None:
        self.save("d.npy", Array(NATIVE + "f4", (2,), [1, 2]))
        self.save("i.npy", Array(NATIVE + "i8", (0,), []))
        self.save("u.npy", Array(NATIVE + "f4", (0,), []))
        call = [*COMMAND, "scatter-update", "d.npy", "i.npy", "u.npy", "--threads", "100000"]
        done = subprocess.run(call, cwd=self.directory, capture_output=True)
        self.assertRegex(done.stderr, FEWER_THREADS)

    def test_the_first_bad_index_is_reported(self) -> None:
        self.floats("updates.npy", (UPDATES,))
        places = array.array("q", [1, 1]) * UPDATES
        for position in (UPDATES // 5, UPDATES, 2 * UPDATES - 1):
            places[position] = 10**6 + position
        self.put("indices.npy", "i8", (UPDATES, 2), places)
        call = ["scatter-nd", "data.npy", "indices.npy", "updates.npy", "-o", "out.npy"]
        sentence = self.fail_with(*call)
        self.assertIn(f"{10**6 + UPDATES // 5} is out of range", sentence)
        for number in NUMBERS:
            self.assertEqual(self.fail_with(*call, "--threads", number), sentence)
        self.assertFalse((self.directory / "out.npy").exists())

    @unittest.skipUnless(Path("/proc/self/task").exists(), "there is no /proc/PID/task")
    @unittest.skipUnless(len(COMMAND) == 1, "an emulator has threads of its own")
    def test_threads_run(self) -> None:
        self.places((UPDATES, 2))
        self.floats("updates.npy", (UPDATES,))
        self.assertEqual(self.most_tasks("1"), 1)
        if self.threads() == "1":
            self.skipTest("one CPU only")
        self.assertEqual(self.most_tasks("2"), 2)

    def most_tasks(self, threads: str) -> int:
        """The largest number of threads of a command, watched until they are 2, for a second."""
        call = ["scatter-nd", "data.npy", "indices.npy", "updates.npy", "--repeat", "100000000"]
        with subprocess.Popen(
            [*COMMAND, *call, "--threads", threads], cwd=self.directory, stderr=subprocess.PIPE
        ) as command:
            most = 0
            patience = 20 if threads != "1" else 1
            end = time.monotonic() + patience
            while most < 2 and time.monotonic() < end:
                self.assertIsNone(command.poll())
                most = max(most, len(os.listdir(f"/proc/{command.pid}/task")))
                time.sleep(0.01)
            command.kill()
        return most


class Info(ThreadsTest):
    @unittest.skipUnless(hasattr(os, "sched_getaffinity"), "the system tells no affinity")
    def test_the_cpus_that_the_command_may_use(self) -> None:
        self.require_threads()
        cpus = os.sched_getaffinity(0)
        self.assertEqual(self.threads(), str(len(cpus)))
        one = {min(cpus)}
        self.assertEqual(self.threads(preexec_fn=lambda: os.sched_setaffinity(0, one)), "1")


class WithoutThreads(ThreadsTest):
    def test_more_than_one_thread_is_refused(self) -> None:
        if self.threads() != NO_THREADS:
            self.skipTest("a build with threads")
        self.put("x.npy", "f4", (2,), array.array("f", [1, 2]))
        call = ["slice-scatter", "x.npy", "x.npy", "--start", "0", "--stop", "2"]
        self.assertEqual(self.succeed(*call, "--threads", "1"), "[1.0 2.0]\n")
        for number in NUMBERS:
            message = self.fail_with(*call, "--threads", number)
            self.assertIn("STREW_UNSUPPORTED: this build has no threads", message)


if __name__ == "__main__":
    unittest.main()
