# SPDX-License-Identifier: Apache-2.0
"""The declarations of a C header, as text."""

import re

import house

MARK = "STREW_API "


def of(header: str) -> list[str]:
    code = re.sub(r"\\\n", " ", house.without_comments(header))
    code = re.sub(r"^\s*#.*$", "", code, flags=re.MULTILINE)
    return [" ".join(part.split()) for part in re.split(r"[;{}]", code)]


def functions(header: str) -> dict[str, str]:
    """Every declaration marked STREW_API, without the mark, by its name before the parenthesis."""
    marked = [text.removeprefix(MARK) for text in of(header) if text.startswith(MARK)]
    return {re.search(r"(\w+) ?\(", text)[1]: text for text in marked}
