# SPDX-License-Identifier: Apache-2.0
"""Makes the site: the reference of the C API, the chapters of README.md, pages and pictures.

usage: make.py <source root> <output> <doxygen> <mandoc> [<manual page>]
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from html import escape
from pathlib import Path

import pictures
from examples import EXAMPLES, PLAN_EXAMPLES
from markdown import Renderer, anchor_of
from reference import Reference

HERE = Path(__file__).resolve().parent
# The pages that the head of every page lists. Chapters of README.md that none of them names stand
# on the first.
PAGES = {
    "index.html": "strew",
    "reference.html": "C API",
    "operators.html": "Pictures",
    "plans.html": "Plans",
    "onnxruntime.html": "ONNX Runtime",
    "replaces.html": "Which call replaces mine",
    "speed.html": "Speed",
    "promises.html": "Promises",
    "inside.html": "Inside",
    "manual.html": "Command",
}
CHAPTERS = {
    "Coming from another library": "replaces.html",
    "How fast it is": "speed.html",
    "What is promised, and to whom": "promises.html",
    "How it is tested": "promises.html",
}
HEADER = "include/strew/strew.h"
RESULTS = "bench/results/"
WRITTEN = {
    "doc/inside.md": "inside.html",
    "doc/onnxruntime.md": "onnxruntime.html",
    "doc/plans.md": "plans.html",
}
EXAMPLES_OF_PLANS = Path("doc/plans")
PICTURED = (*EXAMPLES, *PLAN_EXAMPLES)


def template(title: str, body: str, pages: Iterable[str]) -> str:
    links = "\n".join(f'<a href="{page}">{PAGES[page]}</a>' for page in pages)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
</head>
<body>
<header>
{links}
</header>
<main>
{body}
</main>
</body>
</html>
"""


