# SPDX-License-Identifier: Apache-2.0
"""The command line: help, version, info, timing, and what is a wrong use."""

import math
import re
import unittest
from pathlib import Path

from command import CommandTest
from npy import NATIVE, Array

HEADER = Path(__file__).parents[2] / "include" / "strew" / "strew.h"
FUNCTION = re.compile(r"STREW_API strew_status strew_((?!plan_)\w*scatter\w*)\(")
OPERATORS = [
    name.replace("_", "-")
    for name in FUNCTION.findall(HEADER.read_text())
    if name != "slice_scatter_int64"  # whose numbers slice-scatter takes
]


class Asking(CommandTest):
    def test_help(self) -> None:
        text = self.succeed("--help")
        for command in (*OPERATORS, "info", "bench", "verify", "completion"):
            self.assertIn(f"  {command} ", text)
        for command in OPERATORS:
            # CLI11 from 2.5 on puts spaces between names.
            text = re.sub(r", +", ",", self.succeed(command, "--help"))
            for word in ("--output", "--repeat", "--simd", "--threads"):
                self.assertIn(f" {word} ", text.replace(",", " "))
            for word in ("--reduction", "--exclude-self", "--wide"):
                self.assertEqual(f" {word} " in text, command != "tensor-scatter")
            has_indices = command != "slice-scatter"
            self.assertEqual(" --out-of-range,--index-policy " in text, has_indices)
            for word in ("--no-negative-indices", "--duplicates,--duplicate-policy"):
                names_places = command not in ("slice-scatter", "tensor-scatter")
                self.assertEqual(f" {word} " in text, names_places)
            self.assertIn(f"    strew {command} ", text)
            self.assertRegex(text, r"    (output|present_cache)\[.*=")
            for word in ("Exit status", "GB/s", "'strew info'", "progress bar", "than a second"):
                self.assertIn(word, text)
            has_axis = command in ("scatter-elements", "scatter-update", "tensor-scatter")
            self.assertEqual("--axis" in text, has_axis)
            planned = command in ("scatter-elements", "scatter-nd", "scatter-update")
            self.assertEqual(" --plan " in text, planned)
            self.assertEqual("--circular" in text, command == "tensor-scatter")
            self.assertEqual("--axes" in text, command == "slice-scatter")
            self.assertEqual("indices FILE" in text, command != "slice-scatter")

    def test_version_and_info(self) -> None:
        numbers = re.findall(r"#define STREW_VERSION_\w+ (\d+)", HEADER.read_text())
        version = ".".join(numbers)
        self.assertEqual(self.succeed("--version"), f"strew {version}\n")
        info = dict(line.split(": ") for line in self.succeed("info").splitlines())
        self.assertEqual(list(info), ["version", "SIMD target", "SIMD targets", "threads"])
        self.assertEqual(info["version"], version)
        self.assertRegex(info["threads"], r"\A[1-9]\d*(, this build has no threads)?\Z")
        targets = info["SIMD targets"].split()
        self.assertEqual(info["SIMD target"], targets[0])
        self.assertEqual(len(targets), len(set(targets)))


