# SPDX-License-Identifier: Apache-2.0
"""Prints the version that a header states, for project() in meson.build: version.py HEADER."""

import pathlib
import re
import sys

header = pathlib.Path(sys.argv[1])
numbers = re.findall(r"#define STREW_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read_text())
assert len(numbers) == 3, numbers
print(".".join(numbers))
