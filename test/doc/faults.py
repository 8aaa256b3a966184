# SPDX-License-Identifier: Apache-2.0
"""pages.py and doc/make.py see what is wrong with a site, a README.md and a header.

usage: faults.py <source root>
"""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from pathlib import Path

import browser
import house
import made
import pages

ROOT = Path(sys.argv.pop())
HEAD = '<!DOCTYPE html><meta name="viewport" content="width=device-width">'
HEADER = "#define STREW_OPAQUE(n) n\nenum { STREW_OK = 0 };\ntypedef int32_t strew_status;\n"
CELL = '<rect width="9" height="9" fill="#fff"/><text fill="{}">1</text>'
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="9">{}</svg>'
ANCHORS = "".join(f'<p id="{name}">' for name in ("STREW_OPAQUE", "STREW_OK", "strew_status"))


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name).resolve()


class Pages(Folder):
    phone: browser.Browser

    @classmethod
    def setUpClass(cls) -> None:
        cls.phone = browser.Browser()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.phone.__exit__()

    def problems(self, body: str = "", head: str = HEAD, anchors: str = ANCHORS) -> list[str]:
        link = '<a href="reference.html">C</a>'
        (self.folder / "index.html").write_text(f"{head}<body>{link}{body}</body>")
        (self.folder / "reference.html").write_text(f"{HEAD}<body>{anchors}</body>")
        return list(pages.problems(self.phone, self.folder, HEADER))

    def find(self, expected: str, **site_parts: str) -> None:
        found = self.problems(**site_parts)
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_a_good_site(self) -> None:
        (self.folder / "operator_0.svg").write_text(PICTURE.format(340, CELL.format("#000")))
        body = '<pre style="overflow-x: auto">' + "x" * 1000 + "</pre>"
        body += '<a href="#here" id="here">x</a><img src="operator_0.svg" alt="x">'
        self.assertEqual(self.problems(body), [])

    def test_links(self) -> None:
        self.find("a broken link", body='<a href="gone.html">x</a>')
        self.find("a broken link", body='<script src="gone.js"></script>')
        self.find("no place on its page", body='<a href="#gone">x</a>')
        self.find("no place on its page", body='<a href="reference.html#gone">x</a>')
        self.find("unknown kind", body='<a href="http://example.org/">x</a>')
        self.find("two places have one name", body='<p id="x"><p id="x">')

    def test_a_page_without_a_link_to_it(self) -> None:
        (self.folder / "lost.html").write_text(HEAD)
        self.find("lost.html: no link leads there")

    def test_width(self) -> None:
        self.find("pixels wide", body="x" * 100)
        self.find("361 pixels", body='<div style="position: absolute; left: 0; width: 361px">x')
        self.find("pixels wide", head="<!DOCTYPE html>")
        self.find("cut off", body='<div style="overflow-x: hidden">' + "x" * 100)

    def test_pictures(self) -> None:
        faults = ((361, "#000", "361 pixels wide"), (340, "#aaa", "a contrast of 2.3"))
        for size, color, expected in faults:
            (self.folder / "operator_0.svg").write_text(PICTURE.format(size, CELL.format(color)))
            found = self.problems()
            self.assertEqual(len(found), 2, found)  # light and dark
            self.assertIn(expected, found[0])
        (self.folder / "operator_0.svg").unlink()
        self.find("without a text", body='<img src="data:,x" alt="">')

    def test_names(self) -> None:
        for name in ("STREW_OPAQUE", "STREW_OK", "strew_status"):
            self.find(f"no word about {name}", anchors=ANCHORS.replace(f'id="{name}"', ""))


class Sources(Folder):
    def make(self, file: str, before: str, after: str) -> tuple[int, str]:
        """The site of a repository in which a file is another."""
        for name in ("README.md", "LICENSE", "include", "src", "test", "bench", "doc"):
            (self.folder / name).unlink(missing_ok=True)
            (self.folder / name).symlink_to(ROOT / name)
        changed = self.folder / file
        top = self.folder / Path(file).parts[0]
        top.unlink()
        changed.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / file).read_text()
        self.assertIn(before, text)
        changed.write_text(text.replace(before, after, 1))
        done = made.make(self.folder, self.folder / "html")
        return done.returncode, done.stdout

    def refuse(self, expected: str, *change: str) -> None:
        code, said = self.make(*change)
        self.assertNotEqual(code, 0)
        self.assertIn(expected, said)

    def test_a_function_without_a_word(self) -> None:
        comment = "/**< bytes; 0 for an unknown code */"
        self.refuse("strew_dtype_size", "include/strew/strew.h", comment, "")

    def test_a_constant_without_a_word(self) -> None:
        comment = "/**< success */"
        self.refuse("Undocumented: STREW_OK", "include/strew/strew.h", comment, "")

    def test_a_warning_of_doxygen(self) -> None:
        word = "Creates a context with"
        self.refuse("nonsense", "include/strew/strew.h", word, f"@nonsense {word}")

    def test_a_link_of_the_readme(self) -> None:
        self.refuse("there is no doc/gone", "README.md", "(doc/plans.md)", "(doc/gone)")
        self.refuse("no such heading", "README.md", "(doc/plans.md)", "(doc/plans.md#gone)")


if __name__ == "__main__":
    for tool in ("doxygen", "mandoc"):
        house.require(tool)
    browser.program()
    unittest.main()
