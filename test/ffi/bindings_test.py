# SPDX-License-Identifier: Apache-2.0
"""Tools that make bindings of headers take strew.h, as doc/languages.md says."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "include" / "strew" / "strew.h"
PAGE = (ROOT / "doc" / "languages.md").read_text()


def test_cffi(monkeypatch) -> None:
    pytest.importorskip("cffi")
    code, text = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL).groups()
    library = Path(os.environ["STREW_LIBRARY"]).parent / "libstrew.so.0"
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code.replace("libstrew.so.0", str(library)), "languages.md", "exec"), names)
    assert printed.getvalue() == text
    functions = set(re.findall(r"^STREW_API .*?(strew_\w+)\(", HEADER.read_text(), re.MULTILINE))
    assert functions
    assert all(hasattr(names["strew"], name) for name in functions)


def test_bindgen(tmp_path) -> None:
    if not shutil.which("bindgen"):
        pytest.skip("bindgen is not installed")
    made = tmp_path / "strew.rs"
    command = ["bindgen", str(HEADER), "-o", str(made), "--", f"-I{ROOT / 'include'}"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if "is not a valid Ident" in done.stderr:
        pytest.skip("this bindgen is older than its clang, which names enums without names otherwise")
    assert done.returncode == 0, done.stderr
    text = made.read_text()
    assert "pub fn strew_scatter_nd" in text and "STREW_INDEX_OUT_OF_RANGE" in text
