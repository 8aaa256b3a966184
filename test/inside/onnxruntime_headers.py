# SPDX-License-Identifier: Apache-2.0
"""Fetches the C headers of ONNX Runtime from a newer Debian and prints the folder for pkg-config.

usage: onnxruntime_headers.py <folder>

Packages of PyPI do not have them, and Debian 12 does not have the package. They need nothing of the
newer Debian, so that its archive is unpacked into the folder and nothing is installed. It comes from
the mirror from which apt has Debian already, by the keys that it has, with lists of its own.
"""

import re
import subprocess
import sys
from pathlib import Path

SUITE = "trixie"
PACKAGE = "libonnxruntime-dev"
MODULE = "libonnxruntime.pc"
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


def download(folder: Path) -> Path:
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    source = folder / "sources.list"
    query = ["dpkg", "--print-architecture"]
    machine = subprocess.run(query, check=True, capture_output=True, text=True).stdout.strip()
    source.write_text(f"deb [arch={machine} signed-by={KEYS}] {mirror()} {SUITE} main\n")
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
    for words in (["update"], ["download", PACKAGE]):
        subprocess.run([*apt, *words], check=True, cwd=folder, stdout=sys.stderr)
    return next(folder.glob(f"{PACKAGE}_*.deb"))


def move(file: Path, folder: Path) -> None:
    """Its paths begin with the folder now."""
    file.write_text(re.sub(r"^prefix=.*$", f"prefix={folder}/usr", file.read_text(), flags=re.M))


def main(name: str) -> None:
    folder = Path(name).resolve()
    modules = f"usr/lib/*/pkgconfig/{MODULE}"
    if not any(folder.glob(modules)):
        folder.mkdir(parents=True, exist_ok=True)
        archive = download(folder)
        subprocess.run(["dpkg", "-x", str(archive), str(folder)], check=True)
        move(next(folder.glob(modules)), folder)
    print(next(folder.glob(modules)).parent)


main(*sys.argv[1:])
