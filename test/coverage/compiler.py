# SPDX-License-Identifier: Apache-2.0
"""A compiler that instruments some rooms of src/, and does not optimise them, so that every branch
of the source is one of the program. All else, kernels and tests, is as fast as ever.

usage: compiler.py <arguments of a compiler>..., with STREW_COMPILER and STREW_ROOMS set
"""

import os
import re
import shlex
import sys

# Threads count at once: a count that is lost might be the only one.
INSTRUMENTED = ["-O0", "--coverage", "-fprofile-update=atomic"]


def main(arguments: list[str]) -> None:
    rooms = "|".join(os.environ["STREW_ROOMS"].split())
    source = re.compile(rf"(?:^|/)src/(?:{rooms})/\w+\.cc$")
    flags = []
    if any(source.search(argument) for argument in arguments):
        flags = INSTRUMENTED
    elif "-c" not in arguments:
        flags = ["--coverage"]  # for the linker
    command = [*shlex.split(os.environ["STREW_COMPILER"]), *arguments, *flags]
    os.execvp(command[0], command)


main(sys.argv[1:])
