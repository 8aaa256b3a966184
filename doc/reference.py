# SPDX-License-Identifier: Apache-2.0
"""The page of the C API, from the XML that doxygen makes of strew.h, in the order of the header."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html import escape
from pathlib import Path

Element = ElementTree.Element

TAGS = {"para": "p", "computeroutput": "code", "itemizedlist": "ul", "listitem": "li"}
ENTRY = re.compile(r" *\S.*?  +(?=\S)")


class Undocumented(Exception):
    """A public name without a word about it."""


class Reference:
    """Pictured are functions that have a place of their name in operators.html."""

    def __init__(self, xml: Path, pictured: set[str]) -> None:
        self.pictured = pictured
        self.file = ElementTree.parse(xml).getroot().find("compounddef")
        self.anchors = {
            element.get("id"): element.findtext("name")
            for tag in ("memberdef", "enumvalue")
            for element in self.file.iter(tag)
        }

    def names(self) -> set[str]:
        """All that have an anchor."""
        return {name for name in self.anchors.values() if name and not name.startswith("@")}

    def page(self) -> str:
        groups = sorted(self.file.iterfind("sectiondef"), key=first_line)
        contents = "".join(map(self._contents, groups))
        intro = self._described(self.file)
        return "\n".join([intro, f"<nav>{contents}</nav>", *map(self._group, groups)])

    def _html(self, element: Element) -> str:
        inner = escape(element.text or "") + "".join(
            self._html(child) + escape(child.tail or "") for child in element
        )
        if element.tag == "ref":
            name = self.anchors[element.get("refid")]
            return f'<a href="reference.html#{name}">{inner}</a>'
        if element.tag == "verbatim":
            return "</p>" + "".join(map(block, inner.rstrip().split("\n\n"))) + "<p>"
        if element.tag == "itemizedlist":
            return f"</p><ul>{inner}</ul><p>"
        if element.tag == "para":
            # The header begins the paragraphs of its first comment with their topics.
            inner = re.sub(r"^([A-Z]{3,})\. ", r"<strong>\1</strong> ", inner)
        tag = TAGS[element.tag]
        return f"<{tag}>{inner}</{tag}>"

    def _described(self, element: Element) -> str:
        texts = [element.find(f"{kind}description") for kind in ("brief", "detailed")]
        text = "".join(self._html(child) for part in texts for child in part)
        if not re.sub(r"<[^>]*>|\s", "", text):
            raise Undocumented(element.findtext("name") or element.findtext("compoundname"))
        return re.sub(r"<p>\s*</p>", "", text)

    def _contents(self, group: Element) -> str:
        names = [member.findtext("name") for member in members(group)]
        links = [f'<a href="#{name}">{name}</a>' for name in names if "@" not in name and name]
        return f"<h2>{title_of(group)}</h2><p>{' '.join(links)}</p>"

    def _group(self, group: Element) -> str:
        description = group.find("description")
        text = "" if description is None else "".join(map(self._html, description))
        head = f"<h2>{title_of(group)}</h2>{text}"
        return "\n".join([head, *map(self._member, members(group))])

    def _member(self, member: Element) -> str:
        name = member.findtext("name")
        if member.get("kind") == "enum":
            rows = "".join(map(self._value, member.iterfind("enumvalue")))
            return f'<div class="words"><table>{rows}</table></div>'
        declared = f'<p class="declaration"><code>{self._declaration(member)}</code></p>'
        described = self._described(member)
        if name in self.pictured:
            described += f'<p><a href="operators.html#{name}">As a picture</a></p>'
        return f'<section id="{name}"><h3>{name}</h3>{declared}{described}</section>'

    def _value(self, value: Element) -> str:
        name, number = value.findtext("name"), value.findtext("initializer").removeprefix("= ")
        cells = f"<td><code>{name}</code></td><td>{number}</td><td>{self._described(value)}</td>"
        return f'<tr id="{name}">{cells}</tr>'

    def _declaration(self, member: Element) -> str:
        kind, name = member.get("kind"), member.findtext("name")
        if kind == "define":
            parameters = ", ".join(p.findtext("defname") for p in member.iterfind("param"))
            value = escape(member.findtext("initializer") or "")
            return f"#define {name}{f'({parameters})' if parameters else ''} {value}"
        if kind == "typedef":
            return escape(member.findtext("definition") + member.findtext("argsstring"))
        result = self._type(member.find("type"))
        parameters = [self._parameter(parameter) for parameter in member.iterfind("param")]
        return re.sub(r"\*\s", "*", f"{result} {name}({', '.join(parameters)})")

    def _parameter(self, parameter: Element) -> str:
        name = parameter.findtext("declname") or ""
        return f"{self._type(parameter.find('type'))} {name}".strip()

    def _type(self, element: Element) -> str:
        parts = [escape(element.text or "")]
        parts += [self._html(child) + escape(child.tail or "") for child in element]
        return "".join(parts).strip()


def block(text: str) -> str:
    """Lines as they are, or a list of names and what is said beside them."""
    lines = text.split("\n")
    entry = ENTRY.match(lines[0])
    column = entry.end() if entry else 0
    within = [line[column - 2 : column].strip() or line[column:][:1].isspace() for line in lines]
    if not entry or any(within):
        return f"<pre>{text}</pre>"
    parts = []
    for line in lines:
        name, said = line[:column].strip(), re.sub("`([^`]*)`", r"<code>\1</code>", line[column:])
        parts.append(f"</dd><dt>{name}</dt><dd>{said}" if name else f" {said}")
    return f"<dl>{''.join(parts).removeprefix('</dd>')}</dd></dl>"


def line_of(member: Element) -> int:
    return int(member.find("location").get("line"))


def members(group: Element) -> list[Element]:
    return sorted(group.iterfind("memberdef"), key=line_of)


def first_line(group: Element) -> int:
    return min(map(line_of, group.iterfind("memberdef")))


def title_of(group: Element) -> str:
    return escape(group.findtext("header") or "Version and linkage")