class Site:
    def __init__(self, root: Path, output: Path, manual: Path | None) -> None:
        self.root, self.output, self.manual = root, output, manual
        self.pages = [page for page in PAGES if manual or page != "manual.html"]
        self.chapters = self._chapters((root / "README.md").read_text())
        self.names: set[str] = set()

    def _chapters(self, readme: str) -> dict[str, str]:
        """README.md by the page on which its chapters stand."""
        pages: dict[str, str] = {}
        for chapter in re.split(r"^(?=## )", readme, flags=re.MULTILINE):
            name = re.match(r"## (.*)", chapter)
            page = CHAPTERS.get(name[1], "index.html") if name else "index.html"
            pages[page] = pages.get(page, "") + chapter
        missing = set(CHAPTERS.values()) - set(pages)
        assert not missing, f"README.md has no chapter for {missing}"
        return pages

    def write(self, page: str, title: str, body: str) -> None:
        (self.output / page).write_text(template(title, body, self.pages))

    def _anchor(self, anchor: str) -> str:
        for page, text in self.chapters.items():
            if anchor in map(anchor_of, re.findall(r"^#+ (.*)$", text, re.MULTILINE)):
                return f"{page}#{anchor}"
        raise KeyError(f"README.md has no heading for #{anchor}")

    def target(self, url: str, folder: str = "") -> str | None:
        if re.match(r"https?:", url):
            return url
        if url.startswith("#"):
            return self._anchor(url[1:])
        path = os.path.normpath(folder + url)
        assert (self.root / path).exists(), f"there is no {path}"
        if path == HEADER:
            return "reference.html"
        if path in WRITTEN:
            return WRITTEN[path]
        if Path(path).parent == EXAMPLES_OF_PLANS:
            return f"{Path(path).stem}.html"
        if path.startswith(RESULTS):
            return Path(path).name.replace(".md", ".html")
        return None

    def code(self, text: str) -> str:
        name = re.match(r"(\w+)(?:\(\))?$", text)
        shown = f"<code>{escape(text)}</code>"
        if not name or name[1] not in self.names:
            return shown
        return f'<a href="reference.html#{name[1]}">{shown}</a>'

    def make_reference(self, doxygen: str) -> None:
        pictured = {f"strew_{example.function}" for example in PICTURED}
        with tempfile.TemporaryDirectory() as folder:
            settings = (HERE / "Doxyfile").read_text()
            settings += f"INPUT = {self.root / HEADER}\nOUTPUT_DIRECTORY = {folder}\n"
            subprocess.run([doxygen, "-"], input=settings, text=True, check=True)
            reference = Reference(Path(folder, "xml", "strew_8h.xml"), pictured)
        self.names = reference.names()
        self.write("reference.html", "strew: C API", f"<h1>C API</h1>{reference.page()}")

    def make_operators(self) -> None:
        parts = [
            "<h1>What each operator does</h1>",
            "<p>An index, the updates that it places, and where they are in the output have one"
            " colour.</p>",
        ]
        drawn: set[str] = set()
        for number, example in enumerate(PICTURED):
            file = f"operator_{number}.svg"
            (self.output / file).write_text(pictures.picture(example))
            name = f"strew_{example.function}"
            place = "" if name in drawn else f' id="{name}"'
            drawn.add(name)
            parts += [
                f'<section{place}><h2><a href="reference.html#{name}">{name}</a></h2>',
                f"<p>{escape(example.caption)}</p>",
                f"<p>{self._attributes(pictures.attributes(example))}</p>",
                f'<p><img src="{file}" alt="{escape(pictures.description(example))}"></p>',
                "</section>",
            ]
        self.write("operators.html", "strew: what each operator does", "\n".join(parts))

    def _attributes(self, attributes: list[str]) -> str:
        return ", ".join(map(self.code, attributes)) or "No attributes"

    def make_results(self) -> None:
        """The figures behind the pictures, each under its picture."""
        renderer = Renderer(lambda url: self.target(url, RESULTS), self.code)
        for file in sorted((self.root / RESULTS).glob("*.md")):
            picture = file.with_suffix(".svg").name
            chart = f"![the figures below as a picture]({picture})\n\n"
            text = (chart if (file.parent / picture).exists() else "") + file.read_text()
            self.write(f"{file.stem}.html", f"strew: {file.stem}", renderer.blocks(text))
        for kind in ("*.svg", "*.csv"):
            for file in (self.root / RESULTS).glob(kind):
                shutil.copy(file, self.output)

    def make_written(self) -> None:
        renderer = Renderer(lambda url: self.target(url, "doc/"), self.code)
        for file, page in WRITTEN.items():
            text = (self.root / file).read_text()
            self.write(page, f"strew: {PAGES[page]}", renderer.blocks(text))
        for file in (self.root / EXAMPLES_OF_PLANS).glob("*.py"):
            shown = f"<h1>{file.name}</h1><pre><code>{escape(file.read_text())}</code></pre>"
            self.write(f"{file.stem}.html", f"strew: {file.name}", shown)

    def make_manual(self, mandoc: str) -> None:
        command = [mandoc, "-Thtml", "-Ofragment", str(self.manual)]
        page = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
        self.write("manual.html", "strew(1)", page)

    def make(self, doxygen: str, mandoc: str) -> None:
        shutil.rmtree(self.output, ignore_errors=True)
        self.output.mkdir(parents=True)
        shutil.copy(HERE / "style.css", self.output)
        self.make_reference(doxygen)
        self.make_operators()
        renderer = Renderer(self.target, self.code)
        for page, text in self.chapters.items():
            self.write(page, f"strew: {PAGES[page]}", renderer.blocks(text))
        self.make_written()
        self.make_results()
        if self.manual:
            self.make_manual(mandoc)


def main(root: str, output: str, doxygen: str, mandoc: str, *manual: str) -> None:
    site = Site(Path(root), Path(output), Path(manual[0]) if manual else None)
    site.make(doxygen, mandoc)


if __name__ == "__main__":
    main(*sys.argv[1:])
