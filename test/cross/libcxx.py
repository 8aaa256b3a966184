# SPDX-License-Identifier: Apache-2.0
"""Builds the library and the command with clang and LLVM's libc++, and runs the command's own
comparison of every SIMD target with the oracle.

usage: libcxx.py
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from building import ROOT, SKIPPED, quietly

COMPILER, LIBRARY = "clang++-16", "-stdlib=libc++"
OPTIONS = [f"-D{name}=disabled" for name in ("tests", "benchmarks", "python", "docs", "onnxruntime")]


def has_libcxx() -> bool:
    if shutil.which(COMPILER) is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        command = [COMPILER, LIBRARY, "-x", "c++", "-o", f"{folder}/program", "-"]
        program = "#include <cstddef>\nint main() {}\n"
        return subprocess.run(command, input=program, text=True).returncode == 0


def main() -> None:
    if not has_libcxx():
        packages = "clang-16, libc++-16-dev and libc++abi-16-dev"
        print(f"skipped: {COMPILER} has no libc++ (Debian packages {packages})")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        setup = ["meson", "setup", folder, str(ROOT), "-Dwerror=true", "-Dcli=enabled", *OPTIONS]
        quietly(setup, CC="clang-16", CXX=f"{COMPILER} {LIBRARY}")
        quietly(["meson", "compile", "-C", folder])
        command = Path(folder, "src/cli/strew")
        libraries = subprocess.run(["ldd", command], text=True, stdout=subprocess.PIPE).stdout
        assert "libc++.so" in libraries, libraries
        quietly([str(command), "verify"])


if __name__ == "__main__":
    main()
