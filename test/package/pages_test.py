# SPDX-License-Identifier: Apache-2.0
"""The Python of the pages runs, and prints the text that they show under it."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "doc/python.md", "doc/recipes.md", "doc/plans.md"])
def test_python_of_a_page(page) -> None:
    blocks = BLOCK.findall((ROOT / page).read_text())
    assert blocks
    names: dict[str, Any] = {}
    for code, text in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)
        assert printed.getvalue() == text, code
