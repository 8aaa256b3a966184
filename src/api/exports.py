# SPDX-License-Identifier: Apache-2.0
"""Prints the functions of the public header as a module definition file, which names what a DLL
exports.

usage: exports.py <strew.h>
"""

import re
import sys
from pathlib import Path

functions = re.findall(r"^STREW_API\b[^;(]*?\b(strew_\w+)\(", Path(sys.argv[1]).read_text(), re.M)
print("\n".join(["EXPORTS", *functions]))
