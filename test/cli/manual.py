# SPDX-License-Identifier: Apache-2.0
"""The manual page is one that mandoc does not complain of, and names all that the help names.

usage: manual.py <strew.1> <strew>
"""

import re
import subprocess
import sys
from collections.abc import Iterator

import house

WORD = re.compile(r"(?<![\w-])--?[a-z][\w-]*")


def help_texts(program: str) -> dict[str, str]:
    whole = house.output_of([program, "--help"])
    listed = re.search(r"^commands:\n((?:  .*\n)+)", whole, re.IGNORECASE | re.MULTILINE)
    names = re.findall(r"^  (\S+)", listed[1], re.MULTILINE) if listed else []
    return {"": whole, **{name: house.output_of([program, name, "--help"]) for name in names}}


def complaints(mandoc: str, page: str) -> Iterator[str]:
    lint = [mandoc, "-Tlint", "-Wstyle", page]
    done = subprocess.run(lint, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0 or done.stdout:
        yield f"mandoc: exit {done.returncode}\n{done.stdout}"


def unnamed(shown: str, program: str) -> Iterator[str]:
    texts = help_texts(program)
    if len(texts) < 6:
        yield f"only these commands are known from --help: {sorted(texts)}"
    words = set(re.findall(r"[\w-]+", shown))
    for name, text in texts.items():
        if name and name not in words:
            yield f"the page does not name the command {name}"
        usage = text.partition("Usage: ")[2].partition("\n")[0]
        line = usage.replace("[OPTIONS]", "[options]").replace("...]", " ...]")
        if name and not re.search(rf"^ +{re.escape(line)}$", shown, re.MULTILINE):
            yield f"the page does not show: {line}"
        for option in sorted(set(WORD.findall(text)) - words):
            yield f"the page does not name {option}, which 'strew {name} --help' does"


def main(page: str, program: str) -> None:
    mandoc = house.require("mandoc")
    shown = house.output_of([mandoc, "-Tascii", "-Owidth=1000", page])
    shown = re.sub(r".\x08", "", shown)  # bold and underlined on a line printer
    house.finish([*complaints(mandoc, page), *unnamed(shown, program)])


main(*sys.argv[1:])
