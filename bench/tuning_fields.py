#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the names of the constants that tunable.cc lets a caller change, as lists of macros.

usage: tuning_fields.py <output>
"""

from __future__ import annotations

import sys
from pathlib import Path

from harness.tune import fields


def listed(macro: str, names: list[str]) -> str:
    entries = "".join(f" \\\n  FIELD({name})" for name in names)
    return f"#define {macro}(FIELD){entries}\n"


def main() -> int:
    walks = [name.removeprefix("walks.") for name in fields.walks()]
    lists = [listed("TUNING_FIELDS", fields.tuning()), listed("WALKS_FIELDS", walks)]
    Path(sys.argv[1]).write_text("\n".join(lists))
    return 0


if __name__ == "__main__":
    sys.exit(main())
