# SPDX-License-Identifier: Apache-2.0
"""The part of Markdown that README.md and bench/results use, as HTML."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

# The target of a link, or None where its text is all that can be shown.
Target = Callable[[str], "str | None"]
# The HTML for a word in backquotes.
Code = Callable[[str], str]

INLINE = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|!\[(?P<alt>[^]]*)\]\((?P<source>[^)]+)\)"
    r"|\[(?P<text>(?:`[^`]*`|[^]`])+)\]\((?P<url>[^)]+)\)"
    r"|\*\*(?P<bold>(?:`[^`]*`|[^*`])+)\*\*"
)
ITEM = re.compile(r"- (.*)", re.DOTALL)


def anchor_of(heading: str) -> str:
    """As GitHub makes it, so that links within README.md hold for both."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


class Renderer:
    def __init__(self, target: Target, code: Code) -> None:
        self.target = target
        self.code = code

    def inline(self, text: str) -> str:
        parts, end = [], 0
        for match in INLINE.finditer(text):
            parts += [escape(text[end : match.start()]), self._marked(match)]
            end = match.end()
        return "".join([*parts, escape(text[end:])])

    def _marked(self, match: re.Match[str]) -> str:
        if match["code"]:
            return self.code(match["code"])
        if match["bold"]:
            return f"<strong>{self.inline(match['bold'])}</strong>"
        if match["source"]:
            source = self.target(match["source"])
            assert source, f"no picture {match['source']}"
            return f'<span class="scroll"><img src="{source}" alt="{escape(match["alt"])}"></span>'
        target = self.target(match["url"])
        text = self.inline(match["text"])
        if target:
            return f'<a href="{escape(target)}">{re.sub("</?a[^>]*>", "", text)}</a>'
        shown = f"<code>{escape(match['url'])}</code>"
        return text if match["url"] in match["text"] else f"{text} ({shown})"

    def blocks(self, text: str) -> str:
        text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
        fenced = re.split(r"^```\w*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
        parts = []
        for number, part in enumerate(fenced):
            if number % 2:
                parts.append(f"<pre><code>{escape(part)}</code></pre>")
            else:
                parts += map(self._block, re.split(r"\n\s*\n", part))
        return "\n".join(filter(None, parts))

    def _block(self, block: str) -> str:
        block = block.strip("\n")
        if not block.strip():
            return ""
        heading = re.match(r"(#+) (.*)(?:\n|$)", block)
        if heading:
            level, title = len(heading[1]), heading[2]
            opened = f'<h{level} id="{anchor_of(title)}">{self.inline(title)}</h{level}>'
            return opened + self._block(block[heading.end() :])
        if block.startswith("|"):
            return self._table(block.splitlines())
        if block.startswith("- "):
            items = [self.inline(item) for item in re.split(r"\n?^- ", block, flags=re.M)[1:]]
            return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"
        if block.startswith("    "):
            return f"<pre><code>{escape(block)}</code></pre>"
        return f"<p>{self.inline(block)}</p>"

    def _table(self, lines: list[str]) -> str:
        names, rule, *rows = map(cells_of, lines)
        # A table of words is set as paragraphs on a phone, one of figures can be moved sideways.
        kind = "figures" if any(cell.endswith(":") for cell in rule) else "words"
        head = "".join(f"<th>{self.inline(name)}</th>" for name in names)
        rows_shown = "\n".join(f"<tr>{self._cells(names, row)}</tr>" for row in rows)
        table = f"<thead><tr>{head}</tr></thead><tbody>\n{rows_shown}</tbody>"
        return f'<div class="{kind}"><table>{table}</table></div>'

    def _cells(self, names: list[str], row: list[str]) -> str:
        cells = [(escape(name), self.inline(cell)) for name, cell in zip(names, row)]
        return "".join(f'<td data-name="{name}">{cell}</td>' for name, cell in cells)
