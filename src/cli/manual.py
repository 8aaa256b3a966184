# SPDX-License-Identifier: Apache-2.0
"""Prints the manual page of the command: a template filled with the output of `--help`.

usage: manual.py <template> <strew>
"""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

WRAPPER = textwrap.TextWrapper(78, break_long_words=False, break_on_hyphens=False)
TEXT_COLUMN = 30  # where CLI11 begins the text after a name
# Lists in the help that depend on the machine; the page describes them in general terms.
OF_THE_MACHINE = {"--simd": ("TARGET", "; 'strew info' prints their names")}


@dataclasses.dataclass(frozen=True)
class Item:
    """A line of a list: "-o,--output FILE" and the text beside it."""

    name: str
    text: str


@dataclasses.dataclass(frozen=True)
class Help:
    summary: str
    operands: list[str]  # as "data" or "[rows...]"
    lists: dict[str, list[Item]]
    notes: list[str]


def item_of(line: str) -> Item:
    is_long = len(line) > TEXT_COLUMN and line[TEXT_COLUMN - 1] != " "
    name, text = (line, "") if is_long else (line[:TEXT_COLUMN], line[TEXT_COLUMN:])
    # CLI11 from 2.5 on writes "-o,     --output FILE".
    return Item(re.sub(r", +", ",", name.strip()).removesuffix(" REQUIRED"), text.strip())


def for_all_machines(item: Item) -> Item:
    option = item.name.split()[0]
    if option not in OF_THE_MACHINE:
        return item
    argument, more = OF_THE_MACHINE[option]
    return Item(f"{option} {argument}", item.text + more)


def items_of(lines: list[str]) -> list[Item]:
    items: list[Item] = []
    for line in lines:
        if line.startswith(" " * TEXT_COLUMN):
            text = f"{items[-1].text} {line.strip()}".strip()
            items[-1] = dataclasses.replace(items[-1], text=text)
        else:
            items.append(item_of(line))
    return [for_all_machines(item) for item in items]


def is_literal(lines: list[str]) -> bool:
    """True if line breaks and columns matter: in formulas, tables and commands."""
    return lines[0].startswith("    ") or any("   " in line.strip() for line in lines)


def help_of(command: list[str]) -> Help:
    asked = [*command, "--help"]
    text = subprocess.run(asked, check=True, text=True, stdout=subprocess.PIPE).stdout
    summary, *blocks = [block.splitlines() for block in re.split(r"\n\n+", text.strip())]
    # CLI11 from 2.5 on writes the usage as a block of its own, without "Usage:".
    summary += [blocks.pop(0)[0]] if "[OPTIONS]" in blocks[0][0] else []
    lists, notes = {}, []
    for lines in blocks:
        if re.fullmatch(r"\w+:", lines[0]) and lines[1:2] and lines[1].startswith("  "):
            lists[lines[0].rstrip(":").lower()] = items_of(lines[1:])
        else:
            notes.append(("\n" if is_literal(lines) else " ").join(lines))
    usage = next(line for line in summary if "[OPTIONS]" in line)
    operands = usage.partition("[OPTIONS]")[2].split()
    return Help(summary[0].rstrip("."), operands, lists, notes)


def note_of(text: str) -> str:
    if "\n" not in text and not text.startswith(" "):
        return ".Pp\n" + prose(text)
    shown = text.replace("\\", "\\e").replace("-", "\\-")
    return f".Bd -literal\n{shown}\n.Ed"


def prose(text: str) -> str:
    """The text for roff: every sentence on a line of its own, in lines of limited length."""
    text = text.replace("\\", "\\e")
    text = re.sub(r"(?<!\w)-(?=[\w-])", r"\\-", text)
    sentences = re.sub(r"([^. ]{2}[.:]) (?=[A-Z0-9\\])", "\\1\n", text).split("\n")
    lines = [line for sentence in sentences for line in WRAPPER.wrap(sentence)]
    return "\n".join("\\&" + line if line[:1] in {".", "'"} else line for line in lines)


def flags(name: str) -> str:
    """ "-o,--output FILE" in macros."""
    options, *argument = name.split(" ")
    if not options.startswith("-"):
        return f"Ar {options}"
    marked = " , ".join(f"Fl {option[1:]}" for option in options.split(","))
    return " ".join([marked, *(f"Ar {word}" for word in argument)])


def listed(items: list[Item]) -> str:
    entries = [f".It {flags(item.name)}\n{prose(item.text)}." for item in items]
    return "\n".join([".Bl -tag -width Ds", *entries, ".El"])


def own(command: Help, shared: Counter[Item]) -> list[Item]:
    options = [item for item in command.lists.get("options", []) if shared[item] == 1]
    return [*command.lists.get("positionals", []), *options]


def operand_of(word: str) -> str:
    """ "data" or "[rows...]" in macros."""
    repeated = re.fullmatch(r"\[(\w+)\.\.\.\]", word)
    return f"Oo Ar {repeated[1]} ... Oc" if repeated else f"Ar {word}"


def synopsis(name: str, command: Help) -> str:
    return " ".join([".Nm strew", name, "Oo Ar options Oc", *map(operand_of, command.operands)])


def section(name: str, command: Help, shared: Counter[Item], common: set[str]) -> str:
    lines = [f".Ss {name}", prose(command.summary) + "."]
    items = own(command, shared)
    if items:
        lines.append(listed(items))
    others = [item for item in command.lists.get("options", []) if shared[item] > 1]
    others = [flags(item.name.split()[0].split(",")[-1]) for item in others]
    if others:
        lines += [".Pp", "Common options:", "\n".join(f".{flag} ," for flag in others)[:-2] + " ."]
    for note in command.notes:
        if note not in common:
            lines.append(note_of(note))
    return "\n".join(lines)


def page(template: str, program: str) -> str:
    whole = help_of([program])
    names = [item.name for item in whole.lists["commands"]]
    commands = {name: help_of([program, name]) for name in names}
    shared = Counter(item for help in commands.values() for item in help.lists.get("options", []))
    said = Counter(note for help in commands.values() for note in help.notes)
    # A note that ends with a colon leads in the next one.
    common = {note for note, times in said.items() if times > 1 and not note.endswith(":")}
    parts = {
        "@SUMMARY@": whole.summary[0].lower() + whole.summary[1:],
        "@SYNOPSIS@": "\n".join(synopsis(name, help) for name, help in commands.items()),
        "@COMMANDS@": "\n".join(
            section(name, help, shared, common) for name, help in commands.items()
        ),
        "@OPTIONS@": listed([item for item, times in shared.items() if times > 1]),
        "@NOTES@": "\n.Pp\n".join(prose(note) for note in said if note in common),
    }
    for mark, text in parts.items():
        assert template.count(mark) == 1, mark
        template = template.replace(mark, text)
    return template


if __name__ == "__main__":
    print(page(Path(sys.argv[1]).read_text(), sys.argv[2]), end="")
