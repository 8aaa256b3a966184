# SPDX-License-Identifier: Apache-2.0
"""The progress bar: on a terminal, in runs of more than a second, and gone at their end."""

import re
import shlex
import unittest
from pathlib import Path

import npy
import terminal
from command import COMMAND, CommandTest
from npy import NATIVE, Array

LINE = r"strew: +(\d+) of (\d+) calls \[(#*)(-*)\] \d+:\d\d(, \d+:\d\d left)?"
# The result takes less than a megabyte, and may or may not be seen while it is written.
WRITTEN = r"strew: (0 of 1 MB written \[#*-+\]|1 of 1 MB written \[#+\]) \d+:\d\d(, \d+:\d\d left)?"
REPORT = r"strew: best of \d+ calls: \d+\.\d{9} s, \d+\.\d{3} GB/s"
SUMMARY = "[[  1.0   1.0   1.0 ...   1.0   1.0   1.0]"


class ProgressTest(CommandTest):
    repeat = 20000  # raised until a run is long

    def setUp(self) -> None:
        super().setUp()
        self.save("d.npy", Array(NATIVE + "f4", (1000, 100), [1.0] * 100000))
        self.save("i.npy", Array(NATIVE + "i8", (2, 1), [1, -1]))
        self.save("u.npy", Array(NATIVE + "f4", (2, 100), range(200)))
        self.call = ["scatter-nd", "d.npy", "i.npy", "u.npy"]

    def run_long(self, *arguments: str, shell: str = "", **options) -> terminal.Run:
        """A run of two seconds and more. `shell` is a script with the command for its {}."""
        while True:
            command = [*COMMAND, *self.call, "--repeat", str(self.repeat), *arguments]
            if shell:
                command = ["sh", "-c", shell.format(shlex.join(command))]
            done = terminal.run(command, self.directory, **options)
            if done.seconds > 2:
                return done
            ProgressTest.repeat = int(self.repeat * min(10, 2.3 / done.seconds))
            self.assertLess(self.repeat, 2**31, done.text)


class OnATerminal(ProgressTest):
    def test_a_bar_that_grows(self) -> None:
        done = self.run_long("-o", "out.npy")
        self.assertEqual(done.status, 0)
        lines = done.lines_drawn()
        self.assertGreater(len(lines), 2)
        # The end of the run may be late by the time that it takes to start.
        self.assertLess(len(lines), 10 * (done.seconds - 1) + 2)
        self.assertGreater(done.pieces[0][0], 1)
        while re.fullmatch(WRITTEN, lines[-1]):
            lines.pop()
        counts = []
        for line in lines:
            found = re.fullmatch(LINE, line)
            self.assertIsNotNone(found, line)
            count, total, filled, empty = int(found[1]), int(found[2]), len(found[3]), len(found[4])
            counts.append(count)
            self.assertEqual(total, self.repeat)
            self.assertEqual(filled, int(count / total * (filled + empty)))
            self.assertEqual(bool(found[5]), count > 0)
        self.assertEqual(counts, sorted(counts))
        self.assertLess(counts[0], counts[-1])

    def test_nothing_is_left_of_it(self) -> None:
        done = self.run_long(columns=200)
        self.assertGreater(len(done.lines_drawn()), 2)
        report, summary, *_, end = done.screen(200)
        self.assertRegex(report, rf"\A{REPORT}\Z")
        self.assertTrue(summary.startswith(SUMMARY), summary)
        self.assertEqual(end, "")

    def test_nothing_is_left_of_it_before_an_error(self) -> None:
        if not Path("/dev/full").exists():
            self.skipTest("there is no /dev/full")
        done = self.run_long("-o", "/dev/full")
        self.assertEqual(done.status, 1)
        self.assertGreater(len(done.lines_drawn()), 2)
        report, sentence, end = done.screen(80)
        self.assertRegex(report, rf"\A{REPORT}\Z")
        self.assertRegex(sentence, r"\Astrew: cannot write '/dev/full': ")
        self.assertEqual(end, "")

    def test_it_fits_the_terminal(self) -> None:
        for columns in (45, 12, 1):
            with self.subTest(columns=columns):
                done = self.run_long("-o", "out.npy", columns=columns)
                widths = {len(line) for line in done.lines_drawn()}
                self.assertLess(max(widths, default=0), columns)
                self.assertEqual(bool(widths), columns > 1)
                report = re.search(REPORT, done.text)[0]
                self.assertEqual(done.screen(columns)[0], report[:columns].rstrip())

    def test_a_short_run_shows_none(self) -> None:
        for _ in range(20):
            done = terminal.run([*COMMAND, *self.call, "--repeat", "2"], self.directory)
            if done.seconds < 1:
                break
        else:
            self.skipTest("nothing is short on this machine now")
        self.assertEqual(done.status, 0)
        self.assertEqual(done.lines_drawn(), [])
        report, summary, *_, end = done.text.split("\r\n")
        self.assertRegex(report, rf"\A{REPORT}\Z")
        self.assertTrue(summary.startswith(SUMMARY), summary)
        self.assertEqual(end, "")

    def test_a_process_in_the_background_shows_none(self) -> None:
        """The terminal belongs to the shell then, which has job control by -m."""
        mine = self.run_long("-o", "out.npy", preexec_fn=terminal.control_terminal)
        self.assertGreater(len(mine.lines_drawn()), 2)
        options = {"shell": "set -m; {} & wait $!", "preexec_fn": terminal.control_terminal}
        other = self.run_long("-o", "out.npy", **options)
        self.assertEqual(other.lines_drawn(), [])
        self.assertRegex(other.text, REPORT)


class Elsewhere(ProgressTest):
    def test_nothing_reaches_a_pipe_or_a_file(self) -> None:
        arguments = ["-o", "out.npy"]
        self.run_long(*arguments)  # which raises the number of calls
        call = [*self.call, *arguments, "--repeat", str(2 * self.repeat)]
        done = self.execute(*call)
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertRegex(done.stderr.decode(), rf"\A{REPORT}\n\Z")

    def test_an_output_on_a_terminal_gets_none(self) -> None:
        with open(self.directory / "errors", "wb") as errors:
            done = self.run_long(stderr=errors)
        self.assertEqual(done.lines_drawn(), [])
        self.assertTrue(done.text.startswith(SUMMARY), done.text)
        reports = (self.directory / "errors").read_text()
        self.assertRegex(reports, rf"\A({REPORT}\n)+\Z")


if __name__ == "__main__":
    unittest.main()
