# SPDX-License-Identifier: Apache-2.0
"""No test reads or writes where it must not, leaks, or does what C++ leaves undefined, say
AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer of a build that they instrument.

usage: address_sanitizer.py <meson> <source root> <build folder> <compiler>...
"""

import os
import subprocess
import sys
from pathlib import Path

import house

SANITIZERS = "address,undefined"
OPTIONS = [*house.instrumented(SANITIZERS), "-Doptimization=1"]  # half the time of 2 to build
# Suites that run none of the programs that are instrumented. A new suite runs.
LEFT_OUT = [
    *("analysis", "bench", "cli", "coverage", "cross", "docs", "ffi", "fuzz", "house", "huge"),
    *("inside", "package", "packaging", "peers", "python"),
]
# Two that Meson sets by itself. And tests ask for more memory than there is, and expect that the
# library says so.
ADDRESS_OPTIONS = ["halt_on_error=1", "abort_on_error=1", "allocator_may_return_null=1"]
CANARIES = {
    "stack-buffer-overflow": "int main(int n, char**) { int a[2] = {}; return a[n + 1]; }\n",
    "signed integer overflow": "int main(int n, char**) { return n + 0x7fffffff; }\n",
}


def finds(finding: str, program: str, compiler: list[str], folder: Path) -> bool:
    source = folder / "canary.cc"
    source.write_text(program)
    built = source.with_suffix("")
    command = [*compiler, f"-fsanitize={SANITIZERS}", str(source), "-o", str(built)]
    if subprocess.run(command).returncode != 0:
        house.skip("the compiler has no AddressSanitizer")
    answer = subprocess.run([str(built)], text=True, capture_output=True)
    return finding in answer.stderr


def main(meson: str, root: str, place: str, *compiler: str) -> None:
    folder = Path(place)
    folder.mkdir(parents=True, exist_ok=True)
    for finding, program in CANARIES.items():
        if not finds(finding, program, list(compiler), folder):
            house.finish([f"a {finding} was not found: the check would check nothing"])
    build = folder / "build"
    if not (build / "build.ninja").exists():
        environment = {**os.environ, "CXX": " ".join(compiler)}
        command = [meson, "setup", str(build), root, *OPTIONS]
        subprocess.run(command, env=environment, check=True)
    left_out = [part for suite in LEFT_OUT for part in ("--no-suite", suite)]
    command = [meson, "test", "-C", str(build), "--timeout-multiplier", "10", *left_out]
    environment = {**os.environ, "ASAN_OPTIONS": ":".join(ADDRESS_OPTIONS)}
    sys.exit(subprocess.run(command, env=environment).returncode)


main(*sys.argv[1:])
