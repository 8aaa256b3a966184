# SPDX-License-Identifier: Apache-2.0
"""verify and bench, which tell of this machine, and what shells and terminals are told."""

import os
import re
import shlex
import shutil
import subprocess
import unittest

import terminal
from command import COMMAND, CommandTest

ROW = "nd.tiny.new"
STAGES = ("check", "places", "order", "groups")
MEASURED = re.compile(rf"\A{re.escape(ROW)} +\d+\.\d+ +\d+\.\d +\d+\.\d +\d+\.\d\d\Z")
COLOURS = {**os.environ, "TERM": "xterm", "NO_COLOR": ""}


class Verifying(CommandTest):
    def test_one_line_names_every_target(self) -> None:
        targets = dict(line.split(": ") for line in self.succeed("info").splitlines())
        line = self.succeed("verify", "--calls", "2")
        agree = f"SIMD targets {targets['SIMD targets']} all agree with the oracle on "
        calls = re.fullmatch(agree + r"(\d+) random calls\n", line)
        self.assertIsNotNone(calls, line)
        # Six operators, of which three have plans, to gather and to gather and scatter.
        kinds = 6 + 2 * 3
        dtypes, rest = divmod(int(calls[1]), 2 * kinds)
        self.assertEqual(rest, 0)
        self.assertGreater(dtypes, 18)
        once = self.succeed("verify", "--calls", "1", "--seed", "77")
        self.assertIn(f"on {int(calls[1]) // 2} random calls", once)

    def test_misuse(self) -> None:
        for wrong in ("0", "-1", "x"):
            self.misuse("verify", "--calls", wrong)


class Timing(CommandTest):
    def test_a_row(self) -> None:
        heading, columns, row = self.succeed("bench", ROW, "--seconds", "0").splitlines()
        self.assertRegex(heading, r"\Astrew \d+\.\d+\.\d+ on \w+, threads: 1\Z")
        self.assertEqual(columns.split(), ["row", "ms", "GB/s", "memcpy", "/", "memcpy"])
        self.assertRegex(row, MEASURED)
        speed, copy, ratio = map(float, row.split()[2:])
        self.assertAlmostEqual(ratio, speed / copy, delta=0.02 + 0.05 * ratio)

    def test_plans_beside_the_same_without(self) -> None:
        rows = ("plan.nd.tiny.new", "plan.make", ROW)
        lines = self.succeed("bench", *rows, "--seconds", "0").splitlines()
        _, _, workload, columns, make, *stages, tiny = lines
        self.assertRegex(workload, MEASURED)
        self.assertEqual(columns.split(), "row with plans ms M/s direct / direct".split())
        self.assertRegex(make, r"\Aplan\.make +\d+\.\d+ +\d+\.\d +\d+\.\d +\d+\.\d\d\Z")
        self.assertRegex(tiny, r"\Aplan\.nd\.tiny\.new +\d+\.\d+ +\d+\.\d +\d+\.\d +\d+\.\d\d\Z")
        self.assertEqual([line.split()[0] for line in stages], list(STAGES))
        # The stages are the whole.
        whole, *parts = (float(line.split()[1]) for line in (make, *stages))
        self.assertTrue(all(part > 0 for part in parts), stages)
        self.assertAlmostEqual(sum(parts) / whole, 1, delta=0.01)

    def test_a_graph(self) -> None:
        _, columns, graph = self.succeed("bench", "plan.graph", "--seconds", "0").splitlines()
        edges, direct, ratio = map(float, graph.split()[2:])
        self.assertAlmostEqual(edges / direct, ratio, delta=0.02 + 0.05 * ratio)

    def test_slices_have_no_plans(self) -> None:
        self.assertIn("plan.sl.kv.new", self.misuse("bench", "plan.sl.kv.new"))

    def test_misuse(self) -> None:
        self.assertIn("nd.none", self.misuse("bench", "nd.none"))
        self.misuse("bench", "--threads", "-1")
        for wrong in ("-1", "inf", "nan"):
            self.misuse("bench", "--seconds", wrong)


