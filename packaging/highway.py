# SPDX-License-Identifier: Apache-2.0
"""Puts the sources of Highway where Meson looks before it downloads, if they are not there.

usage: highway.py

`meson subprojects download` does the same from upstream. Here they are those of a newer Debian,
which are upstream's byte for byte: the checksum of subprojects/highway.wrap is compared.
"""

import hashlib
import re
import shutil
import sys
import tempfile
from pathlib import Path

import newer_debian

SUBPROJECTS = Path(__file__).resolve().parents[1] / "subprojects"


def main() -> None:
    wrap = dict(re.findall(r"^(\w+) = (.+)$", (SUBPROJECTS / "highway.wrap").read_text(), re.M))
    wanted = SUBPROJECTS / "packagecache" / wrap["source_filename"]
    if wanted.exists() or (SUBPROJECTS / wrap["directory"]).exists():
        return
    with tempfile.TemporaryDirectory() as name:
        newer_debian.download(Path(name), "deb-src", "source", "--download-only", "highway")
        archive = next(Path(name).glob("highway_*.orig.tar.gz"))
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != wrap["source_hash"]:
            sys.exit(f"{archive.name} is not that of highway.wrap: {found}")
        wanted.parent.mkdir(exist_ok=True)
        shutil.copy(archive, wanted)


main()
