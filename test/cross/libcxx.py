# SPDX-License-Identifier: Apache-2.0
"""Builds the library and the command with clang and LLVM's libc++, and runs the command's own
comparison of every SIMD target with the oracle.

usage: libcxx.py <source root>
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77  # Meson's exit code of a test that did not run
COMPILER, LIBRARY = "clang++-16", "-stdlib=libc++"
OPTIONS = [f"-D{name}=disabled" for name in ("tests", "benchmarks", "python", "docs", "onnxruntime")]


def has_libcxx() -> bool:
    if shutil.which(COMPILER) is None:
        return False
    command = [COMPILER, LIBRARY, "-x", "c++", "-fsyntax-only", "-"]
    return subprocess.run(command, input="#include <cstddef>", text=True).returncode == 0


def run(command: list[str], **environment: str) -> None:
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{' '.join(command)}: exit {done.returncode}")


def main(root: str) -> None:
    if not has_libcxx():
        print(f"skipped: {COMPILER} has no libc++ (Debian packages clang-16 and libc++-16-dev)")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        setup = ["meson", "setup", folder, root, "-Dwerror=true", "-Dcli=enabled", *OPTIONS]
        run(setup, CC="clang-16", CXX=f"{COMPILER} {LIBRARY}")
        run(["meson", "compile", "-C", folder])
        command = Path(folder, "src/cli/strew")
        libraries = subprocess.run(["ldd", command], text=True, stdout=subprocess.PIPE).stdout
        assert "libc++.so" in libraries, libraries
        run([str(command), "verify"])


if __name__ == "__main__":
    main(*sys.argv[1:])