class Colours(CommandTest):
    def drawn(self, *arguments: str, **environment: str) -> str:
        variables = {**COLOURS, **environment}
        return terminal.run([*COMMAND, *arguments], self.directory, env=variables).text

    def test_only_on_a_terminal_that_wants_them(self) -> None:
        row = ("bench", ROW, "--seconds", "0")
        wrong = ("scatter-nd", "a", "b", "c")
        self.assertIn("\033[1mrow", self.drawn(*row))
        self.assertIn("\033[31mstrew:\033[0m", self.drawn(*wrong))
        for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\033", self.drawn(*row, **plain))
            self.assertNotIn("\033", self.drawn(*wrong, **plain))
        self.assertNotIn("\033", self.succeed(*row))
        self.assertNotIn("\033", self.fail_with(*wrong))


class Completing(CommandTest):
    def completed(self, *words: str, separator: str = "") -> list[str]:
        """The words that bash offers for the last one."""
        line = " ".join(f"'{word}'" for word in words)
        script = (
            f'source /dev/stdin; strew() {{ {shlex.join(COMMAND)} "$@"; }}; '
            f"COMP_WORDS=(strew {line}); COMP_CWORD={len(words)}; "
            f'IFS={separator}; _strew strew; printf "%s\\n" "${{COMPREPLY[@]}}"'
        )
        done = subprocess.run(
            ["bash", "--norc", "-c", script],
            input=self.succeed("completion", "bash"),
            text=True,
            capture_output=True,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_bash(self) -> None:
        self.assertEqual(self.completed("scatter-n"), ["scatter-nd"])
        self.assertIn("verify", self.completed(""))
        self.assertIn("--version", self.completed("--"))
        self.assertEqual(self.completed("scatter-nd", "--red"), ["--reduction"])
        reductions = self.completed("scatter-nd", "--reduction", "m")
        self.assertEqual(reductions, ["mul", "min", "max", "mean"])
        self.assertEqual(self.completed("slice-scatter", "--sta"), ["--start"])
        self.assertEqual(self.completed("tensor-scatter", "--sta"), [])
        self.assertEqual(self.completed("completion", "b"), ["bash"])
        self.assertEqual(self.completed("bench", "nd.t"), [ROW])
        self.assertEqual(self.completed("scatter-n", separator=","), ["scatter-nd"])
        self.assertEqual(self.completed("scatter-nd", "--reduction", "=", "mi"), ["min"])
        self.assertIn("mean", self.completed("scatter-nd", "--reduction", "="))
        self.assertEqual(self.completed("scatter-nd", "--simd", "SCA"), ["SCALAR"])
        for files in ([""], ["a.npy", ""], ["-o", ""], ["--output", "-"], ["--repeat", ""]):
            self.assertEqual(self.completed("scatter-nd", *files), [])

    def test_scripts_are_for_all_machines(self) -> None:
        for shell in ("bash", "fish"):
            self.assertNotIn("SCALAR", self.succeed("completion", shell))

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self) -> None:
        script = self.directory / "strew.fish"
        script.write_text(self.succeed("completion", "fish"))
        for line, offered in {
            "strew scatter-n": ["scatter-nd"],
            "strew scatter-nd --reduction m": ["max", "mean", "min", "mul"],
            "strew completion b": ["bash"],
            "strew scatter-nd --simd SCA": ["SCALAR"],
        }.items():
            command = f"source {script}; complete -C '{line}'"
            command = f"function strew; {shlex.join(COMMAND)} $argv; end; {command}"
            done = subprocess.run(["fish", "-N", "-c", command], text=True, capture_output=True)
            self.assertEqual(done.stderr, "")
            words = sorted(each.split("\t")[0] for each in done.stdout.splitlines())
            self.assertEqual(words, offered)

    def test_misuse(self) -> None:
        self.misuse("completion", "csh")
        self.misuse("completion")


if __name__ == "__main__":
    unittest.main()