class Using(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.save("d.npy", Array(NATIVE + "f4", (1000, 100), [1.0] * 100000))
        self.save("i.npy", Array(NATIVE + "i8", (2, 1), [1, -1]))
        self.save("u.npy", Array(NATIVE + "f4", (2, 100), range(200)))
        self.call = ["scatter-nd", "d.npy", "i.npy", "u.npy"]

    def test_every_target_gives_the_same(self) -> None:
        info = dict(line.split(": ") for line in self.succeed("info").splitlines())
        expected = self.result(*self.call, "--reduction", "add")
        self.assertEqual(expected.values[100:103], [1, 2, 3])
        for target in info["SIMD targets"].split():
            with self.subTest(target=target):
                result = self.result(*self.call, "--reduction", "add", "--simd", target)
                self.assertEqual(result, expected)

    def test_repeat(self) -> None:
        once = self.succeed(*self.call)
        done = self.execute(*self.call, "--repeat", "3", "--reduction", "add", "-o", "out.npy")
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        pattern = r"\Astrew: best of 3 calls: (\d+\.\d{9}) s, (\d+\.\d{3}) GB/s\n\Z"
        found = re.search(pattern, done.stderr.decode())
        self.assertIsNotNone(found, done.stderr)
        seconds, rate = map(float, found.groups())
        bytes_moved = 2 * 400000 + 2 * 8 + 2 * 400
        self.assertTrue(math.isclose(seconds * rate * 1e9, bytes_moved, rel_tol=0.02), found[0])
        by_plan = self.execute(*self.call, "--repeat", "3", "--plan", "-o", "out.npy").stderr
        seconds, rate = map(float, re.search(pattern, by_plan.decode()).groups())
        bytes_without_indices = bytes_moved - 2 * 8
        self.assertTrue(math.isclose(seconds * rate * 1e9, bytes_without_indices, rel_tol=0.02))
        done = self.execute(*self.call, "--repeat", "3", "--reduction", "add", "-o", "out.npy")
        # Every call starts from data anew: three additions are one.
        self.assertEqual(self.read("out.npy").values[100:103], [1, 2, 3])
        done = self.execute(*self.call, "--repeat", "2")
        self.assertEqual((done.returncode, done.stdout.decode()), (0, once))

    def test_a_file_may_have_the_name_of_a_command(self) -> None:
        (self.directory / "d.npy").rename(self.directory / "info")
        result = self.result("scatter-nd", "info", "i.npy", "u.npy")
        self.assertEqual(result.values[100:103], [0, 1, 2])


class Misuse(CommandTest):
    """None of these commands gets as far as its files, which do not exist."""

    def test_commands(self) -> None:
        self.assertIn("A command is required", self.misuse())
        self.assertIn("gather", self.misuse("gather"))
        self.assertIn("--nonsense", self.misuse("--nonsense"))
        self.assertIn("more", self.misuse("info", "more"))

    def test_files(self) -> None:
        self.assertIn("data is required", self.misuse("scatter-nd"))
        self.assertIn("updates is required", self.misuse("scatter-nd", "d", "i"))
        self.assertIn("extra", self.misuse("scatter-nd", "d", "i", "u", "extra"))

    def test_choices(self) -> None:
        for operator in ("scatter-elements", "scatter-nd", "scatter-update", "slice-scatter"):
            files = ["d", "u"] if operator == "slice-scatter" else ["d", "i", "u"]
            where = ["--start=0", "--stop=1"] if operator == "slice-scatter" else []
            call = [operator, *files, *where]
            for name in ("sum", "ADD", "0", "", "average"):
                message = self.misuse(*call, "--reduction", name)
                self.assertIn("{none,add,mul,min,max,sub,mean}", message)
            self.assertIn("--simd", self.misuse(*call, "--simd", "MMX"))
            for count in ("0", "-1", "x", "1.5", str(2**40)):
                self.assertIn("--repeat", self.misuse(*call, "--repeat", count))
            for count in ("-1", "x", "", "1.5", "2,3", str(2**31), str(2**40)):
                self.assertIn("--threads", self.misuse(*call, "--threads", count))
            self.assertIn("--nonsense", self.misuse(*call, "--nonsense"))
            self.assertIn("-o", self.misuse(*call, "-o"))

    def test_axis(self) -> None:
        for axis in ("x", "1.5", "0,1", str(2**63)):
            self.assertIn("--axis", self.misuse("scatter-elements", "d", "i", "u", "--axis", axis))
        self.assertIn("--axis", self.misuse("scatter-nd", "d", "i", "u", "--axis", "0"))

    def test_lists(self) -> None:
        call = ["slice-scatter", "d", "u"]
        self.assertIn("--start", self.misuse(*call, "--stop", "1"))
        self.assertIn("--stop", self.misuse(*call, "--start", "1"))
        for text in ("", ",", "1,", ",1", "1,,2", "1 2", "1;2", "x", "1.5", "+1", str(2**63)):
            with self.subTest(text=text):
                self.assertIn("--start", self.misuse(*call, "--start", text, "--stop", "1"))
        where = ["--start", "1,2", "--stop", "3,4"]
        for name in ("--step", "--axes"):
            self.assertIn(name, self.misuse(*call, *where, name, "1"))
            self.assertIn(name, self.misuse(*call, *where, name, "1,2,3"))
        self.assertIn("--stop", self.misuse(*call, "--start", "1,2", "--stop", "3"))


if __name__ == "__main__":
    unittest.main()
