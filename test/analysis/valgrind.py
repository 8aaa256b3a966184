# SPDX-License-Identifier: Apache-2.0
"""valgrind finds nothing in tests that compare with the oracle: no byte read that nobody wrote, no
leak, without a suppression.

It runs all instruction sets that it knows: those up to AVX2.

usage: valgrind.py <cases of each random test> <test program>...
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import house

FOUND = 99
OPTIONS = ["--quiet", f"--error-exitcode={FOUND}", "--leak-check=full"]
CANARY = "#include <stdlib.h>\nint main(void) { return *(volatile char *)malloc(1) > 0; }\n"


def run(program: Path, environment: dict[str, str], quietly: bool = False) -> int:
    command = [house.require("valgrind"), *OPTIONS, str(program)]
    output = subprocess.DEVNULL if quietly else None
    return subprocess.run(command, env=environment, stdout=output, stderr=output).returncode


def sleeps() -> bool:
    """True if a read of what nobody wrote is not found."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "canary.c"
        source.write_text(CANARY)
        program = source.with_suffix("")
        subprocess.run(["cc", "-g", str(source), "-o", str(program)], check=True)
        return run(program, dict(os.environ), quietly=True) != FOUND


def problems(programs: list[str], environment: dict[str, str]) -> Iterator[str]:
    if sleeps():
        yield "valgrind does not find what is there: the check would check nothing"
    for program in programs:
        answer = run(Path(program), environment)
        if answer != 0:
            yield f"{Path(program).name}: {'a report' if answer == FOUND else f'exit {answer}'}"


def main(cases: str, *programs: str) -> None:
    environment = {**os.environ, "STREW_CASES": cases, "GTEST_BRIEF": "1"}
    house.finish(problems(list(programs), environment))


main(*sys.argv[1:])
