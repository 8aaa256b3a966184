# SPDX-License-Identifier: Apache-2.0
"""Mutants of C++ source: small changes that a test should notice."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import house

RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}

# The house's format puts spaces around operators, but for those of templates.
RELATION = re.compile(r"(?<= )(<|<=|>|>=|==|!=)(?= )")
LOGICAL = re.compile(r"(?<= )(&&|\|\|)(?= )")
CONSTANT = re.compile(r"(?:(?<=[-+<>=*/%?:] )|(?<=[(\[{])|(?<=return ))\d+\b(?![.\w]|\](?:;| =))")
# A size that something is compared with.
BOUND = re.compile(
    r"(?<= )(?:<|<=|>|>=|==|!=) "
    r"((?!nullptr|true|false|k[A-Z]|STREW_)[a-z_](?:[\w.\[\]]|->)*)(?=[;)]| [&|])"
)
LOOP = re.compile(r"\bfor \(")
CHECK = re.compile(r"\bSTREW_TRY\(")
BRANCH = re.compile(r"\bif \(")
# The end of a check that found nothing wrong.
CONTENT = re.compile(r"\s*(?:return (?:STREW_OK|true|status)\b|continue;)")
LEAVING = re.compile(r"\s*(?:\{[^{}]*?)?(?:return|continue)\b")


@dataclass(frozen=True, order=True)
class Mutant:
    file: str
    begin: int
    end: int
    text: str
    kind: str

    def apply(self, source: str) -> str:
        return source[: self.begin] + self.text + source[self.end :]

    def describe(self, source: str) -> str:
        number = source.count("\n", 0, self.begin) + 1
        before = " ".join(source[self.begin : self.end].split())
        line = source.splitlines()[number - 1].strip()
        earlier = source.count(before, source.rfind("\n", 0, self.begin) + 1, self.begin)
        place = f", place {earlier + 1}" if earlier else ""
        told = f"{self.kind}: `{before}` to `{self.text}` in `{line}`{place}"
        return f"{self.file}:{number}: {told}"


def code_of(source: str) -> str:
    """The source with comments, strings and preprocessor lines blanked, every place kept."""
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])
    comments = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
    code = comments.sub(blank, source)
    return re.sub(r"^[ ]*#(?:[^\n]*\\\n)*[^\n]*", blank, code, flags=re.MULTILINE)


def closing(code: str, opening: int) -> int:
    """The place at which the parenthesis that opens there closes."""
    depth = 0
    for at in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    raise ValueError("a parenthesis does not close")


def loop_heads(code: str) -> list[range]:
    return [range(m.start(), closing(code, m.end() - 1)) for m in LOOP.finditer(code)]


def flips(code: str, heads: list[range]) -> Iterator[tuple[int, int, str, str]]:
    for found in RELATION.finditer(code):
        # A loop that is too long reads what is not there, which sanitizers see, not results.
        if not any(found.start() in head for head in heads):
            yield *found.span(), RELATIONS[found[0]], "relation"
    for found in LOGICAL.finditer(code):
        yield *found.span(), LOGIC[found[0]], "logic"


def shifts(code: str, heads: list[range]) -> Iterator[tuple[int, int, str, str]]:
    for found in CONSTANT.finditer(code):
        # Thresholds of speed.
        line = code[code.rfind("\n", 0, found.start()) + 1 : found.start()]
        if "constexpr int64_t k" in line:
            continue
        in_head = any(found.start() in head for head in heads)
        for number in (int(found[0]) + 1, int(found[0]) - 1):
            if number >= 0 or not in_head:
                yield *found.span(), str(number) if number >= 0 else f"({number})", "off by one"
    for found in BOUND.finditer(code):
        in_head = any(found.start() in head for head in heads)
        for by in ("- 1",) if in_head else ("+ 1", "- 1"):
            yield *found.span(1), f"({found[1]} {by})", "off by one"


def deletions(code: str) -> Iterator[tuple[int, int, str, str]]:
    for found in CHECK.finditer(code):
        end = closing(code, found.end() - 1) + 1
        yield found.start(), end, "static_cast<void>(0)", "deleted check"
    for found in BRANCH.finditer(code):
        end = closing(code, found.end() - 1)
        rest = code[end + 1 :]
        if LEAVING.match(rest):
            condition = " ".join(code[found.end() : end].split())
            never = "|| true" if CONTENT.match(rest) else "&& false"
            yield found.end(), end, f"({condition}) {never}", "deleted check"


def mutants_of(file: str, source: str) -> list[Mutant]:
    code = code_of(source)
    heads = loop_heads(code)
    changes = [*flips(code, heads), *shifts(code, heads), *deletions(code)]
    found = [Mutant(file, *change) for change in changes]
    if not found:
        house.finish([f"{file} has nothing to change: the run would check nothing"])
    return sorted(found)
