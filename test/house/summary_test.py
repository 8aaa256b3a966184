# SPDX-License-Identifier: Apache-2.0
"""test/summary.py says of a log what passed, what was skipped and why, and what failed."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import summary

TESTS = [
    {"name": "strew:op+quick / message", "result": "OK", "duration": 1.2, "stdout": ""},
    {"name": "strew:quick+op / stack", "result": "EXPECTEDFAIL", "duration": 0.4},
    {
        "name": "strew:peers / jax",
        "result": "SKIP",
        "duration": 0.1,
        "stdout": "skipped with /usr/bin/python3:\n  jax is not installed\n",
    },
    {"name": "strew:peers / mute", "result": "SKIP", "duration": 0.1, "stdout": ""},
    {
        "name": "strew:slow / fuzz",
        "result": "TIMEOUT",
        "duration": 60.0,
        "stdout": "first\n" * 50 + "the last line\n",
    },
]


class Summary(unittest.TestCase):
    def setUp(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "testlog.json")
            log.write_text("\n".join(map(json.dumps, TESTS)) + "\n")
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                summary.main(log)
        self.lines = said.getvalue().splitlines()

    def test_a_suite_is_a_line(self) -> None:
        rows = {line.split()[0]: line.split()[1:] for line in self.lines if line}
        self.assertEqual(rows["op"], ["2", "0", "0", "2"])
        self.assertEqual(rows["peers"], ["0", "0", "2", "0"])
        self.assertEqual(rows["other"], ["0", "1", "0", "60"])

    def test_reasons(self) -> None:
        self.assertIn("skipped: jax: jax is not installed", self.lines)
        self.assertIn("skipped: mute: it does not say why", self.lines)

    def test_the_end_of_a_failure(self) -> None:
        at = self.lines.index("failed: fuzz (TIMEOUT)")
        self.assertEqual(self.lines[at + summary.TAIL], "the last line")

    def test_the_last_line_counts(self) -> None:
        self.assertEqual(self.lines[-1], "2 passed, 1 failed, 2 skipped")


unittest.main()
