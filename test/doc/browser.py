# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that shows pages as a phone does, driven over its debugging pipe."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import house

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PHONE = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
OPTIONS = (
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--hide-scrollbars",
)
# Chromium reads commands from descriptor 3 and answers on 4.
TAKE_PIPES = """
import fcntl, os, sys
commands, answers = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(commands, 3)
os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def program() -> str:
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    return found or house.skip("chromium is not installed")


class Browser:
    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        options = [*OPTIONS, f"--user-data-dir={self._profile.name}"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")  # it does not start as root with one
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        ends = [str(commands), str(answers)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", TAKE_PIPES, *ends, program(), *options],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._read = b""
        self._number = 0
        self._session: dict[str, str] = {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        self.call("Page.enable")
        self.call("Emulation.setDeviceMetricsOverride", **PHONE)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        os.close(self._commands)
        os.close(self._answers)
        self._profile.cleanup()

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            piece = os.read(self._answers, 1 << 20)
            assert piece, "the browser has ended"
            self._read += piece
        message, _, self._read = self._read.partition(b"\0")
        return json.loads(message)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters, **self._session}
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]

    def show(self, page: Path, scheme: str = "light") -> None:
        """Returns when all of the page is loaded."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self.open(page.as_uri())

    def open(self, url: str) -> None:
        """Returns when all of the page is loaded."""
        self.call("Page.navigate", url=url)
        while self._message().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, expression: str) -> Any:
        """Its value, or that of the promise that it is, when it has one."""
        how = {"returnByValue": True, "awaitPromise": True}
        done = self.call("Runtime.evaluate", expression=expression, **how)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")
