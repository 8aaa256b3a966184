# SPDX-License-Identifier: Apache-2.0
"""Shared by the checks of the house: how they end, which files they read, and how they run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

SKIPPED = 77  # Meson's exit code of a test that did not run
CODE_ROOMS = ("src", "include", "test", "bench", "doc", "packaging")

# Strings are matched too, so that a comment's sign inside one does not start a comment.
_COMMENT_OR_STRING = re.compile(
    r"""//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""", re.DOTALL
)


def skip(reason: str) -> NoReturn:
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def finish(problems: Iterable[str]) -> NoReturn:
    lines = list(problems)
    print("\n".join(lines) or "nothing to complain of")
    sys.exit(1 if lines else 0)


def require(program: str) -> str:
    return shutil.which(program) or skip(f"{program} is not installed")


def require_elf(binary: Path) -> None:
    if binary.read_bytes()[:4] != b"\x7fELF":
        skip(f"{binary.name} is not an ELF file")


def instrumented(sanitizers: str) -> list[str]:
    """Options of a build of the tests that these instrument."""
    return [
        f"-Db_sanitize={sanitizers}",
        "-Db_lundef=false",
        "-Dbuildtype=debugoptimized",
        "-Dcli=disabled",
        "-Dbenchmarks=disabled",
        "-Dtests=enabled",
    ]


def output_of(command: list[str]) -> str:
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def target_command(program: Path) -> list[str]:
    """The command that runs a program of the host machine; Meson names the emulator, if any."""
    return [*shlex.split(os.environ.get("MESON_EXE_WRAPPER", "")), str(program)]


def tracked(root: Path) -> set[str]:
    """The files of the repository; nothing for sources that are not a checkout, as of an archive,
    which may be unpacked within another."""
    if not (root / ".git").exists():
        return set()
    git = ["git", "-C", str(root), "ls-files", "-z"]
    try:
        return set(output_of(git).split("\0")) - {""}
    except (OSError, subprocess.CalledProcessError):
        return set()


def code_files(root: Path, rooms: Iterable[str], suffixes: set[str]) -> list[Path]:
    found = sorted(
        file for room in rooms for file in (root / room).rglob("*") if file.suffix in suffixes
    )
    if not found:
        finish([f"no source file below {root}: the check would check nothing"])
    return found


def without_comments(text: str) -> str:
    """The text with comments blanked; strings and line numbers stay."""
    return _COMMENT_OR_STRING.sub(lambda m: m[1] or "\n" * m[0].count("\n") or " ", text)


def without_strings(code: str) -> str:
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', code)
