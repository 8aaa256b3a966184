# SPDX-License-Identifier: Apache-2.0
"""A site as a phone shows it: no broken link, nothing wider than the screen, all names explained.

usage: pages.py <site> <header>
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import declarations
import house
from browser import PHONE, Browser

FACTS = """({
  width: document.scrollingElement.scrollWidth,
  hides: [...document.querySelectorAll("body *")].some(element =>
    ["hidden", "clip"].includes(getComputedStyle(element).overflowX)
    && element.scrollWidth > element.clientWidth),
  links: [...document.querySelectorAll("[href], [src]")]
    .map(element => element.href || element.src),
  ids: [...document.querySelectorAll("[id]")].map(element => element.id),
  unseen: [...document.images].filter(image => !image.naturalWidth || !image.alt)
    .map(image => image.src),
  text: document.body.innerText,
})"""
# The least contrast of a text with the cell that it stands in, or 0 without any.
CONTRAST = """(() => {
  const light = color => {
    const parts = color.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ratios = [...document.querySelectorAll("rect + text")].map(text => {
    const colors = [text, text.previousElementSibling].map(e => light(getComputedStyle(e).fill));
    return (Math.max(...colors) + 0.05) / (Math.min(...colors) + 0.05);
  });
  return ratios.length ? Math.min(...ratios) : 0;
})()"""
LEAST_CONTRAST = 4.5  # WCAG 2, level AA


@dataclasses.dataclass(frozen=True)
class Page:
    width: int
    hides: bool
    links: list[str]
    ids: list[str]
    unseen: list[str]
    text: str


def crawl(browser: Browser, start: Path) -> dict[Path, Page]:
    """All pages that links lead to."""
    pages: dict[Path, Page] = {}
    waiting = [start]
    while waiting:
        file = waiting.pop()
        if file in pages or not file.exists():
            continue
        browser.show(file)
        pages[file] = Page(**browser.evaluate(FACTS))
        files = [file_of(link) for link in pages[file].links]
        waiting += [file for file in files if file and file.suffix == ".html"]
    return pages


def file_of(link: str) -> Path | None:
    parts = urlsplit(link)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def link_problems(link: str, pages: dict[Path, Page]) -> Iterator[str]:
    file, anchor = file_of(link), unquote(urldefrag(link).fragment)
    if not file:
        if urlsplit(link).scheme not in ("https", "data"):
            yield f"a link of an unknown kind: {link}"
    elif not file.is_file():
        yield f"a broken link: {link}"
    elif anchor and anchor not in pages[file].ids:
        yield f"a link to no place on its page: {link}"


def page_problems(page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    if page.width > PHONE["width"]:
        yield f"{page.width} pixels wide"
    if page.hides:
        yield "what is too wide is cut off"
    if len(set(page.ids)) < len(page.ids):
        yield "two places have one name"
    yield from (f"a picture without a text or a size: {source}" for source in page.unseen)
    for link in page.links:
        yield from link_problems(link, pages)


def picture_problems(browser: Browser, site: Path) -> Iterator[str]:
    for picture in sorted(site.glob("operator_*.svg")):
        for scheme in ("light", "dark"):
            browser.show(picture, scheme)
            contrast = browser.evaluate(CONTRAST)
            if contrast < LEAST_CONTRAST:
                yield f"{picture.name}: a contrast of {contrast:.1f}, {scheme}"
            width = browser.evaluate("document.documentElement.width.baseVal.value")
            if width > PHONE["width"]:
                yield f"{picture.name}: {width} pixels wide"


def public_names(header: str) -> set[str]:
    code = house.without_comments(header)
    constants = re.findall(r"^\s*(?:enum \{ )?(STREW_\w+) = ", code, re.MULTILINE)
    macros = re.findall(r"^#define (STREW_\w+?)(?<!_H_)\b", code, re.MULTILINE)
    types = re.findall(r"^typedef .*?\b(strew_\w+)\)?(?:;|\()", code, re.MULTILINE)
    return {*declarations.functions(header), *constants, *macros, *types}


def problems(browser: Browser, site: Path, header: str) -> Iterator[str]:
    pages = crawl(browser, site / "index.html")
    for file in sorted(set(site.glob("*.html")) - set(pages)):
        yield f"{file.name}: no link leads there"
    for file, page in sorted(pages.items()):
        yield from (f"{file.name}: {problem}" for problem in page_problems(page, pages))
    reference = pages.get(site / "reference.html")
    explained = set(reference.ids) if reference else set()
    yield from (f"no word about {name}" for name in sorted(public_names(header) - explained))
    yield from picture_problems(browser, site)


def main(folder: str, header: str) -> None:
    with Browser() as browser:
        house.finish(problems(browser, Path(folder).resolve(), Path(header).read_text()))


if __name__ == "__main__":
    main(*sys.argv[1:])
