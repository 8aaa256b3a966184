# SPDX-License-Identifier: Apache-2.0
"""Every C and C++ file is as clang-format leaves it.

usage: format.py <source root>
"""

import subprocess
import sys
from pathlib import Path

import house

root = Path(sys.argv[1])
command = [house.require("clang-format"), "--dry-run", "-Werror"]
files = house.code_files(root, house.CODE_ROOMS, {".h", ".cc", ".c"})
print(house.output_of([command[0], "--version"]), end="")
sys.exit(subprocess.run([*command, *map(str, files)]).returncode)
