# SPDX-License-Identifier: Apache-2.0
"""A test case that runs the command in an empty directory of its own."""

import os
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

import npy

# More than one word where an emulator runs the command.
COMMAND = shlex.split(os.environ["STREW_COMMAND"])
HAS_LIBZIP = bool(os.environ.get("STREW_HAS_LIBZIP", "1"))

FEWER_THREADS = re.compile(rb"strew: \d+ threads instead of \d+, one for each CPU to run on\n")


class CommandTest(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.directory = Path(holder.name)

    def save(self, name: str, array: npy.Array, major: int = 1) -> str:
        (self.directory / name).write_bytes(npy.encode(array, major))
        return name

    def read(self, name: str) -> npy.Array:
        return npy.read(self.directory / name)

    def execute(
        self, *arguments: str, stdout=subprocess.PIPE, **options
    ) -> subprocess.CompletedProcess:
        """Without what it says on machines that have fewer CPUs than a test asks threads for."""
        if "input" not in options:
            options["stdin"] = subprocess.DEVNULL
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=self.directory,
            stdout=stdout,
            stderr=subprocess.PIPE,
            timeout=100,
            **options,
        )
        done.stderr = FEWER_THREADS.sub(b"", done.stderr)
        return done

    def succeed(self, *arguments: str) -> str:
        """Returns what the command prints on standard output; it must be silent otherwise."""
        done = self.execute(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def fail_with(self, *arguments: str, **options) -> str:
        """The one sentence of a command that an operator or a file makes fail."""
        done = self.execute(*arguments, **options)
        self.assertEqual((done.returncode, done.stdout), (1, b""), done.stderr)
        self.assertRegex(done.stderr.decode(), r"\Astrew: [ -~]+\n\Z")
        return done.stderr.decode()

    def misuse(self, *arguments: str) -> str:
        """The complaint about a wrong command line."""
        done = self.execute(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
        pattern = r"\Astrew: .+\nRun 'strew( [\w-]+)? --help' for the usage\.\n\Z"
        self.assertRegex(done.stderr.decode(), pattern)
        return done.stderr.decode()

    def result(self, *arguments: str) -> npy.Array:
        self.assertEqual(self.succeed(*arguments, "-o", "out.npy"), "")
        return self.read("out.npy")
