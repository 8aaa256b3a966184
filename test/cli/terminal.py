# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a terminal, and shows what stands on its screen."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Run:
    """The output on the terminal, with the seconds since the start."""

    pieces: list[tuple[float, bytes]] = field(default_factory=list)
    status: int = 0
    seconds: float = 0

    @property
    def text(self) -> str:
        return b"".join(piece for _, piece in self.pieces).decode()

    def lines_drawn(self) -> list[str]:
        """The line on the screen at each return of the command to its beginning."""
        drawn = (piece.rstrip(" ") for piece in self.text.replace("\r\n", "\n").split("\r"))
        return [line for line in drawn if line and "\n" not in line]

    def screen(self, columns: int) -> list[str]:
        """The rows of a screen that is long enough, without blanks at their ends."""
        rows = [""]
        column = 0
        for character in self.text:
            if character == "\n":
                rows.append("")
            elif character == "\r":
                column = 0
            else:
                if column == columns:
                    rows.append("")
                    column = 0
                row = rows[-1].ljust(column)
                rows[-1] = row[:column] + character + row[column + 1 :]
                column += 1
        return [row.rstrip() for row in rows]


def control_terminal() -> None:
    """Makes standard error the terminal that controls a session of the process's own."""
    os.setsid()
    fcntl.ioctl(2, termios.TIOCSCTTY, 0)


def run(command: list[str], directory: Path, columns: int = 80, **options) -> Run:
    """Runs the command with standard error on a terminal; output too, and without colours, unless
    told otherwise."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    plain = {**os.environ, "NO_COLOR": "1"}
    streams = {"stdin": subprocess.DEVNULL, "stdout": theirs, "stderr": theirs}
    options = {**streams, "env": plain, **options}
    done = Run()
    start = time.monotonic()
    with subprocess.Popen(command, cwd=directory, **options) as process:
        os.close(theirs)
        # Linux fails, and others read nothing, where the last writer is gone.
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                done.pieces.append((time.monotonic() - start, piece))
    os.close(ours)
    done.seconds = time.monotonic() - start
    done.status = process.returncode
    return done
