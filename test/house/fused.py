# SPDX-License-Identifier: Apache-2.0
"""No instruction of the library fuses a multiplication with an addition.

-ffp-contract=off is not enough: GCC 12's vectoriser fuses complex products all the same.

usage: fused.py <shared library> <objdump>
"""

import re
import sys
from collections.abc import Iterator

import house

FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
# x86; ARM, AArch64 and scalar RISC-V; RISC-V's vectors.
FUSED = re.compile(
    r"\s(vfn?m(?:add|sub)\w*|v?fn?m(?:la|ls|a|s|add|sub)(?:\.\w+)?|vfn?m(?:acc|sac)\.\w+)\s"
)


def problems(disassembly: str) -> Iterator[str]:
    function = "?"
    for line in disassembly.splitlines():
        if named := FUNCTION.match(line):
            function = named[1]
        elif found := FUSED.search(line):
            yield f"{found[1]} in {function}"


def main(library: str, objdump: str) -> None:
    disassembly = house.output_of([objdump, "-dC", "--no-show-raw-insn", library])
    if "Disassembly of section" not in disassembly:
        house.finish([f"{library} has no code"])
    house.finish(sorted(set(problems(disassembly))))


main(*sys.argv[1:])
