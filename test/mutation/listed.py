# SPDX-License-Identifier: Apache-2.0
"""Reads what the target mutation would change, and builds nothing: names that it has of files, of
parts of files, of mutants and of tests must be there.

usage: listed.py <source root>
"""

import sys
from pathlib import Path

import house
from judged import Judged
from programs import missing_programs

root = Path(sys.argv[1])
judged = Judged(root)
print(f"{len(judged.mutants)} mutants of {len(judged.sources)} files")
house.finish([*judged.problems, *missing_programs(root)])
