# SPDX-License-Identifier: Apache-2.0
"""Signals that end the command while it writes: they leave what was there, and nothing else."""

import ctypes
import itertools
import os
import resource
import signal
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

import npy
from command import COMMAND, CommandTest
from npy import NATIVE, Array

SIZE = 1 << 25  # bytes of the output: most of a run writes them
MOMENTS = 8  # at which each signal comes, over the time of a run
ENDING = [
    signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGALRM, signal.SIGPIPE,
    signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU, signal.SIGXFSZ,
]  # fmt: skip
INPUTS = ["data.npy", "indices.npy", "updates.npy"]

Send = Callable[[Popen, signal.Signals], None]


def prepare() -> None:
    """Signals as a shell leaves them, whatever started the tests, and no core files."""
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def send_to_last_thread(process: Popen, number: signal.Signals) -> None:
    with os.scandir(f"/proc/{process.pid}/task") as threads:
        last = max((int(thread.name) for thread in threads), default=process.pid)
    ctypes.CDLL(None).tgkill(process.pid, last, number)


class Interrupting(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.save("indices.npy", Array(NATIVE + "i8", (1, 1), [SIZE - 1]))
        self.save("updates.npy", Array("|u1", (1,), [9]))
        self.call = ["scatter-nd", *INPUTS]
        self.before = npy.file_with_header(npy.header("|u1", (SIZE,)), bytes(SIZE))
        self.restore()
        self.seconds = min(self.duration() for _ in range(3))  # the first is often slow
        self.after = self.path("data.npy").read_bytes()
        self.assertEqual(self.after[-2:], b"\0\t")

    def path(self, name: str) -> Path:
        return self.directory / name

    def others(self) -> set[str]:
        return set(os.listdir(self.directory)) - set(INPUTS)

    def restore(self) -> None:
        for name in self.others():
            self.path(name).unlink()
        self.path("data.npy").write_bytes(self.before)

    def duration(self) -> float:
        start = time.monotonic()
        self.succeed(*self.call, "-o", "data.npy")
        return time.monotonic() - start

    def run_with(
        self,
        number: signal.Signals,
        delay: float,
        *arguments: str,
        appeared: bool = False,
        send: Send = Popen.send_signal,
        start: Callable[[], None] = prepare,
    ) -> int:
        """The status of a run that gets the signal after the delay, counted from its start, or
        from when it has `appeared` that it writes a file."""
        with Popen(
            [*COMMAND, *self.call, *arguments],
            cwd=self.directory,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            preexec_fn=start,
        ) as process:
            while appeared and process.poll() is None and not self.others():
                time.sleep(0.0005)
            time.sleep(delay)
            if process.poll() is None:
                send(process, number)
            self.assertEqual(process.communicate(timeout=100), (b"", b""))
        return process.returncode

    def check_files(self, output: str, status: int, ended: int) -> None:
        """The output is as it was or complete, and stands among the inputs alone."""
        self.assertIn(status, (ended, 0))
        content = self.path(output).read_bytes() if self.path(output).exists() else None
        old = self.before if output in INPUTS else None
        self.assertTrue(content == self.after or (content == old and status == ended))
        self.assertLessEqual(self.others(), {output})

    def interrupt(
        self, numbers: list[signal.Signals], *arguments: str, send: Send = Popen.send_signal
    ) -> None:
        statuses = set()
        for number, moment in itertools.product(numbers, range(MOMENTS)):
            output = ("data.npy", "out.npy")[moment % 2]
            appeared = moment % 4 < 2
            with self.subTest(signal=number.name, moment=moment, output=output):
                self.restore()
                delay = self.seconds * (moment + 0.5) / MOMENTS / (4 if appeared else 1)
                status = self.run_with(
                    number, delay, "-o", output, *arguments, appeared=appeared, send=send
                )
                self.check_files(output, status, -number)
                statuses.add(status)
        self.assertLess(min(statuses), 0, "no signal came in time")

    def test_signals_end_it_and_leave_no_file(self) -> None:
        self.interrupt(ENDING)

    @unittest.skipUnless(Path("/proc/self/task").is_dir(), "threads are not listed here")
    def test_signals_to_another_thread(self) -> None:
        if not hasattr(ctypes.CDLL(None), "tgkill"):
            self.skipTest("the C library signals no single threads")
        self.interrupt([signal.SIGINT, signal.SIGTERM], "--threads", "0", send=send_to_last_thread)

    def test_a_signal_that_is_ignored_stays_so(self) -> None:
        def ignore() -> None:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        for moment in range(MOMENTS):
            self.restore()
            delay = self.seconds * (moment + 0.5) / MOMENTS
            status = self.run_with(signal.SIGHUP, delay, "-o", "out.npy", start=ignore)
            self.check_files("out.npy", status, 0)

    def test_a_limit_of_the_size_of_files(self) -> None:
        """By default it ends a program in the middle of a write."""
        for size in (0, 1, 127, 128, 4096, 1 << 20, SIZE - 1, SIZE + 127):

            def limit(size: int = size) -> None:
                prepare()
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

            with self.subTest(size=size):
                self.restore()
                done = self.execute(*self.call, "-o", "data.npy", preexec_fn=limit)
                self.assertEqual(done.returncode, -signal.SIGXFSZ)
                self.check_files("data.npy", done.returncode, -signal.SIGXFSZ)


if __name__ == "__main__":
    unittest.main()
