# SPDX-License-Identifier: Apache-2.0
"""Prints the version that include/strew/strew.h states, for project() in meson.build."""

import pathlib
import re

header = pathlib.Path(__file__).parents[2] / "include" / "strew" / "strew.h"
numbers = re.findall(r"#define STREW_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read_text())
assert len(numbers) == 3, numbers
print(".".join(numbers))
