# SPDX-License-Identifier: Apache-2.0
"""Makes the site: README.md, the pages of doc/, the reference of the C API, that of the Python package,
and pictures.

usage: make.py [--manual <manual page>] [--package <folder>] <source root> <output> <doxygen> <mandoc>
"""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from html import escape
from pathlib import Path

import pictures
from examples import EXAMPLES, PLAN_EXAMPLES
from markdown import Renderer, anchor_of
from package import Package
from reference import Reference

HERE = Path(__file__).resolve().parent
# The pages that the head of every page lists, the pictures first.
PAGES = {
    "index.html": "strew",
    "operators.html": "Pictures",
    "c.html": "C",
    "python.html": "Python",
    "manual.html": "Command",
    "replaces.html": "Which call replaces mine",
    "recipes.html": "Recipes",
    "plans.html": "Plans",
    "reference.html": "C API",
    "package.html": "Python API",
    "performance.html": "Performance",
    "guarantees.html": "Guarantees",
    "inside.html": "Inside",
}
HEADER = "include/strew/strew.h"
RESULTS = "bench/results/"
README, WRITTEN = "README.md", "doc/"
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
    def __init__(
        self, root: Path, output: Path, manual: Path | None, package: Path | None
    ) -> None:
        self.root, self.output, self.manual, self.package = root, output, manual, package
        built = {"manual.html": manual, "package.html": package}
        self.pages = [page for page in PAGES if built.get(page, True)]
        # Every page that is written by hand, by its file.
        self.written = {README: "index.html"}
        for file in sorted((root / WRITTEN).glob("*.md")):
            self.written[WRITTEN + file.name] = f"{file.stem}.html"
        self.names: set[str] = set()

    def write(self, page: str, title: str, body: str) -> None:
        (self.output / page).write_text(template(title, body, self.pages))

    def target(self, url: str, file: str) -> str | None:
        """The target of a link of a file on the site; None to what the site does not have."""
        if re.match(r"https?:", url):
            return url
        path, _, anchor = url.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), path)) if path else file
        assert (self.root / path).exists(), f"{file} links to {url}: there is no {path}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", (self.root / path).read_text(), re.MULTILINE)
            assert anchor in map(anchor_of, headings), f"{file} links to {url}: no such heading"
        page = self._page_of(path)
        return f"{page}#{anchor}" if page and anchor else page

    def _page_of(self, path: str) -> str | None:
        if path == HEADER:
            return "reference.html"
        if path in self.written:
            return self.written[path]
        if Path(path).parent == EXAMPLES_OF_PLANS:
            return f"{Path(path).stem}.html"
        if path.startswith(RESULTS):
            return Path(path).name.replace(".md", ".html")
        return Path(path).name if path.endswith(".svg") else None

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
        for file in sorted((self.root / RESULTS).glob("*.md")):
            picture = file.with_suffix(".svg").name
            chart = f"![the figures below as a picture]({picture})\n\n"
            text = (chart if (file.parent / picture).exists() else "") + file.read_text()
            self._write_text(RESULTS + file.name, f"{file.stem}.html", file.stem, text)
        for kind in ("*.svg", "*.csv"):
            for file in (self.root / RESULTS).glob(kind):
                shutil.copy(file, self.output)

    def _write_text(self, file: str, page: str, title: str, text: str) -> None:
        renderer = Renderer(lambda url: self.target(url, file), self.code)
        self.write(page, f"strew: {title}", renderer.blocks(text))

    def make_written(self) -> None:
        for file, page in self.written.items():
            text = (self.root / file).read_text()
            self._write_text(file, page, text.splitlines()[0].lstrip("# "), text)
        for picture in (self.root / WRITTEN).glob("*.svg"):
            shutil.copy(picture, self.output)
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
        self.make_written()
        self.make_results()
        if self.manual:
            self.make_manual(mandoc)
        if self.package:
            body = f"<h1>Python API</h1>{Package(self.package).page()}"
            self.write("package.html", "strew: Python API", body)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("doxygen")
    parser.add_argument("mandoc")
    parser.add_argument("--manual", type=Path)
    parser.add_argument("--package", type=Path)
    given = parser.parse_args()
    Site(given.root, given.output, given.manual, given.package).make(given.doxygen, given.mandoc)
