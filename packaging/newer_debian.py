# SPDX-License-Identifier: Apache-2.0
"""Packages of a newer Debian, which are unpacked and not installed.

They come from the mirror from which apt has Debian already, by the keys that it has, with lists of
their own.
"""

import re
import subprocess
import sys
from pathlib import Path

SUITE = "trixie"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
SOURCES = Path("/etc/apt")


def mirror() -> str:
    """That of the sources of apt which offers this Debian itself, without its security updates."""
    files = [SOURCES / "sources.list", *sorted((SOURCES / "sources.list.d").glob("*"))]
    text = "\n".join(file.read_text() for file in files if file.is_file())
    for address in re.findall(r"(?:^URIs:|^deb(?: \[[^]]*\])?)\s+(\S+)", text, re.MULTILINE):
        if re.search(r"/debian/?$", address):
            return address
    sys.exit("no mirror of Debian among the sources of apt")


def download(folder: Path, kind: str, *words: str) -> None:
    """Runs apt-get with these words in the folder; the kind is that of a source: deb or deb-src."""
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    source = folder / "sources.list"
    query = ["dpkg", "--print-architecture"]
    machine = subprocess.run(query, check=True, capture_output=True, text=True).stdout.strip()
    source.write_text(f"{kind} [arch={machine} signed-by={KEYS}] {mirror()} {SUITE} main\n")
    apt = ["apt-get", "-q"]
    for setting, value in {
        "Dir::Etc::sourcelist": source,
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "Acquire::Languages": "none",
    }.items():
        apt += ["-o", f"{setting}={value}"]
    # The user of apt's downloads may not write here.
    apt += ["-o", "APT::Sandbox::User=root"]
    for step in (["update"], words):
        subprocess.run([*apt, *step], check=True, cwd=folder, stdout=sys.stderr)
