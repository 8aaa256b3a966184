# SPDX-License-Identifier: Apache-2.0
"""The consumer, in C and linked by the C compiler, runs against the installed library.

usage: linked.py <shared|static> <meson> <build> <prefix> <libdir> <compiler>...
"""

import sys
import tempfile
from pathlib import Path

import staging

SOURCE = Path(__file__).parent / "consumer.c"


def leave_static_only(staged: staging.Staged) -> None:
    for library in staged.libraries.glob("libstrew.so*"):
        library.unlink()


def main(kind: str, meson: str, build: str, prefix: str, folder: str, *compiler: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        staged = staging.install(meson, build, Path(root), prefix, folder)
        options = []
        if kind == "static":
            leave_static_only(staged)
            options = ["--static"]
        staging.build_and_run(SOURCE, staged, list(compiler), *options)


main(*sys.argv[1:])
